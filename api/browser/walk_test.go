package browser_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"sensegate/api/apitest"
	"sensegate/api/browser"
)

// walk calls an operation of walk tests.
func (p *tab) walk(method, room string) apitest.Answer {
	p.box.T.Helper()
	body := ""
	if room != "" {
		body = fmt.Sprintf(`{"network_id":%d,"room":%q}`, p.box.home, room)
	}
	return p.setUp(method, "/walk-tests", body)
}

// notified returns how often the inbox of a member tells of a kind.
func (p *tab) notified(kind string) (n int, first map[string]string) {
	p.box.T.Helper()
	list := apitest.Want[struct {
		Notices []struct {
			Kind   string
			Values map[string]string
		}
	}](p.box.T, p.ask(http.MethodGet, "/notices", ""), 200)
	for _, notice := range list.Notices {
		if notice.Kind == kind {
			n, first = n+1, notice.Values
		}
	}
	return n, first
}

func TestWalkTestRunsOnTheAppliance(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.install(b.nobody, 3600)
	if none := apitest.Want[browser.WalkTest](t, b.nobody.walk(http.MethodGet, ""), 200); none.ID != "" || none.Running || len(none.Rooms) != 0 {
		t.Errorf("before the first %+v", none)
	}
	apitest.WantProblem(t, b.nobody.walk(http.MethodPut, "Kitchen"), 404, "begin one")
	apitest.WantProblem(t, b.nobody.walk(http.MethodDelete, ""), 404, "begin one")
	apitest.WantProblem(t, b.nobody.walk(http.MethodPost, "<b>"), 422, "body.room")
	apitest.WantProblem(t, b.nobody.walk(http.MethodPost, "   "), 422, "body.room")
	id := b.leaf(b.network, 0x31, "speaker")
	if a := b.owner.ask(http.MethodPut, fmt.Sprintf("/devices/%d", id), `{"kind":"leaf","room":"Hall"}`); a.Status != 204 {
		t.Fatal(a.Status)
	}
	test := apitest.Want[browser.WalkTest](t, b.nobody.walk(http.MethodPost, "Kitchen"), 201)
	if test.ID == "" || !test.Running || test.Room != "Kitchen" || len(test.Rooms) != 2 || test.Rooms[0].State != "walking" || test.Rooms[1].Room != "Hall" || test.Rooms[1].State != "waiting" {
		t.Errorf("begun %+v", test)
	}
	if left := test.Ends.Since(*test.Started); left != 600 {
		t.Errorf("it runs for %v s", left)
	}
	apitest.WantProblem(t, b.owner.walk(http.MethodPost, "Hall"), 409, "walk_test_runs")
	if other := apitest.Want[browser.WalkTest](t, b.owner.walk(http.MethodPut, "Hall"), 200); other.ID != test.ID || other.Room != "Hall" {
		t.Errorf("another phone goes on: %+v", other)
	}
	ended := apitest.Want[browser.WalkTest](t, b.owner.walk(http.MethodDelete, ""), 200)
	if again := apitest.Want[browser.WalkTest](t, b.nobody.walk(http.MethodGet, ""), 200); ended.Running || again.ID != test.ID || again.Running || !slices.EqualFunc(again.Rooms, ended.Rooms, func(a, b browser.WalkRoom) bool { return a.Room == b.Room && a.State == b.State }) {
		t.Errorf("ended %+v, then %+v", ended, again)
	}
}

// TestHouseholdIsToldOfAnInstallersWalkTest: of its owner's it is not.
func TestHouseholdIsToldOfAnInstallersWalkTest(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	const kind = "WalkTestStartedEvent"
	apitest.Want[any](t, b.owner.walk(http.MethodPost, "Kitchen"), 201)
	b.owner.walk(http.MethodDelete, "")
	if n, _ := b.member.notified(kind); n != 0 {
		t.Errorf("of the owner's test the household is told %d times", n)
	}
	b.install(b.nobody, 3600)
	apitest.Want[any](t, b.nobody.walk(http.MethodPost, "Kitchen"), 201)
	b.nobody.walk(http.MethodPost, "Kitchen") // refused
	if n, values := b.member.notified(kind); n != 1 || values["member"] != "passer" {
		t.Errorf("told %d times, %v", n, values)
	}
}
