package browser_test

import (
	"net/http"
	"strings"
	"testing"

	"sensegate/api/apitest"
	"sensegate/motion/home"
	"sensegate/motion/uplink"
	"sensegate/store"
)

// TestMovedHomeSaysWhereItIs to those who live there and to who looks after the box. Who has another
// home here sees that one.
func TestMovedHomeSaysWhereItIs(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.update(func(tx *store.Tx) error {
		_, err := tx.CreateMembership(home.Membership{Role: home.MemberRole, User: b.member.ID, Home: b.other})
		return err
	})
	owner, member := b.owner, b.member
	type away struct {
		Away []struct {
			Network int `json:"network_id"`
			To      string
			Left    int
		}
	}
	wantAway := func(to string, left int) {
		t.Helper()
		list := apitest.Want[away](t, b.keeper.ask(http.MethodGet, "/admin/status", ""), http.StatusOK).Away
		if len(list) != 1 || list[0].Network != int(b.network) || list[0].To != to || list[0].Left != left {
			t.Errorf("the box says %+v", list)
		}
	}
	wantGone := func(p *tab, text string) {
		t.Helper()
		if a := p.ask(http.MethodGet, "/overview", ""); a.Status != http.StatusNotFound || !strings.Contains(string(a.Body), `"network_away"`) || !strings.Contains(string(a.Body), text) {
			t.Errorf("%d %s, want %s", a.Status, a.Body, text)
		}
	}
	h, err := b.engine.SetAside(t.Context(), store.Handover{Network: b.network, Copy: "COPY", Receipt: "RECEIPT"}, func(*store.Tx) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	wantAway("", 0)
	wantGone(owner, "on its way to another box")
	if _, err := b.engine.HandOver(t.Context(), b.network, "http://192.168.10.3:8080", h.Receipt); err != nil {
		t.Fatal(err)
	}
	wantAway("http://192.168.10.3:8080/gatekeeper", 1)
	wantGone(owner, "moved to http://192.168.10.3:8080/gatekeeper")
	type shown struct{ Home struct{ ID home.ID } }
	if got := apitest.Want[shown](t, member.ask(http.MethodGet, "/overview", ""), http.StatusOK).Home.ID; got != b.other {
		t.Errorf("home %d is shown, want %d, which is here", got, b.other)
	}
}

// TestPresenceIsAskedForWhereItIsShown: members are asked whether Home Assistant may know that they are at
// home where an uplink is about their home and would tell it.
func TestPresenceIsAskedForWhereItIsShown(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	owner, neighbour := b.owner, b.neighbour
	asked := func(p *tab) bool {
		t.Helper()
		return apitest.Want[struct {
			Shown bool `json:"presence_shown"`
		}](t, p.ask(http.MethodGet, "/overview", ""), http.StatusOK).Shown
	}
	c := uplink.Config{Name: "house", URL: "mqtt://broker.example", Use: []uplink.Use{uplink.HomeAssistant}}
	c.Networks = append(c.Networks, b.network)
	if err := b.uplinks.Add(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if asked(owner) {
		t.Error("asked although members are not shown")
	}
	c.HomeAssistant.Members = true
	if err := b.uplinks.Change(t.Context(), "house", c); err != nil {
		t.Fatal(err)
	}
	if !asked(owner) || asked(neighbour) {
		t.Error("want the home asked that the uplink is about, and no other")
	}
}
