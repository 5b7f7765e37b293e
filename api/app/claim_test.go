package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"sensegate/api/apitest"
	"sensegate/motion"
	"sensegate/motion/home"
	"sensegate/store"
)

// abandon takes the owners off homes; the members stay.
func (h *household) abandon(homes ...home.ID) {
	h.T.Helper()
	h.update(func(tx *store.Tx) error {
		for _, id := range homes {
			one, err := tx.Home(id)
			if err != nil {
				return err
			}
			one.ClaimedAt = 0
			if err := tx.PutHome(one); err != nil {
				return err
			}
			members, err := tx.MembershipsOfHome(id)
			if err != nil {
				return err
			}
			for _, m := range members {
				if m.Role != home.OwnerRole {
					continue
				}
				if err := tx.DeleteMembership(m.ID); err != nil {
					return err
				}
			}
		}
		return nil
	})
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
	apitest.WantProblem(t, h.claim(h.nobody, 77, ""), 404, "network 77 is not known")
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

func TestHistoryBeginsAtTheClaim(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.abandon(h.home)
	before := h.engine.Now()
	apitest.Want[shown](t, h.claim(h.member, h.home, ""), 200)
	h.update(func(tx *store.Tx) error {
		one, err := tx.Home(h.home)
		if one.ClaimedAt < before || one.ClaimedAt > h.engine.Now() {
			t.Errorf("claimed at %v, want after %v", one.ClaimedAt, before)
		}
		return err
	})
}

func TestFirstOwnerOfTheApplianceNeedsTheSetupCode(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.update(func(tx *store.Tx) error { return tx.DeleteHome(h.home) })
	h.abandon(h.other)
	made := apitest.Want[found](t, h.as(h.nobody, "POST", "/find", `{"guardian_id":"`+guardianID+`"}`), 200)
	h.update(func(tx *store.Tx) error { return tx.PutSetupCode("7K2M-Q9XA-04TZ") })
	apitest.WantProblem(t, h.claim(h.nobody, made.ID, ""), 403, "setup_code")
	apitest.WantProblem(t, h.claim(h.nobody, made.ID, "7K2M-Q9XA-04TY"), 422, "setup_code")
	apitest.Want[shown](t, h.claim(h.nobody, made.ID, "7k2m q9xa 04tz"), 200)
	apitest.WantProblem(t, h.claim(h.owner, h.other, "7K2M-Q9XA-04TZ"), 422, "setup_code")
	apitest.Want[shown](t, h.claim(h.owner, h.other, ""), 200)
}

func TestFirstOwnerMaySitAtTheAppliance(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.update(func(tx *store.Tx) error { return tx.DeleteHome(h.home) })
	h.abandon(h.other)
	apitest.WantProblem(t, h.claim(h.nobody, h.other, ""), 403, "setup_code")
	apitest.Want[shown](t, h.as(h.nobody, "POST", "/network_memberships", fmt.Sprintf(`{"role":"owner","network_id":%d}`, h.other)), 200)
}

func TestAbandonedNetworkGoesToOneOfItsMembers(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.abandon(h.home)
	apitest.WantProblem(t, h.claim(h.nobody, h.home, ""), 403, "setup_code")
	promoted := apitest.Want[shown](t, h.claim(h.member, h.home, ""), 200)
	if promoted.Role != home.OwnerRole {
		t.Errorf("promoted %+v", promoted)
	}
	if events := h.eventsOf(motion.MemberJoinedEvent); len(events) != 0 {
		t.Errorf("nobody joined, but: %+v", events)
	}
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
