package browser_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"testing"

	"sensegate/api/apitest"
	"sensegate/api/browser"
)

// speakerInKitchen puts the speaker into the kitchen.
func (b *box) speakerInKitchen() {
	b.T.Helper()
	id := b.leaf(b.network, 0x31, "speaker")
	if a := b.owner.ask(http.MethodPut, fmt.Sprintf("/devices/%d", id), `{"kind":"leaf","room":"Kitchen"}`); a.Status != 204 {
		b.T.Fatal(a.Status)
	}
}

// wavering is what an installer sees of the first home whose figures waver.
func (p *tab) wavering() string {
	p.box.T.Helper()
	type figures struct{ Rate, RSSI, Amplitude, Missing, Threshold *float64 }
	var seen []any
	for _, l := range p.links() {
		seen = append(seen, figures{l.Rate, l.RSSI, l.Amplitude, l.Missing, l.Threshold}, l.Can, l.Why)
	}
	for _, d := range p.setupDevices().Devices {
		seen = append(seen, figures{Rate: d.Rate, RSSI: d.RSSI}, d.Why)
	}
	raw, err := json.Marshal(seen)
	if err != nil {
		p.box.T.Fatal(err)
	}
	return string(raw)
}

// TestInstallerSeesNoFigureWaver: they would tell when somebody moves. A walk test of the installer's own
// shows them, one of the owner's does not.
func TestInstallerSeesNoFigureWaver(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.install(b.nobody, 3600)
	b.speakerInKitchen()
	b.hear(100, func(int) float64 { return 0.02 })
	if l := b.nobody.links()[0]; l.RSSI != nil || l.Rate != nil || l.Missing != nil || l.Can != "blind" || l.Why[0].Code != "just_begun" {
		t.Errorf("before the first look %+v, want that nothing is known yet", l)
	}
	b.look()
	before, own := b.nobody.wavering(), b.owner.wavering()
	b.fading = -16
	b.hear(40, func(int) float64 { return 0.4 })
	if after := b.nobody.wavering(); after != before {
		t.Errorf("an installer sees figures change: %s, before %s", after, before)
	}
	if after := b.owner.wavering(); after == own {
		t.Errorf("the owner sees none change: %s", after)
	}
	apitest.Want[any](t, b.owner.walk(http.MethodPost, "Kitchen"), 201)
	if during := b.nobody.wavering(); during != before {
		t.Errorf("in the owner's walk test an installer sees %s, before %s", during, before)
	}
	apitest.Want[any](t, b.owner.walk(http.MethodDelete, ""), 200)
	apitest.Want[any](t, b.nobody.walk(http.MethodPost, "Kitchen"), 201)
	b.hear(2, func(int) float64 { return 0.4 })
	if l := b.nobody.links()[0]; l.Threshold == nil || l.RSSI == nil || *l.RSSI > -60 || l.LastMotion != nil {
		t.Errorf("in their own walk test %+v, want what is now", l)
	}
	apitest.Want[any](t, b.nobody.walk(http.MethodDelete, ""), 200)
	if after := b.nobody.wavering(); after != before {
		t.Errorf("after it %s, before %s", after, before)
	}
}

// TestWalkTestOfAnotherIsNotShownLive: an installer sees that it runs, and when it is over what it found.
func TestWalkTestOfAnotherIsNotShownLive(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.install(b.nobody, 3600)
	b.speakerInKitchen()
	b.hear(100, func(int) float64 { return 0.02 })
	begun := apitest.Want[browser.WalkTest](t, b.owner.walk(http.MethodPost, "Kitchen"), 201)
	ws, _, err := b.nobody.watchInstallation()
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	b.hear(2, func(int) float64 { return 0.02 })
	for name, test := range map[string]browser.WalkTest{
		"GET": apitest.Want[browser.WalkTest](t, b.nobody.walk(http.MethodGet, ""), 200),
		"PUT": apitest.Want[browser.WalkTest](t, b.nobody.walk(http.MethodPut, "Kitchen"), 200),
	} {
		if !test.Running || test.ID != begun.ID || test.Room != "" || len(test.Moving) != 0 || len(test.Rooms) != 1 || test.Rooms[0].State != "waiting" || len(test.Rooms[0].Links) != 0 {
			t.Errorf("%s shows of the owner's test %+v", name, test)
		}
	}
	if mine := apitest.Want[browser.WalkTest](t, b.owner.walk(http.MethodGet, ""), 200); mine.Room != "Kitchen" {
		t.Errorf("the owner sees %+v", mine)
	}
	apitest.Want[any](t, b.owner.walk(http.MethodDelete, ""), 200)
	live := 0
	until(t, ws, func(m browser.Installation) bool {
		live += len(m.Live)
		return m.Walk != nil && !m.Walk.Running
	})
	if live > 0 {
		t.Errorf("an installer is told %d links live", live)
	}
	ended := apitest.Want[browser.WalkTest](t, b.nobody.walk(http.MethodGet, ""), 200)
	if mine := apitest.Want[browser.WalkTest](t, b.owner.walk(http.MethodGet, ""), 200); !reflect.DeepEqual(ended, mine) {
		t.Errorf("when it is over an installer sees %+v, the owner %+v", ended, mine)
	}
}
