package app_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"sensegate/api/auth"
	"sensegate/motion/home"
)

// An account, a session and a refresh token that end close what the person watches at
// once: before the next ping, which comes after half a minute.
func TestLiveConnectionsEndWithTheirSession(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*household, auth.Tokens) (status int){
		"logout":     func(h *household, s auth.Tokens) int { return h.As(s.Token, "POST", "/logout", "").Status },
		"logout all": func(h *household, s auth.Tokens) int { return h.As(s.Token, "POST", "/logout?all=true", "").Status },
		"login elsewhere": func(h *household, s auth.Tokens) int {
			return h.As("", "POST", "/sessions", credentials(s.User.Email, secretWord)).Status
		},
		"refreshed elsewhere": func(h *household, s auth.Tokens) int {
			other := h.loginAs(s.User.Email, "?multi=true")
			return h.As("", "PATCH", "/sessions", fmt.Sprintf(`{"token":%q}`, other.RefreshToken)).Status
		},
		"new password": func(h *household, s auth.Tokens) int {
			return h.As(s.Token, "PUT", fmt.Sprintf("/users/%d", s.User.ID), `{"password":"battery staple"}`).Status
		},
		"account deleted": func(h *household, s auth.Tokens) int {
			return h.As(s.Token, "DELETE", fmt.Sprintf("/users/%d", s.User.ID), "").Status
		},
		"password set by the administrator": func(h *household, s auth.Tokens) int {
			if _, err := h.accounts.SetPassword(h.T.Context(), s.User.Email, "battery staple"); err != nil {
				return 500
			}
			return 200
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHousehold(t)
			u := h.resident("j@example.com")
			h.join(person{User: u}, h.home, home.MemberRole)
			s := h.loginAs("j@example.com", "")
			gone := h.watch(person{token: s.Token}, "/motions")
			if status := end(h, s); status >= 300 {
				t.Fatalf("status %d", status)
			}
			if err := gone.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
				t.Fatal(err)
			}
			if _, _, err := gone.ReadMessage(); !websocket.IsCloseError(err, 4401) {
				t.Errorf("%v, want 4401", err)
			}
		})
	}
}
