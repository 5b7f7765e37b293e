package app_test

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"sensegate/api/apitest"
	"sensegate/motion/home"
)

func TestLadderOfConfirmations(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	apitest.Want[home.User](t, h.As("", "POST", "/users", credentials("new@example.com", secretWord)), 200)
	token := h.mailedToken("confirm", "new@example.com")
	for _, path := range []string{"/confirmations", "/confirmation_mails"} {
		h.climb(http.MethodPost,
			step{name: "malformed", path: path, body: `{`, status: 400},
			step{name: "nothing in it", path: path, body: `{}`, status: 422, says: "email"},
			step{name: "no address", path: path, body: `{"email":"nobody"}`, status: 422, says: "email"},
			step{name: "right", path: path, body: `{"email":"new@example.com"}`, status: 204},
		)
	}
	h.climb(http.MethodGet,
		step{name: "malformed", path: "/confirmations?token=%zz", status: 400},
		step{name: "no token", path: "/confirmations", status: 422, says: "token"},
		step{name: "made up", path: "/confirmations?token=x", status: 401, says: "not valid"},
		step{name: "a session token", path: "/confirmations?token=" + h.owner.token, status: 401},
		step{name: "right", path: "/confirmations?token=" + token, status: 200, says: `"email":"new@example.com"`},
		step{name: "again", path: "/confirmations?token=" + token, status: 401},
	)
	second := h.unconfirmed("second@example.com")
	proven := func(token, password string) string { return fmt.Sprintf(`{"token":%q,"password":%q}`, token, password) }
	h.climb(http.MethodPut,
		step{name: "malformed", path: "/confirmations", body: `{`, status: 400},
		step{name: "no token", path: "/confirmations", body: `{"password":"x"}`, status: 422, says: "token"},
		step{name: "made up", path: "/confirmations", body: proven("x", secretWord), status: 401, says: "not valid"},
		step{name: "no password", path: "/confirmations", body: fmt.Sprintf(`{"token":%q}`, second), status: 403, says: `"code":"wrong_password"`},
		step{name: "wrong password", path: "/confirmations", body: proven(second, "wrong"), status: 403, says: `"code":"wrong_password"`},
		step{name: "right", path: "/confirmations", body: proven(second, secretWord), status: 200, says: `"email":"second@example.com"`},
		step{name: "again", path: "/confirmations", body: proven(second, secretWord), status: 401},
	)
	if list := h.mails(); len(list) != 4 {
		t.Errorf("%d mails, want one for each of four requests", len(list))
	}
	h.loginAs("new@example.com", "")
}

// unconfirmed registers an address and returns the token of its mail.
func (h *household) unconfirmed(address string) string {
	h.T.Helper()
	apitest.Want[home.User](h.T, h.As("", "POST", "/users", credentials(address, secretWord)), 200)
	return h.mailedToken("confirm", address)
}

func TestLadderOfPasswordResets(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.resident("j@example.com")
	s := h.loginAs("j@example.com", "")
	h.climb(http.MethodPost,
		step{name: "malformed", path: "/password_resets", body: `{`, status: 400},
		step{name: "nothing in it", path: "/password_resets", body: `{}`, status: 422, says: "email"},
		step{name: "no address", path: "/password_resets", body: `{"email":"nobody"}`, status: 422, says: "email"},
		step{name: "unknown", path: "/password_resets", body: `{"email":"x@example.com"}`, status: 200, says: `{}`},
		step{name: "right", path: "/password_resets", body: `{"email":"J@example.com"}`, status: 200, says: `{}`},
	)
	token := h.mailedToken("reset", "j@example.com")
	reset := func(token, password string) string {
		return fmt.Sprintf(`{"token":%q,"password":%q}`, token, password)
	}
	h.climb(http.MethodPut,
		step{name: "malformed", path: "/password_resets", body: `{`, status: 400},
		step{name: "nothing in it", path: "/password_resets", body: `{}`, status: 422, says: "password"},
		step{name: "short password", path: "/password_resets", body: reset(token, "12345"), status: 422, says: "body.password"},
		step{name: "blanks", path: "/password_resets", body: reset(token, "       1 "), status: 422, says: "password: want 6"},
		step{name: "common password", path: "/password_resets", body: reset(token, "letmein"), status: 422, says: "commonest"},
		step{name: "made up", path: "/password_resets", body: reset("x", "battery staple"), status: 401},
		step{name: "a session token", path: "/password_resets", body: reset(s.Token, "battery staple"), status: 401},
		step{name: "right", path: "/password_resets", body: reset(token, "battery staple"), status: 200, says: `"email":"j@example.com"`},
		step{name: "again", path: "/password_resets", body: reset(token, "third word"), status: 401},
	)
	h.opens(s, 401)
	apitest.WantProblem(t, h.As("", "POST", "/sessions", credentials("j@example.com", secretWord)), 401, "not right")
	if a := h.As("", "POST", "/sessions", credentials("j@example.com", "battery staple")); a.Status != 200 {
		t.Errorf("the new password: %d %s", a.Status, a.Body)
	}
}

func TestResetComesByForm(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.resident("j@example.com")
	const media = "application/x-www-form-urlencoded"
	if a := h.Send("", "POST", "/password_resets", media, "email=j%40example.com"); a.Status != 200 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	form := url.Values{"token": {h.mailedToken("reset", "j@example.com")}, "password": {"battery staple"}}.Encode()
	apitest.Want[home.User](t, h.Send("", "PUT", "/password_resets", media, form), 200)
}

func TestMailsAreThrottledByAddress(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	for n := range 5 {
		h.climb(http.MethodPost, step{name: "one of five", path: "/password_resets", body: fmt.Sprintf(`{"email":"u%d@example.com"}`, n), status: 200})
	}
	for path, body := range map[string]string{
		"/password_resets": `{"email":"a@example.com"}`, "/confirmations": `{"email":"a@example.com"}`,
		"/confirmation_mails": `{"email":"a@example.com"}`, "/users": credentials("a@example.com", secretWord),
	} {
		a := h.As("", "POST", path, body)
		if a.Status != 429 || a.Header.Get("Retry-After") == "" {
			t.Errorf("%s: %d %s", path, a.Status, a.Body)
		}
	}
	if a := h.elsewhere(66, "POST", "/password_resets", `{"email":"a@example.com"}`); a.Status != 200 {
		t.Errorf("from another address: %d", a.Status)
	}
}
