package app_test

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"sensegate/motion/engine"
	"sensegate/store"
)

// lateHousehold is a household whose clock moves on by what the returned counter holds, in
// nanoseconds.
func lateHousehold(t *testing.T) (*household, *atomic.Int64) {
	t.Helper()
	var later atomic.Int64
	h := newHousehold(t, func(o *store.Options, _ *engine.Options) {
		o.Now = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
	})
	return h, &later
}

// What cannot be taken back needs the password when the log-in is old
// (payloads.md 6 no. 18).
func TestStolenSessionNeitherTakesNorEndsAnAccount(t *testing.T) {
	t.Parallel()
	h, later := lateHousehold(t)
	h.resident("j@example.com")
	s := h.loginAs("j@example.com", "")
	thief := person{token: s.Token}
	later.Store(int64(11 * time.Minute))
	own, network := fmt.Sprintf("/users/%d", s.User.ID), fmt.Sprintf("/networks/%d", h.home)
	const wrong = `{"current_password":"wrong"}`
	h.climb(http.MethodPut,
		step{name: "password", who: thief, path: own, body: `{"password":"battery staple"}`, status: 403, says: `"code":"step_up"`},
		step{name: "address", who: thief, path: own, body: `{"email":"thief@example.com"}`, status: 403, says: `"code":"step_up"`},
		step{name: "wrong password", who: thief, path: own, body: `{"email":"thief@example.com","current_password":"wrong"}`, status: 403, says: `"code":"wrong_password"`},
		step{name: "unchanged", who: thief, path: own, body: `{"email":"j@example.com","first_name":"J"}`, status: 200},
	)
	h.climb(http.MethodDelete,
		step{name: "household", who: h.owner, path: network, status: 403, says: `"code":"step_up"`},
		step{name: "household, wrong password", who: h.owner, path: network, body: wrong, status: 403, says: `"code":"wrong_password"`},
		step{name: "household of others", who: thief, path: network, status: 404},
		step{name: "account", who: thief, path: own, status: 403, says: `"code":"step_up"`},
		step{name: "account, password in the query", who: thief, path: own + "?current_password=correct%20horse%20battery", status: 403, says: `"code":"step_up"`},
		step{name: "account, wrong password", who: thief, path: own, body: wrong, status: 403, says: `"code":"wrong_password"`},
	)
	h.opens(s, 200)
	form := "current_password=correct+horse+battery"
	if a := h.Send(s.Token, "DELETE", own, "application/x-www-form-urlencoded", form); a.Status != 204 {
		t.Errorf("by form: %d %s", a.Status, a.Body)
	}
}

func TestRecentLoginDeletesWithoutABodyOrWithAnyOther(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.climb(http.MethodDelete,
		step{name: "with a body of an existing client", who: h.nobody, path: fmt.Sprintf("/users/%d", h.nobody.ID), body: `{"id":9}`, status: 204},
		step{name: "household", who: h.owner, path: fmt.Sprintf("/networks/%d", h.home), status: 204},
	)
}
