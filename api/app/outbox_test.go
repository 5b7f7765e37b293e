package app_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image/png"
	"net/http"
	"strings"
	"testing"
	"time"

	"sensegate/api/apitest"
	"sensegate/motion/home"
	"sensegate/store"
)

// addMail puts a mail into the outbox and returns its id.
func (h *household) addMail(m store.Mail) (id uint64) {
	h.T.Helper()
	h.update(func(tx *store.Tx) error {
		added, err := tx.AddMail(m)
		id = added.ID
		return err
	})
	return id
}

// resetMail is a mail with a link, to a person.
func (h *household) resetMail(p person) store.Mail {
	return store.Mail{
		Kind: "reset", UserID: p.ID, Address: p.Email, Subject: "Set a new password", Text: "Open the link.",
		Link: "http://home.example/reset?token=t", ExpiresAt: h.engine.State.Now().Stamp() + 3_600_000,
	}
}

func TestLadderOfOutbox(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	own, foreign := h.addMail(h.resetMail(h.member)), h.addMail(h.resetMail(h.neighbour))
	empty := h.addMail(store.Mail{Kind: "known_address", UserID: h.owner.ID, Address: h.owner.Email})
	scoped := fmt.Sprintf("/outbox?network_id=%d", h.home)
	qr := func(id uint64) string { return fmt.Sprintf("/outbox/%d/qr", id) }
	h.climb(http.MethodGet,
		step{"no token", person{}, scoped, "", http.StatusUnauthorized, "unauthorized"},
		step{"of no network", h.nobody, scoped, "", http.StatusNotFound, fmt.Sprintf("network %d is not known", h.home)},
		step{"of another network", h.neighbour, scoped, "", http.StatusNotFound, fmt.Sprintf("network %d is not known", h.home)},
		step{"a member", h.member, scoped, "", http.StatusForbidden, "owner"},
		step{"malformed", h.owner, "/outbox?network_id=x", "", http.StatusBadRequest, "network_id"},
		step{"right", h.owner, scoped, "", http.StatusOK, h.member.Email},
		step{"right, the only network", h.owner, "/outbox", "", http.StatusOK, h.member.Email},
		step{"QR, no token", person{}, qr(own), "", http.StatusUnauthorized, ""},
		step{"QR, of no network", h.nobody, qr(own), "", http.StatusNotFound, ""},
		step{"QR, a member", h.member, qr(own), "", http.StatusForbidden, "owner"},
		step{"QR, malformed", h.owner, "/outbox/x/qr", "", http.StatusUnprocessableEntity, "path.id"},
		step{"QR, unknown", h.owner, qr(4711), "", http.StatusNotFound, "mail 4711 is not known"},
		step{"QR, a neighbour's", h.owner, qr(foreign), "", http.StatusNotFound, fmt.Sprintf("mail %d is not known", foreign)},
		step{"QR, no link", h.owner, qr(empty), "", http.StatusNotFound, "has no link"},
		step{"QR, right", h.owner, qr(own), "", http.StatusOK, "PNG"},
	)
}

func TestOutboxShowsWhatHasBecomeOfEachMail(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	sent := h.resetMail(h.owner)
	sent.SentAt, sent.Attempts = 1764000001000, 1
	expired := h.resetMail(h.owner)
	expired.ExpiresAt = 1764000001000
	failed := h.resetMail(h.owner)
	failed.Attempts, failed.LastError = 3, "no such mailbox"
	queued := h.resetMail(h.owner)
	queued.DueAt = 1764000001000
	for _, m := range []store.Mail{sent, expired, failed, queued, {Kind: "invite", HomeID: h.home, Address: "a@example.com", Link: "http://home.example/invite"}} {
		h.addMail(m)
	}
	type shown struct {
		Kind, Address, State string
		UserID               *home.UserID `json:"user_id"`
		Link                 *string
		LastError            string  `json:"last_error"`
		SentAt               *string `json:"sent_at"`
	}
	list := apitest.Want[struct{ Data []shown }](t, h.as(h.owner, http.MethodGet, "/outbox", ""), http.StatusOK).Data
	var got []string
	for _, m := range list {
		got = append(got, fmt.Sprint(m.Kind, " ", m.State, " ", m.UserID != nil, " ", m.Link != nil, " ", m.SentAt != nil, " ", m.LastError))
	}
	want := []string{
		"invite kept false true false ", "reset queued true false false ", "reset failed true true false no such mailbox",
		"reset kept true false false ", "reset sent true false true ",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestOutboxDoesNotTellWhichAddressesHaveAccounts(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	move := func(address string) (answer, mails string) {
		t.Helper()
		body := fmt.Sprintf(`{"email": %q}`, address)
		a := h.as(h.owner, http.MethodPut, fmt.Sprintf("/users/%d", h.owner.ID), body)
		list := apitest.Want[struct {
			Data []struct {
				Kind, Address, Subject, Text, State string
				UserID                              home.UserID `json:"user_id"`
				Link                                *string
			}
		}](t, h.as(h.owner, http.MethodGet, "/outbox", ""), http.StatusOK).Data
		for _, m := range list {
			mails += strings.ReplaceAll(fmt.Sprintln(m.Kind, m.Address, m.Subject, m.Text, m.State, m.UserID, m.Link != nil), address, "ADDRESS")
		}
		for _, m := range h.mails() { // so that the next has the outbox to itself
			h.update(func(tx *store.Tx) error { return tx.DeleteMailAndWipe(m.ID) })
		}
		var stored struct{ Email string }
		if err := json.Unmarshal(a.Body, &stored); err != nil {
			t.Error(err)
		}
		return fmt.Sprint(a.Status, " ", stored.Email), mails
	}
	answer, mails := move("nobody@example.com")
	if !strings.Contains(mails, "ADDRESS") {
		t.Fatalf("mails %s", mails)
	}
	for _, known := range []string{h.neighbour.Email, h.nobody.Email, h.member.Email} {
		gotAnswer, got := move(known)
		if gotAnswer != answer || got != mails {
			t.Errorf("%s: %s\n%swant as for one without an account: %s\n%s", known, gotAnswer, got, answer, mails)
		}
	}
}

func TestLinkComesAsAnImage(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	id := h.addMail(h.resetMail(h.owner))
	a := h.as(h.owner, http.MethodGet, fmt.Sprintf("/outbox/%d/qr", id), "")
	if kind := a.Header.Get("Content-Type"); a.Status != http.StatusOK || kind != "image/png" {
		t.Fatalf("%d %s", a.Status, kind)
	}
	if a.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("headers %v", a.Header)
	}
	image, err := png.Decode(bytes.NewReader(a.Body))
	if err != nil || image.Bounds().Dx() < 200 || image.Bounds().Dx() != image.Bounds().Dy() {
		t.Errorf("%v, %v", image, err)
	}
}

func TestAddressThatAnotherHomeHasInvitedIsNotHandedOver(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.invite("guest@example.com")
	move := fmt.Sprintf("/users/%d", h.neighbour.ID)
	if a := h.as(h.neighbour, http.MethodPut, move, `{"email":"guest@example.com"}`); a.Status != http.StatusOK {
		t.Fatal(a.Status)
	}
	if a := h.as(h.neighbour, http.MethodGet, "/outbox", ""); a.Status != http.StatusOK || strings.Contains(string(a.Body), "guest@example.com") {
		t.Errorf("the neighbour reads %s", a.Body)
	}
	if a := h.as(h.neighbour, http.MethodPut, move, `{"email":"moved@example.com"}`); a.Status != http.StatusOK {
		t.Fatal(a.Status)
	}
	if a := h.as(h.neighbour, http.MethodGet, "/outbox", ""); !strings.Contains(string(a.Body), "moved@example.com") {
		t.Errorf("the neighbour reads only %s", a.Body)
	}
}

func TestResetLinkOfAMemberIsNeverTheOwnersOnceItIsSent(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	for name, state := range map[string]func(*store.Mail){
		"queued": func(m *store.Mail) { m.DueAt = 1764000001000 },
		"sent":   func(m *store.Mail) { m.SentAt, m.Attempts = 1764000001000, 1 },
		"later":  func(m *store.Mail) { m.SentAt, m.Attempts = 1764000001000, 3 },
	} {
		m := h.resetMail(h.member)
		m.Subject = name
		state(&m)
		id := h.addMail(m)
		h.climb(http.MethodGet, step{name: name + " as an image", who: h.owner, path: fmt.Sprintf("/outbox/%d/qr", id), status: 404, says: "has no link"})
	}
	a := h.as(h.owner, http.MethodGet, "/outbox", "")
	for _, name := range []string{"queued", "sent", "later"} {
		if !strings.Contains(string(a.Body), `"subject":"`+name+`"`) {
			t.Errorf("the owner does not see the %s one", name)
		}
	}
	if strings.Contains(string(a.Body), "token=") {
		t.Errorf("a link is shown: %s", a.Body)
	}
}

// TestResetLinkOfAMemberEndsWithTheirHomes: whoever has read the link as the owner of a member's only
// home does not get into others by it.
func TestResetLinkOfAMemberEndsWithTheirHomes(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	for name, change := range map[string]func(tx *store.Tx, guest home.UserID, m home.Membership) error{
		"who joins another home": func(tx *store.Tx, guest home.UserID, _ home.Membership) error {
			_, err := tx.CreateMembership(home.Membership{User: guest, Home: h.other, Role: home.MemberRole})
			return err
		},
		"who is removed": func(tx *store.Tx, _ home.UserID, m home.Membership) error { return tx.DeleteMembership(m.ID) },
	} {
		guest := h.person(strings.ReplaceAll(name, " ", ".") + "@example.com")
		h.join(guest, h.home, home.MemberRole)
		apitest.Want[any](t, h.As("", http.MethodPost, "/password_resets", fmt.Sprintf(`{"email":%q}`, guest.Email)), 200)
		token := h.mailedToken("reset", guest.Email)
		h.update(func(tx *store.Tx) error {
			m, _, err := tx.MembershipOf(h.home, guest.ID)
			if err != nil {
				return err
			}
			return change(tx, guest.ID, m)
		})
		h.climb(http.MethodPut, step{name: name, path: "/password_resets", body: fmt.Sprintf(`{"token":%q,"password":"another one entirely"}`, token), status: 401, says: "is not valid"})
	}
}

func TestResetLinkIsShownToARecentLoginOnly(t *testing.T) {
	t.Parallel()
	h, later := lateHousehold(t)
	later.Store(int64(11 * time.Minute))
	id := h.addMail(h.resetMail(h.owner))
	h.climb(http.MethodGet,
		step{name: "in the list", who: h.owner, path: "/outbox", status: 200, says: `"link":null`},
		step{name: "as an image", who: h.owner, path: fmt.Sprintf("/outbox/%d/qr", id), status: 403, says: `"code":"step_up"`},
	)
}

func TestNewOwnerReadsNoMailOfBefore(t *testing.T) {
	t.Parallel()
	h, later := lateHousehold(t)
	guest := h.person("guest@example.com")
	h.join(guest, h.home, home.MemberRole)
	h.addMail(h.resetMail(guest))
	later.Store(int64(time.Minute))
	h.update(func(tx *store.Tx) error { // the owner hands the network over
		for p, role := range map[home.UserID]home.Role{h.owner.ID: home.MemberRole, h.member.ID: home.OwnerRole} {
			m, _, err := tx.MembershipOf(h.home, p)
			if err != nil {
				return err
			}
			m.Role = role
			if err := tx.PutMembership(m); err != nil {
				return err
			}
		}
		return nil
	})
	if a := h.as(h.member, http.MethodGet, "/outbox", ""); strings.Contains(string(a.Body), guest.Email) {
		t.Errorf("the new owner reads %s", a.Body)
	}
	h.addMail(h.resetMail(guest))
	if a := h.as(h.member, http.MethodGet, "/outbox", ""); !strings.Contains(string(a.Body), guest.Email) {
		t.Errorf("the new owner reads %s", a.Body)
	}
}
