package app_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"sensegate/api/apitest"
	"sensegate/api/auth"
	"sensegate/api/web"
	"sensegate/motion"
	"sensegate/motion/home"
	"sensegate/store"
	"sensegate/store/storetest"
)

// prove sets what is known of how a person came by their address.
func (h *household) prove(p person, proof store.AddressProof) {
	h.T.Helper()
	h.update(func(tx *store.Tx) error { return tx.SetAddressProof(p.ID, proof) })
}

// mailTo returns the last mail of a kind to an address.
func (h *household) mailTo(kind, address string) (last store.Mail) {
	h.T.Helper()
	h.update(func(tx *store.Tx) error {
		mails, err := tx.Mails()
		for _, m := range mails {
			if m.Kind == kind && m.Address == address {
				last = m
			}
		}
		return err
	})
	if last.ID == 0 {
		h.T.Fatalf("no mail of kind %s to %s", kind, address)
	}
	return last
}

// tokenIn returns the token of a mail's link.
func (h *household) tokenIn(m store.Mail) string {
	h.T.Helper()
	u, err := url.Parse(m.Link)
	if err != nil {
		h.T.Fatal(err)
	}
	query, err := url.ParseQuery(u.RawQuery + u.Fragment)
	if err != nil || query.Get("token") == "" {
		h.T.Fatalf("link %q: %v", m.Link, err)
	}
	return query.Get("token")
}

// giveWord gives a person the password secretWord; their session goes on.
func (h *household) giveWord(p person) {
	h.T.Helper()
	hash, err := auth.NewPasswords(auth.Argon{Memory: 7168, Passes: 1, Threads: 1}).Hash(h.T.Context(), secretWord)
	if err != nil {
		h.T.Fatal(err)
	}
	h.update(func(tx *store.Tx) error { return tx.SetPassword(p.ID, hash) })
}

// confirm confirms an address as the page of the mail's link does.
func (h *household) confirm(token, password string) apitest.Answer {
	h.T.Helper()
	return h.as(person{}, http.MethodPut, "/confirmations", fmt.Sprintf(`{"token":%q,"password":%q}`, token, password))
}

// joinWith joins the first home as a person, with the token of an invitation.
func (h *household) joinWith(p person, token string) apitest.Answer {
	h.T.Helper()
	return h.as(p, http.MethodPost, "/network_memberships", fmt.Sprintf(`{"role":"member","network_id":%d,"invitation":%q}`, h.home, token))
}

func TestJoiningTakesTheLinkUnlessTheAddressIsKnown(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.prove(h.nobody, store.AddressProof{})
	h.invite(h.nobody.Email)
	token := h.tokenIn(h.mailTo("invite", h.nobody.Email))
	for name, wrong := range map[string]string{"none": "", "invented": "inv_x", "cut": token[:len(token)-1], "longer": token + "A"} {
		apitest.WantProblem(t, h.joinWith(h.nobody, wrong), 403, "not_invited")
		if t.Failed() {
			t.Fatalf("with the token %s", name)
		}
	}
	apitest.WantProblem(t, h.joinWith(h.neighbour, token), 403, "not_invited") // who holds the link, not the address
	apitest.Want[shown](t, h.joinWith(h.nobody, token), 200)
	if a := h.as(h.owner, "DELETE", fmt.Sprintf("/network_memberships/%d", h.membershipOf(h.nobody, h.home).ID), ""); a.Status != 204 {
		t.Fatal(a.Status)
	}
	apitest.WantProblem(t, h.joinWith(h.nobody, token), 403, "not_invited") // used
	h.invite(h.nobody.Email)
	apitest.WantProblem(t, h.joinWith(h.nobody, token), 403, "not_invited") // of the former invitation
	apitest.Want[shown](t, h.joinWith(h.nobody, h.tokenIn(h.mailTo("invite", h.nobody.Email))), 200)
}

func TestTokensOfInvitationsAreStoredHashed(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.invite("guest@example.com")
	m := h.mailTo("invite", "guest@example.com")
	token := h.tokenIn(m)
	h.update(func(tx *store.Tx) error { return tx.DeleteMail(m.ID) })
	for _, found := range storetest.Scan(t, h.db, token) {
		t.Error(found)
	}
	if a := h.as(h.owner, "GET", "/invitations", ""); strings.Contains(string(a.Body), "token") {
		t.Errorf("shown: %s", a.Body)
	}
}

// TestOwnerWhoMovesToAnInvitedAddressDoesNotJoin is an owner who confirms an address that
// is not theirs from their own outbox, before or after another home has invited it.
func TestOwnerWhoMovesToAnInvitedAddressDoesNotJoin(t *testing.T) {
	t.Parallel()
	for name, invitedFirst := range map[string]bool{"before the invitation": false, "read before, confirmed after": true} {
		h := newHousehold(t)
		h.giveWord(h.neighbour)
		move := h.as(h.neighbour, http.MethodPut, fmt.Sprintf("/users/%d", h.neighbour.ID), `{"email":"guest@example.com"}`)
		if own := h.as(h.neighbour, http.MethodGet, "/outbox", ""); move.Status != 200 || !strings.Contains(string(own.Body), "/confirm#token=") {
			t.Fatalf("%s: the outbox shows %s", name, own.Body)
		}
		token := h.tokenIn(h.mailTo("confirm", "guest@example.com"))
		if invitedFirst {
			h.invite("guest@example.com")
		}
		if a := h.confirm(token, secretWord); a.Status != 200 {
			t.Fatalf("%s: %d %s", name, a.Status, a.Body)
		}
		if !invitedFirst {
			h.invite("guest@example.com")
		}
		apitest.WantProblem(t, h.joinWith(h.neighbour, ""), 403, "not_invited")
	}
}

func TestGuestWhoRegistersAfterTheInvitationJoinsByTheConfirmation(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.invite("guest@example.com")
	guest := h.registerAndConfirm("guest@example.com")
	apitest.Want[shown](t, h.joinWith(guest, ""), 200)
}

// registerAndConfirm makes an account by its confirmation mail.
func (h *household) registerAndConfirm(address string) person {
	h.T.Helper()
	if a := h.as(person{}, http.MethodPost, "/users", fmt.Sprintf(`{"email":%q,"password":"a long pass phrase"}`, address)); a.Status != 201 && a.Status != 200 {
		h.T.Fatal(a.Status)
	}
	user := apitest.Want[home.User](h.T, h.confirm(h.tokenIn(h.mailTo("confirm", address)), "a long pass phrase"), 200)
	tokens, err := h.sessions.Start(h.T.Context(), user.ID, true)
	if err != nil {
		h.T.Fatal(err)
	}
	return person{User: user, token: tokens.Token}
}

func TestAddressIsKnownByAMailThatWentOut(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.giveWord(h.neighbour)
	h.as(h.neighbour, http.MethodPut, fmt.Sprintf("/users/%d", h.neighbour.ID), `{"email":"moved@example.com"}`)
	m := h.mailTo("confirm", "moved@example.com")
	for name, state := range map[string]func(motion.Stamp){ // as the outbox does with a mail server
		"queued": func(now motion.Stamp) { m.DueAt, m.SentAt, m.Attempts = now, 0, 0 },
		"sent":   func(now motion.Stamp) { m.DueAt, m.SentAt, m.Attempts = 0, now, 1 },
	} {
		h.update(func(tx *store.Tx) error {
			state(tx.Now().Stamp())
			return tx.PutMail(m)
		})
		if own := h.as(h.neighbour, http.MethodGet, "/outbox", ""); strings.Contains(string(own.Body), "#token=") {
			t.Errorf("%s: the mail can be read in the outbox, and proves nothing: %s", name, own.Body)
		}
	}
	h.update(func(tx *store.Tx) error {
		m.DueAt, m.SentAt, m.Attempts = 0, tx.Now().Stamp(), 1
		return tx.PutMail(m)
	})
	if a := h.confirm(h.tokenIn(m), secretWord); a.Status != 200 {
		t.Fatal(a.Status)
	}
	h.invite("moved@example.com")
	apitest.Want[shown](t, h.joinWith(h.neighbour, ""), 200)
}

func TestMailThatCouldNotBeSentIsShownAndProvesNothing(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.giveWord(h.neighbour)
	h.as(h.neighbour, http.MethodPut, fmt.Sprintf("/users/%d", h.neighbour.ID), `{"email":"moved@example.com"}`)
	m := h.mailTo("confirm", "moved@example.com")
	h.update(func(tx *store.Tx) error {
		m.DueAt, m.Attempts = tx.Now().Stamp(), 1
		return tx.PutMail(m)
	})
	if own := h.as(h.neighbour, http.MethodGet, "/outbox", ""); !strings.Contains(string(own.Body), "#token=") {
		t.Errorf("a mail that did not go out is not in the outbox: %s", own.Body)
	}
	h.update(func(tx *store.Tx) error { // the second try succeeds
		m.DueAt, m.SentAt, m.Attempts = 0, tx.Now().Stamp(), 2
		return tx.PutMail(m)
	})
	if a := h.confirm(h.tokenIn(m), secretWord); a.Status != 200 {
		t.Fatal(a.Status)
	}
	h.invite("moved@example.com")
	apitest.WantProblem(t, h.joinWith(h.neighbour, ""), 403, "not_invited")
}

// TestGuestOfBeforeTheInvitationShowsItsToken is somebody who confirmed their address without
// a mail server, when no home knew of it: others may have read the link before.
func TestGuestOfBeforeTheInvitationShowsItsToken(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	guest := h.registerAndConfirm("guest@example.com")
	h.invite("guest@example.com")
	apitest.WantProblem(t, h.joinWith(guest, ""), 403, "not_invited")
	apitest.Want[shown](t, h.joinWith(guest, h.tokenIn(h.mailTo("invite", "guest@example.com"))), 200)
}

// TestOwnerWhoWithdrawsTheirInvitationDoesNotJoin is an owner who invites somebody else's
// address, registers it, reads the link, and withdraws the invitation before they confirm.
func TestOwnerWhoWithdrawsTheirInvitationDoesNotJoin(t *testing.T) {
	t.Parallel()
	for name, invitedFirst := range map[string]bool{"invited afterwards": false, "invited before the confirmation": true} {
		h := newHousehold(t)
		a := h.as(h.neighbour, "POST", "/member_invites", fmt.Sprintf(`{"network_id":"%d","emails":["target@example.com"]}`, h.other))
		if a.Status != 200 {
			t.Fatal(a.Status)
		}
		if a := h.as(person{}, http.MethodPost, "/users", credentials("target@example.com", secretWord)); a.Status != 200 {
			t.Fatal(a.Status)
		}
		if own := h.as(h.neighbour, http.MethodGet, "/outbox", ""); !strings.Contains(string(own.Body), "/confirm#token=") {
			t.Fatalf("%s: the outbox shows %s", name, own.Body)
		}
		h.update(func(tx *store.Tx) error {
			i, _, err := tx.InvitationTo(h.other, "target@example.com")
			if err != nil {
				return err
			}
			return tx.DeleteInvitation(i.ID)
		})
		if invitedFirst {
			h.invite("target@example.com")
		}
		if a := h.confirm(h.tokenIn(h.mailTo("confirm", "target@example.com")), secretWord); a.Status != 200 {
			t.Fatal(a.Status)
		}
		if !invitedFirst {
			h.invite("target@example.com")
		}
		thief := person{token: h.loginAs("target@example.com", "").Token}
		apitest.WantProblem(t, h.joinWith(thief, ""), 403, "not_invited")
	}
}

// TestOwnerWhoLeavesBeforeTheyConfirmDoesNotJoin is an owner who reads the link for another
// address in the outbox, and leaves the home before they open it.
func TestOwnerWhoLeavesBeforeTheyConfirmDoesNotJoin(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.giveWord(h.neighbour)
	h.as(h.neighbour, http.MethodPut, fmt.Sprintf("/users/%d", h.neighbour.ID), `{"email":"target@example.com"}`)
	token := h.tokenIn(h.mailTo("confirm", "target@example.com"))
	left := h.membershipOf(h.neighbour, h.other).ID
	h.update(func(tx *store.Tx) error { return tx.DeleteMembership(left) })
	if a := h.confirm(token, secretWord); a.Status != 200 {
		t.Fatal(a.Status)
	}
	h.invite("target@example.com")
	apitest.WantProblem(t, h.joinWith(h.neighbour, ""), 403, "not_invited")
}

func TestConfirmationThatAnotherHomeCouldReadProvesNothing(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.prove(h.nobody, store.AddressProof{By: []home.ID{h.home + 1}})
	h.invite(h.nobody.Email)
	apitest.WantProblem(t, h.joinWith(h.nobody, ""), 403, "not_invited")
	h.prove(h.nobody, store.AddressProof{By: []home.ID{h.home, h.home + 1}})
	apitest.WantProblem(t, h.joinWith(h.nobody, ""), 403, "not_invited")
	h.prove(h.nobody, store.AddressProof{By: []home.ID{h.home}})
	apitest.Want[shown](t, h.joinWith(h.nobody, ""), 200)
}

// TestConfirmationByAScannerOpensNoHome is somebody who registers a guest's address with a
// password of their own, and a mail scanner that opens the link.
func TestConfirmationByAScannerOpensNoHome(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	if a := h.as(person{}, http.MethodPost, "/users", credentials("guest@example.com", secretWord)); a.Status != 200 {
		t.Fatal(a.Status)
	}
	m := h.mailTo("confirm", "guest@example.com")
	h.update(func(tx *store.Tx) error { // as with a mail server
		m.SentAt, m.Attempts = tx.Now().Stamp(), 1
		return tx.PutMail(m)
	})
	page, _, _ := strings.Cut(m.Link, "#") // a client sends no fragment
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		w := httptest.NewRecorder()
		web.App(nil).ServeHTTP(w, httptest.NewRequest(method, page, nil))
		if w.Code != 200 {
			t.Fatalf("%s: %d", method, w.Code)
		}
	}
	apitest.WantProblem(t, h.as(person{}, http.MethodPost, "/sessions", credentials("guest@example.com", secretWord)), 403, "unconfirmed")
	if a := h.as(person{}, http.MethodGet, "/confirmations?token="+h.tokenIn(m), ""); a.Status != 200 {
		t.Fatal(a.Status)
	}
	thief := person{token: h.loginAs("guest@example.com", "").Token}
	h.invite("guest@example.com")
	apitest.WantProblem(t, h.joinWith(thief, ""), 403, "not_invited")
}
