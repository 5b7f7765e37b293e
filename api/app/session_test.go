package app_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"sensegate/api/apitest"
	"sensegate/api/auth"
	"sensegate/motion/home"
	"sensegate/store"
)

const secretWord = "correct horse battery"

// resident makes a confirmed account with a password.
func (h *household) resident(email string) home.User {
	h.T.Helper()
	u, err := h.accounts.Create(h.T.Context(), auth.Registration{Email: email, Password: secretWord})
	if err != nil {
		h.T.Fatal(err)
	}
	return u
}

// loginAs logs in and returns the session.
func (h *household) loginAs(email, query string) auth.Tokens {
	h.T.Helper()
	return apitest.Want[auth.Tokens](h.T, h.As("", "POST", "/sessions"+query, credentials(email, secretWord)), 200)
}

func credentials(email, password string) string {
	return fmt.Sprintf(`{"email":%q,"password":%q}`, email, password)
}

// opens wants a status of a token's reading of the caller's account.
func (h *household) opens(s auth.Tokens, status int) {
	h.T.Helper()
	if a := h.As(s.Token, "GET", fmt.Sprintf("/users/%d", s.User.ID), ""); a.Status != status {
		h.T.Errorf("the token: %d %s, want %d", a.Status, a.Body, status)
	}
}

// elsewhere sends a request from another address of the loopback network.
func (h *household) elsewhere(last byte, method, path, body string) apitest.Answer {
	h.T.Helper()
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, last)}}
	client := &http.Client{Transport: &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true}}
	request, err := http.NewRequestWithContext(h.T.Context(), method, "http://"+h.Address+h.Base+path, strings.NewReader(body))
	if err != nil {
		h.T.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		h.T.Fatal(err)
	}
	defer response.Body.Close()
	a := apitest.Answer{Status: response.StatusCode, Header: response.Header}
	var raw json.RawMessage
	if err := json.NewDecoder(response.Body).Decode(&raw); err == nil {
		a.Body = raw
	}
	return a
}

func TestLadderOfSessions(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	u := h.resident("j@example.com")
	h.climb(http.MethodPost,
		step{name: "malformed", path: "/sessions", body: `{"email":`, status: 400},
		step{name: "no body", path: "/sessions", status: 400},
		step{name: "nothing in it", path: "/sessions", body: `{}`, status: 422, says: "password"},
		step{name: "numbers", path: "/sessions", body: `{"email":1,"password":2}`, status: 422, says: "body.email"},
		step{name: "a flag that is none", path: "/sessions?multi=perhaps", body: credentials("j@example.com", secretWord), status: 400, says: "multi"},
		step{name: "wrong password", path: "/sessions", body: credentials("j@example.com", "wrong"), status: 401, says: "not right"},
		step{name: "unknown address", path: "/sessions", body: credentials("x@example.com", "wrong"), status: 401, says: "not right"},
		step{name: "right", path: "/sessions", body: credentials("J@Example.com", secretWord), status: 200, says: `"token"`},
		step{name: "trailing slash", path: "/sessions/", body: credentials("j@example.com", secretWord), status: 200},
		step{name: "wrapped", path: "/sessions", body: `{"data":` + credentials("j@example.com", secretWord) + `}`, status: 200},
		step{name: "provider that is not configured", path: "/sessions/sso/idp_a", body: `{"access_token":"x"}`, status: 404, says: "identity provider"},
		step{name: "provider, no token", path: "/sessions/sso/idp_a", body: `{}`, status: 422, says: "access_token"},
		step{name: "provider, malformed", path: "/sessions/sso/idp_a", body: `{`, status: 400},
		step{name: "logout without a token", path: "/logout", status: 401},
		step{name: "logout with a made-up one", who: person{token: "x.y.z"}, path: "/logout", status: 401},
	)
	s := h.loginAs("j@example.com", "")
	h.climb(http.MethodPatch,
		step{name: "malformed", path: "/sessions", body: `[`, status: 400},
		step{name: "nothing in it", path: "/sessions", body: `{}`, status: 422, says: "token"},
		step{name: "made up", path: "/sessions", body: `{"token":"x"}`, status: 401, says: "refresh token"},
		step{name: "a session token", path: "/sessions", body: fmt.Sprintf(`{"token":%q}`, s.Token), status: 401},
		step{name: "right", path: "/sessions?multi=true", body: fmt.Sprintf(`{"token":%q}`, s.RefreshToken), status: 200, says: fmt.Sprintf(`"id":%d`, u.ID)},
	)
	h.climb(http.MethodPost,
		step{name: "logout, a flag that is none", who: person{token: s.Token}, path: "/logout?all=1x", status: 400},
		step{name: "logout", who: person{token: s.Token}, path: "/logout", status: 204},
		step{name: "logout again", who: person{token: s.Token}, path: "/logout", status: 401},
	)
}

func TestSessionComesByFormAndEitherHeader(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.resident("j+x@example.com")
	form := url.Values{"email": {"j+x@example.com"}, "password": {secretWord}}.Encode()
	s := apitest.Want[auth.Tokens](t, h.Send("", "POST", "/sessions?multi", "application/x-www-form-urlencoded", form), 200)
	for _, header := range []string{s.Token, "Bearer " + s.Token, "bearer " + s.Token} {
		if a := h.As(header, "GET", fmt.Sprintf("/users/%d", s.User.ID), ""); a.Status != 200 {
			t.Errorf("%.10s…: %d", header, a.Status)
		}
	}
	if a := h.As("Basic "+s.Token, "GET", fmt.Sprintf("/users/%d", s.User.ID), ""); a.Status != 401 {
		t.Errorf("Basic: %d", a.Status)
	}
}

func TestSessionResponseHasTheStatedShape(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.resident("j@example.com")
	raw := apitest.Want[map[string]any](t, h.As("", "POST", "/sessions", credentials("j@example.com", secretWord)), 200)
	u, _ := raw["user"].(map[string]any)
	for _, name := range []string{"id", "username", "email", "first_name", "last_name", "sub", "created_at", "updated_at", "confirmed_at", "valid_from"} {
		if _, ok := u[name]; !ok {
			t.Errorf("user has no %s: %v", name, u)
		}
	}
	if len(u) != 10 || len(raw) != 3 || raw["token"] == "" || raw["refresh_token"] == "" {
		t.Errorf("response %v", raw)
	}
}

func TestLoginAnywhereElseEndsTheSession(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.resident("j@example.com")
	first := h.loginAs("j@example.com", "")
	second := h.loginAs("j@example.com", "?multi=true")
	h.opens(first, 200)
	h.opens(second, 200)
	third := h.loginAs("j@example.com", "")
	h.opens(first, 401)
	h.opens(second, 401)
	h.opens(third, 200)
}

func TestLogoutOfAllEndsEverySession(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.resident("j@example.com")
	first, second := h.loginAs("j@example.com", ""), h.loginAs("j@example.com", "?multi=true")
	if a := h.As(first.Token, "POST", "/logout?all=true", ""); a.Status != 204 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	h.opens(first, 401)
	h.opens(second, 401)
}

func TestUnconfirmedAccountIsForbiddenWithItsCode(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	apitest.Want[home.User](t, h.As("", "POST", "/users", credentials("new@example.com", secretWord)), 200)
	apitest.WantProblem(t, h.As("", "POST", "/sessions", credentials("new@example.com", secretWord)), 403, `"code":"unconfirmed"`)
	apitest.WantProblem(t, h.As("", "POST", "/sessions", credentials("new@example.com", "wrong word")), 401, "not right")
}

func TestLoginGuessesAreThrottledAndResidentsGetIn(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.resident("j@example.com")
	counts := map[int]int{}
	for range 20 {
		a := h.elsewhere(66, "POST", "/sessions", credentials("j@example.com", "guess"))
		counts[a.Status]++
		if a.Status == 429 && a.Header.Get("Retry-After") == "" {
			t.Error("no Retry-After")
		}
	}
	if counts[401] != 5 || counts[429] != 15 {
		t.Errorf("answers %v, want 5 verified", counts)
	}
	start := time.Now()
	h.loginAs("j@example.com", "") // from an address that nobody knows yet
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("the resident waits %v", took)
	}
	if a := h.elsewhere(66, "POST", "/sessions", credentials("other@example.com", "guess")); a.Status != 429 {
		t.Errorf("the same address at another account: %d", a.Status)
	}
}

func TestUnknownAndKnownAccountsAnswerAlike(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.resident("j@example.com")
	for i, row := range []struct{ method, path, body string }{
		{"POST", "/sessions", `{"email":%q,"password":"wrong word"}`},
		{"POST", "/password_resets", `{"email":%q}`},
		{"POST", "/confirmations", `{"email":%q}`},
		{"POST", "/confirmation_mails", `{"email":%q}`},
	} {
		known := h.elsewhere(byte(10+i), row.method, row.path, fmt.Sprintf(row.body, "j@example.com"))
		unknown := h.elsewhere(byte(10+i), row.method, row.path, fmt.Sprintf(row.body, "x@example.com"))
		if known.Status != unknown.Status || string(known.Body) != string(unknown.Body) || len(known.Header) != len(unknown.Header) {
			t.Errorf("%s %s: %d %s for a known address, %d %s for an unknown one", row.method, row.path, known.Status, known.Body, unknown.Status, unknown.Body)
		}
	}
}

// mails returns the outbox, the oldest first.
func (h *household) mails() (list []store.Mail) {
	h.T.Helper()
	h.update(func(tx *store.Tx) (err error) {
		list, err = tx.Mails()
		return err
	})
	return list
}

// mailedToken returns the token of the newest mail to an address.
func (h *household) mailedToken(kind, to string) string {
	h.T.Helper()
	for list := h.mails(); len(list) > 0; list = list[:len(list)-1] {
		if m := list[len(list)-1]; m.Kind == kind && m.Address == to {
			return h.tokenIn(m)
		}
	}
	h.T.Fatalf("no %s mail to %s", kind, to)
	return ""
}
