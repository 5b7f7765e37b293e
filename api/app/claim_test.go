package app_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"sensegate/api/apitest"
	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/home"
	"sensegate/store"
)

// vacate takes everybody off a home and returns what is left of it.
func (h *household) vacate(id home.ID) (left home.ID) {
	h.T.Helper()
	h.update(func(tx *store.Tx) error {
		one, err := tx.VacateHome(id)
		left = one.ID
		return err
	})
	return left
}

// neverOwned makes a home of which nobody has said anything yet the one of the first network.
func (h *household) neverOwned() home.ID {
	h.T.Helper()
	h.update(func(tx *store.Tx) error { return tx.DeleteHome(h.home) })
	made := apitest.Want[found](h.T, h.as(h.nobody, "POST", "/find", `{"guardian_id":"`+guardianID+`"}`), 200)
	return made.ID
}

// claim claims a home as a person whose request came through a proxy, so that it does
// not count as one from the appliance itself.
func (h *household) claim(p person, id home.ID, code string) apitest.Answer {
	h.T.Helper()
	body := fmt.Sprintf(`{"role":"owner","network_id":%d,"setup_code":%q}`, id, code)
	request, err := http.NewRequestWithContext(h.T.Context(), http.MethodPost, "http://"+h.Address+"/api/v1/network_memberships", strings.NewReader(body))
	if err != nil {
		h.T.Fatal(err)
	}
	request.Header.Set("Authorization", p.token)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Forwarded-For", "192.0.2.1")
	return h.Do(request)
}

func TestOwnerlessNetworkIsClaimedOnce(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	apitest.WantProblem(t, h.claim(h.nobody, h.home, ""), 409, "owned")
	h.removeHome()
	made := apitest.Want[found](t, h.as(h.nobody, "POST", "/find", `{"guardian_id":"`+guardianID+`"}`), 200)
	apitest.WantProblem(t, h.as(h.nobody, "POST", "/network_memberships", fmt.Sprintf(`{"role":"owner","network_id":%d,"user_id":%d}`, made.ID, h.owner.ID)), 422, "body.user_id")
	owned := apitest.Want[shown](t, h.claim(h.nobody, made.ID, ""), 200)
	if owned.Role != home.OwnerRole || owned.User != float64(h.nobody.ID) {
		t.Errorf("claimed %+v", owned)
	}
	apitest.WantProblem(t, h.claim(h.owner, made.ID, ""), 409, "owned")
	if events := h.eventsOf(motion.MemberJoinedEvent); len(events) != 1 || events[0].Data["sub"] != h.nobody.Sub {
		t.Errorf("events %+v", events)
	}
}

func TestClaimsOfUnknownAndOfOwnedHomesAnswerTheSame(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.update(func(tx *store.Tx) error { return tx.PutSetupCode("7K2M-Q9XA-04TZ") })
	for _, code := range []string{"", "7K2M-Q9XA-04TZ", "7K2M-Q9XA-0000"} {
		owned := h.claim(h.nobody, h.home, code)
		unknown := h.claim(h.nobody, 77, code)
		if owned.Status != 409 || unknown.Status != 409 || string(owned.Body) != string(unknown.Body) {
			t.Errorf("code %q: owned %d %s, unknown %d %s", code, owned.Status, owned.Body, unknown.Status, unknown.Body)
		}
	}
}

func TestHomeWithPeopleIsNotClaimed(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.update(func(tx *store.Tx) error { // as no rule leaves it
		m, _, err := tx.MembershipOf(h.home, h.owner.ID)
		if err != nil {
			return err
		}
		one, err := tx.Home(h.home)
		if err != nil {
			return err
		}
		one.ClaimedAt = 0
		return errors.Join(tx.DeleteMembership(m.ID), tx.PutHome(one), tx.PutSetupCode("7K2M-Q9XA-04TZ"))
	})
	for _, p := range []person{h.nobody, h.member} {
		apitest.WantProblem(t, h.claim(p, h.home, "7K2M-Q9XA-04TZ"), 409, "owned")
	}
}

func TestHistoryBeginsAtTheClaim(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	id := h.neverOwned()
	before := h.engine.State.Now()
	apitest.Want[shown](t, h.claim(h.member, id, ""), 200)
	h.update(func(tx *store.Tx) error {
		one, err := tx.Home(id)
		if one.ClaimedAt < before || one.ClaimedAt > h.engine.State.Now() {
			t.Errorf("claimed at %v, want after %v", one.ClaimedAt, before)
		}
		return err
	})
}

func TestFirstOwnerOfTheApplianceNeedsTheSetupCode(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	made, left := h.neverOwned(), h.vacate(h.other)
	h.update(func(tx *store.Tx) error { return tx.PutSetupCode("7K2M-Q9XA-04TZ") })
	apitest.WantProblem(t, h.claim(h.nobody, made, ""), 403, "setup_code")
	apitest.WantProblem(t, h.claim(h.nobody, made, "7K2M-Q9XA-04TY"), 422, "setup_code")
	apitest.Want[shown](t, h.claim(h.nobody, made, "7k2m q9xa 04tz"), 200)
	apitest.WantProblem(t, h.claim(h.owner, left, "7K2M-Q9XA-04TZ"), 422, "setup_code")
}

func TestFirstOwnerMaySitAtTheAppliance(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.vacate(h.other)
	made := h.neverOwned()
	apitest.WantProblem(t, h.claim(h.nobody, made, ""), 403, "setup_code")
	apitest.Want[shown](t, h.as(h.nobody, "POST", "/network_memberships", fmt.Sprintf(`{"role":"owner","network_id":%d}`, made)), 200)
}

func TestNetworkThatWasOwnedBeforeTakesTheSetupCode(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prepare func(*household)
		code    string
		local   bool
		want    int
	}{
		"a session alone":         {want: 403},
		"the code":                {code: "7K2M-Q9XA-04TZ", want: 200},
		"a wrong code":            {code: "7K2M-Q9XA-04TY", want: 422},
		"a seat at the appliance": {local: true, want: 200},
		"an account that has shown it": {prepare: func(h *household) {
			h.update(func(tx *store.Tx) error { return tx.RedeemSetupCode("7K2M-Q9XA-04TZ", h.nobody.ID) })
		}, want: 200},
		"an account that has shown it, with it": {prepare: func(h *household) {
			h.update(func(tx *store.Tx) error { return tx.RedeemSetupCode("7K2M-Q9XA-04TZ", h.nobody.ID) })
		}, code: "7K2M-Q9XA-04TZ", want: 200},
		"an account that has shown it, with a wrong code": {prepare: func(h *household) {
			h.update(func(tx *store.Tx) error { return tx.RedeemSetupCode("7K2M-Q9XA-04TZ", h.nobody.ID) })
		}, code: "7K2M-Q9XA-04TY", want: 422},
		"an account of the administrator's, with a wrong code": {prepare: func(h *household) {
			h.update(func(tx *store.Tx) error { return tx.TrustUser(h.nobody.ID) })
		}, code: "7K2M-Q9XA-04TY", want: 422},
		"an account of the administrator's": {prepare: func(h *household) {
			h.update(func(tx *store.Tx) error { return errors.Join(tx.TrustUser(h.nobody.ID), tx.EndSetupCode()) })
		}, want: 200},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHousehold(t)
			h.update(func(tx *store.Tx) error { return tx.PutSetupCode("7K2M-Q9XA-04TZ") })
			left := h.vacate(h.home)
			if c.prepare != nil {
				c.prepare(h)
			}
			a := h.claim
			if c.local {
				a = func(p person, id home.ID, _ string) apitest.Answer {
					return h.as(p, "POST", "/network_memberships", fmt.Sprintf(`{"role":"owner","network_id":%d}`, id))
				}
			}
			if got := a(h.nobody, left, c.code); got.Status != c.want {
				t.Errorf("%d %s, want %d", got.Status, got.Body, c.want)
			}
		})
	}
}

func TestAccountOfTheAdministratorCountsAsHavingShownTheCode(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	u, err := h.accounts.Create(t.Context(), auth.Registration{Email: "made@example.com", Password: "a long pass phrase"})
	if err != nil {
		t.Fatal(err)
	}
	h.update(func(tx *store.Tx) error {
		has, err := tx.HasSetupCode(u.ID)
		if !has {
			t.Error("it does not")
		}
		return err
	})
}

func TestOfManyClaimsOneWins(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.update(func(tx *store.Tx) error { return tx.DeleteHome(h.home) })
	made := apitest.Want[found](t, h.as(h.nobody, "POST", "/find", `{"guardian_id":"`+guardianID+`"}`), 200)
	var won, lost atomic.Int32
	var all sync.WaitGroup
	for _, p := range []person{h.owner, h.member, h.neighbour, h.nobody} {
		all.Go(func() {
			switch a := h.as(p, "POST", "/network_memberships", fmt.Sprintf(`{"role":"owner","network_id":%d}`, made.ID)); a.Status {
			case 200:
				won.Add(1)
			case 409:
				lost.Add(1)
			}
		})
	}
	all.Wait()
	if won.Load() != 1 || lost.Load() != 3 {
		t.Errorf("%d won and %d lost, want 1 and 3", won.Load(), lost.Load())
	}
}

// TestStrangerDoesNotGetAHomeByItsOwnersLeaving is what a stranger tries who knows no more
// of a home than its guardian id, once its owner has deleted the account.
func TestStrangerDoesNotGetAHomeByItsOwnersLeaving(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	if a := h.as(h.owner, "DELETE", fmt.Sprintf("/users/%d", h.owner.ID), ""); a.Status != 204 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	seen := apitest.Want[found](t, h.as(h.nobody, "POST", "/find", `{"guardian_id":"`+guardianID+`"}`), 200)
	if !seen.Claimed || seen.Name != nil {
		t.Errorf("a stranger finds %+v", seen)
	}
	apitest.WantProblem(t, h.claim(h.nobody, seen.ID, ""), 409, "owned")
	apitest.WantProblem(t, h.as(h.nobody, "GET", fmt.Sprintf("/networks/%d", seen.ID), ""), 404, "is not known")
	apitest.WantProblem(t, h.as(h.nobody, "GET", "/outbox", ""), 404, "you belong to none")
	own := apitest.Want[struct {
		Owner string `json:"owner_email"`
		Users int    `json:"user_count"`
	}](t, h.as(h.member, "GET", fmt.Sprintf("/networks/%d", h.home), ""), 200)
	if own.Owner != h.member.Email || own.Users != 1 {
		t.Errorf("the member sees %+v", own)
	}
	apitest.Want[any](t, h.as(h.member, "PUT", fmt.Sprintf("/networks/%d", h.home), `{"name":"Mum's"}`), 200)
	a := h.as(h.member, "GET", "/events", "")
	if a.Status != 200 || !strings.Contains(string(a.Body), `"text":"mum Doe is the owner of the household now"`) {
		t.Errorf("events %s", a.Body)
	}
}
