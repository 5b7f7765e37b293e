package notify

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"sensegate/motion/home"
	"sensegate/store"
)

func TestEveryMailIsKeptWithItsLink(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	o := b.notifier().Outbox
	expires := b.stamp().Add(time.Hour)
	for _, c := range []struct {
		mail          Mail
		link, subject string
	}{
		{Mail{Kind: Confirm, To: "a@example.com", User: b.owner.ID, Token: "ey.a_b-c.d", Expires: expires}, base + "/confirm#token=ey.a_b-c.d", "Confirm your address"},
		{Mail{Kind: Reset, To: "a@example.com", User: b.owner.ID, Token: "t&x=1", Expires: expires}, base + "/reset#token=t%26x%3D1", "Set a new password"},
		{Mail{Kind: Invite, To: "b@example.com", Home: b.home, Token: "inv_x", Expires: expires}, base + "/invite#network_id=1&token=inv_x", "You are invited to a network"},
		{Mail{Kind: KnownAddress, To: "a@example.com", User: b.owner.ID}, "", "You have an account already"},
		{Mail{Kind: OwnerChanged, To: "a@example.com", User: b.owner.ID, Home: b.home, Network: "Home"}, "", "Your network has another owner"},
		{Mail{Kind: OwnerChanged, To: "a@example.com", User: b.owner.ID, Home: b.home, Owner: true}, "", "You are the owner of a network now"},
	} {
		b.mail(o, c.mail)
		all := b.mails()
		m := all[len(all)-1]
		if m.Kind != string(c.mail.Kind) || m.Address != c.mail.To || m.UserID != c.mail.User || m.HomeID != c.mail.Home || m.ExpiresAt != c.mail.Expires {
			t.Errorf("stored %+v of %+v", m, c.mail)
		}
		if m.Link != c.link || m.Subject != c.subject || StateOf(m) != Kept || strings.Contains(m.Text, "http") {
			t.Errorf("%s: link %q, subject %q, state %s, text %q", c.mail.Kind, m.Link, m.Subject, StateOf(m), m.Text)
		}
		if whole := Text(m); c.link != "" && !strings.HasSuffix(whole, "\n\n"+c.link+"\n") || !strings.HasPrefix(whole, m.Text) {
			t.Errorf("%s: %q", c.mail.Kind, whole)
		}
	}
	if err := b.db.Update(t.Context(), func(tx *store.Tx) error { return o.Mail(tx, Mail{Kind: "other"}) }); err == nil {
		t.Error("a mail of an unknown kind was written")
	}
}

func TestTypedNamesCannotPassForTheMailsOwnWords(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	o := b.notifier().Outbox
	b.mail(o, Mail{
		Kind: Invite, To: "b@example.com", Home: b.home,
		Inviter: "Eve\r\nBcc: all@example.com\n\nOpen \"http://evil.example\" now", Network: strings.Repeat("ж", 200),
	})
	m := b.mails()[0]
	first, _, _ := strings.Cut(m.Text, "\n")
	if want := `"Eve  Bcc: all@example.com  Open  http://evil.example  now" invites you to the network "` + strings.Repeat("ж", quotedLength) + `".`; first != want {
		t.Errorf("%s\nwant\n%s", first, want)
	}
	if strings.ContainsAny(m.Subject, "\r\n") || strings.Contains(m.Subject, "Eve") {
		t.Errorf("subject %q", m.Subject)
	}
}

func TestLinkIsOfTheConfiguredAddress(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	o := b.notifier(func(o *Options) { o.Base = func() string { return "https://sense.example.com/" } }).Outbox
	b.mail(o, Mail{Kind: Reset, To: "a@example.com", Token: "t"})
	u, err := url.Parse(b.mails()[0].Link)
	if err != nil || u.Scheme != "https" || u.Host != "sense.example.com" || u.Path != "/reset" {
		t.Errorf("%v %v", u, err)
	}
}

// TestOwnerReadsWhatOpensNoOtherHome walks through who may read whose mails.
func TestOwnerReadsWhatOpensNoOtherHome(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	o := b.notifier().Outbox
	both := b.user("both@example.com", b.home, b.other)
	invited := b.user("Invited@example.com")
	loose := b.user("loose@example.com")
	b.update(func(tx *store.Tx) error {
		_, err := tx.PutInvitation(home.Invitation{Home: b.home, Email: "invited@example.com", ExpiresAt: tx.Now().Stamp().Add(time.Hour)})
		return err
	})
	for _, m := range []Mail{
		{Kind: Reset, User: b.owner.ID, To: "own"},
		{Kind: Reset, User: b.member.ID, To: "member's"},
		{Kind: Confirm, User: invited.ID, To: "invited confirms"},
		{Kind: Reset, User: invited.ID, To: "invited resets"},
		{Kind: Confirm, User: loose.ID, To: "stranger's"},
		{Kind: Reset, User: both.ID, To: "of both homes"},
		{Kind: Reset, User: b.neighbour.ID, To: "neighbour's"},
		{Kind: Invite, Home: b.home, To: "invitation"},
		{Kind: Invite, Home: b.other, To: "their invitation"},
	} {
		b.mail(o, m)
	}
	want := func(when, list string) {
		t.Helper()
		b.update(func(tx *store.Tx) error {
			mails, err := Visible(tx, b.owner.ID, b.home)
			var got []string
			for _, m := range mails {
				got = append(got, m.Address)
			}
			if strings.Join(got, ", ") != list {
				t.Errorf("%s: %s\nwant %s", when, strings.Join(got, ", "), list)
			}
			return err
		})
	}
	want("at first", "invitation, invited confirms, member's, own")
	b.forward(time.Hour)
	want("once the invitation has expired", "invitation, member's, own")
	b.update(func(tx *store.Tx) error {
		_, err := tx.CreateMembership(home.Membership{User: b.member.ID, Home: b.other, Role: home.MemberRole})
		return err
	})
	want("once the member belongs to another home too", "invitation, own")
}

// user makes a user who belongs to homes.
func (b *box) user(email string, homes ...home.ID) (u home.User) {
	b.Helper()
	b.update(func(tx *store.Tx) (err error) {
		if u, err = tx.CreateUser(home.User{Email: email, Sub: email}); err != nil {
			return err
		}
		for _, h := range homes {
			if _, err := tx.CreateMembership(home.Membership{User: u.ID, Home: h, Role: home.MemberRole}); err != nil {
				return err
			}
		}
		return nil
	})
	return u
}

// TestNextOwnerReadsWhoStays: names that people have typed, in quotes.
func TestNextOwnerReadsWhoStays(t *testing.T) {
	t.Parallel()
	text := ownerText(Mail{Kind: OwnerChanged, Owner: true, Members: []string{"Kim", "C\"ora"}})
	if !strings.Contains(text, `who is at home: "Kim", "C ora". Remove`) {
		t.Errorf("%s", text)
	}
	if text := ownerText(Mail{Kind: OwnerChanged, Owner: true}); strings.Contains(text, "stay") {
		t.Errorf("of nobody: %s", text)
	}
}
