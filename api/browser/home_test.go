package browser_test

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sensegate/api/apitest"
	"sensegate/api/browser"
	"sensegate/motion"
	"sensegate/store"
)

// noDevices stands for the broker: commands go nowhere.
type noDevices struct{}

func (noDevices) Send(motion.DeviceKey, string, []byte, bool) error { return nil }
func (noDevices) Disconnect(motion.DeviceKey, string)               {}
func (noDevices) DisconnectUser(string, string)                     {}

// atAGlance is what these tests read of the overview.
type atAGlance struct {
	TS        float64 `json:"ts"`
	State     string
	Last      *float64 `json:"last_motion"`
	Until     *float64 `json:"paused_until"`
	Demo      bool
	Unplugged string
	Home      struct {
		Scene   string
		SceneBy string  `json:"scene_by"`
		SceneAt float64 `json:"scene_at"`
		Away    float64 `json:"away_at"`
	}
	First *struct {
		At   float64
		Room string
	} `json:"first_motion"`
	Rooms []struct {
		Name, State string
		Last        *float64 `json:"last_motion"`
	}
}

func (p *tab) glance() atAGlance {
	p.box.T.Helper()
	return apitest.Want[atAGlance](p.box.T, p.ask(http.MethodGet, "/overview", ""), http.StatusOK)
}

// refused wants a status of a request.
func (p *tab) refused(status int, method, path, body string) {
	p.box.T.Helper()
	if a := p.ask(method, path, body); a.Status != status {
		p.box.T.Errorf("%s %s %s: %d %s, want %d", method, path, body, a.Status, a.Body, status)
	}
}

func TestPauseIsToldAndEnded(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	for _, wrong := range []string{`{"paused":true,"minutes":14}`, `{"paused":true,"minutes":721}`, `{}`, `{"paused":1}`, `{"paused":true,"until":1}`} {
		b.member.refused(http.StatusUnprocessableEntity, http.MethodPost, "/pause", wrong)
	}
	b.neighbour.refused(http.StatusNotFound, http.MethodPost, "/pause", `{"network_id":1,"paused":true}`)
	if o := b.owner.glance(); o.State == "paused" || o.Until != nil {
		t.Errorf("before: %+v", o)
	}
	b.member.done(http.MethodPost, "/pause", `{"paused":true,"minutes":60}`)
	if o := b.owner.glance(); o.State != "paused" || o.Until == nil || *o.Until < o.TS+3590 || *o.Until > o.TS+3600 {
		t.Errorf("paused for an hour: %+v", o)
	}
	b.member.done(http.MethodPost, "/pause", `{"paused":true}`)
	if o := b.owner.glance(); o.State != "paused" || o.Until != nil {
		t.Errorf("paused without an end: %+v", o)
	}
	b.owner.done(http.MethodPost, "/pause", `{"paused":false}`)
	b.owner.done(http.MethodPost, "/pause", `{"paused":false}`) // has ended already
	if o := b.owner.glance(); o.State == "paused" {
		t.Errorf("after: %+v", o)
	}
	b.member.done(http.MethodPost, "/pause", `{"paused":true,"minutes":15}`)
	apitest.Want[any](t, b.owner.askApp(http.MethodPut, "/network_motion_config", `{"motion_paused":true}`), 200)
	if o := b.owner.glance(); o.State != "paused" || o.Until != nil {
		t.Errorf("paused by an app: %+v", o)
	}
}

func TestAwayIsToldAndUndone(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.neighbour.refused(http.StatusNotFound, http.MethodPost, "/away", `{"network_id":1}`)
	b.neighbour.refused(http.StatusNotFound, http.MethodDelete, "/away?network_id=1", "")
	apitest.Want[any](t, b.member.ask(http.MethodPost, "/away", `{}`), http.StatusOK)
	if o := b.owner.glance(); o.Home.Away < o.TS || o.Home.Away > o.TS+30 || o.Home.Scene != "home" {
		t.Errorf("leaving: %+v", o.Home)
	}
	b.owner.done(http.MethodDelete, "/away", "")
	if o := b.owner.glance(); o.Home.Away != 0 {
		t.Errorf("undone: %+v", o.Home)
	}
	apitest.Want[any](t, b.member.askApp(http.MethodPut, "/scenes", `{"scene_id":1}`), 200)
	if o := b.owner.glance(); o.Home.SceneBy != "mum" || o.Home.SceneAt == 0 || o.Home.Scene != "away" {
		t.Errorf("away: %+v", o.Home)
	}
	b.member.refused(http.StatusConflict, http.MethodPost, "/away", `{}`)
}

func TestRoomsAreOrderedAndRenamed(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	place := func(low byte, room string) {
		if err := b.engine.Inventory.PlaceLeaf(t.Context(), b.network, motion.MAC{2, 0xbb, 0, 0, 0, low}, room, ""); err != nil {
			t.Fatal(err)
		}
	}
	rooms := func() string {
		names := []string{}
		for _, r := range b.member.glance().Rooms {
			names = append(names, r.Name)
		}
		return strings.Join(names, ",")
	}
	place(1, "Attic")
	place(2, "Kitchen")
	place(3, "Living room")
	for _, wrong := range []string{`{}`, `{"rooms":"Attic"}`, `{"rooms":["Attic","Attic"]}`, `{"rooms":[[]]}`, `{"rooms":[{}]}`} {
		b.owner.refused(http.StatusUnprocessableEntity, http.MethodPut, "/rooms", wrong)
	}
	b.member.refused(http.StatusForbidden, http.MethodPut, "/rooms", `{"rooms":["Kitchen"]}`)
	b.owner.done(http.MethodPut, "/rooms", `{"rooms":["Living room","Kitchen"]}`)
	if got := rooms(); got != "Living room,Kitchen,Attic" {
		t.Errorf("ordered: %s", got)
	}
	if h := b.historyOf("span=week"); strings.Join(h.Names, ",") != "Living room,Kitchen,Attic" {
		t.Errorf("history orders them as %q", h.Names)
	}
	b.member.refused(http.StatusUnprocessableEntity, http.MethodPut, "/rooms/Kitchen", `{"name":"<b>"}`)
	b.member.refused(http.StatusConflict, http.MethodPut, "/rooms/Kitchen", `{"name":"Attic"}`)
	b.member.refused(http.StatusNotFound, http.MethodPut, "/rooms/Cellar", `{"name":"Den"}`)
	b.neighbour.refused(http.StatusNotFound, http.MethodPut, "/rooms/Kitchen", `{"network_id":1,"name":"Den"}`)
	b.member.done(http.MethodPut, "/rooms/Living%20room", `{"name":"Lounge"}`)
	if got := rooms(); got != "Lounge,Kitchen,Attic" {
		t.Errorf("renamed: %s", got)
	}
}

func TestDaysAndNightsBeginWithTheClaim(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	type answer struct {
		Enabled bool
		Days    []struct {
			TS      float64
			Percent *float64
		}
		Nights []any
	}
	b.neighbour.refused(http.StatusNotFound, http.MethodGet, "/days?network_id=1", "")
	b.neighbour.refused(http.StatusNotFound, http.MethodGet, "/nights?network_id=1", "")
	claim := motion.TimeOf(time.Now().Add(-time.Hour))
	history := motion.History{TS: claim.Add(-2 * 3600), Interval: 5000, MACs: []motion.MAC{{2, 0xbb, 0, 0, 0, 1}}}
	for range 3 * 720 {
		history.MKAI, history.Density = append(history.MKAI, 1), append(history.Density, []float64{1})
	}
	history.Count = len(history.Density)
	if err := b.engine.Sensing.Import(t.Context(), b.network, []motion.History{history}, nil); err != nil {
		t.Fatal(err)
	}
	b.update(func(tx *store.Tx) error {
		h, err := tx.Home(b.home)
		if err != nil {
			return err
		}
		h.ClaimedAt = claim
		return tx.PutHome(h)
	})
	got := apitest.Want[answer](t, b.member.ask(http.MethodGet, "/days", ""), http.StatusOK)
	if len(got.Days) == 0 || got.Days[0].TS < float64(claim)-900 {
		t.Errorf("days %+v, claimed at %v", got.Days, claim)
	}
	if got := apitest.Want[answer](t, b.member.ask(http.MethodGet, "/nights", ""), http.StatusOK); got.Enabled || len(got.Nights) != 0 {
		t.Errorf("nights %+v", got)
	}
	apitest.Want[any](t, b.owner.askApp(http.MethodPost, "/sleep_times/settings", `{"enabled":true}`), http.StatusOK)
	if got := apitest.Want[answer](t, b.member.ask(http.MethodGet, "/nights", ""), http.StatusOK); !got.Enabled {
		t.Errorf("nights %+v", got)
	}
}

func TestDemoIsSetInMotionInTheDemoAlone(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.member.refused(http.StatusNotFound, http.MethodPost, "/demo", `{"action":"walk"}`)
	if b.owner.glance().Demo {
		t.Error("no demo is told")
	}
	var walks atomic.Int32
	unplugged := ""
	b.play.Begin(browser.Stage{Walk: func() { walks.Add(1) }, Unplug: func() { unplugged = "Extender" }, Unplugged: func() string { return unplugged }})
	b.member.refused(http.StatusUnprocessableEntity, http.MethodPost, "/demo", `{"action":"burn"}`)
	b.neighbour.refused(http.StatusNotFound, http.MethodPost, "/demo", `{"network_id":1,"action":"walk"}`)
	apitest.Want[any](t, b.member.ask(http.MethodPost, "/demo", `{"action":"walk"}`), http.StatusOK)
	apitest.Want[any](t, b.member.ask(http.MethodPost, "/demo", `{"action":"unplug"}`), http.StatusOK)
	if o := b.owner.glance(); walks.Load() != 1 || !o.Demo || o.Unplugged != "Extender" {
		t.Errorf("%d walks, %+v", walks.Load(), o)
	}
}

// TestUncertainPlaceIsNoMotion: the little that motion elsewhere leaves in a room does not say that
// somebody is there, and no room moves while the home does not.
func TestUncertainPlaceIsNoMotion(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.kitchen("Kitchen")
	now := int64(b.engine.State.Now()) / 60 * 60
	b.claimedAt(motion.Time(now - 7200))
	b.moves(now-3600, now-3540, 0.9)
	b.moves(now-120, now-60, 0.012)
	o := b.member.glance()
	if len(o.Rooms) != 1 {
		t.Fatalf("rooms: %+v", o.Rooms)
	}
	if last := o.Rooms[0].Last; last == nil || *last != float64(now-3600) {
		t.Errorf("the last motion is at %v, want the minute %d", last, now-3600)
	}
	b.moves(now-60, now, 0.9)
	if o := b.member.glance(); o.State == "motion" || o.Rooms[0].State == "motion" || o.Rooms[0].Last == nil || *o.Rooms[0].Last != float64(now-60) {
		t.Errorf("a home that is %s has %+v", o.State, o.Rooms)
	}
}

// TestARoomBesideTheOneInMotionIsQuiet: a room near motion gets a share of it, which is told of that
// room only when it is not much less than that of the room with the most.
func TestARoomBesideTheOneInMotionIsQuiet(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.kitchen("Kitchen")
	tv := motion.MAC{2, 0xbb, 0, 0, 0, 0x32}
	b.leaf(b.network, 0x32, "tv")
	if err := b.engine.Inventory.PlaceLeaf(t.Context(), b.network, tv, "Bedroom", "TV"); err != nil {
		t.Fatal(err)
	}
	now := int64(b.engine.State.Now()) / 60 * 60
	b.claimedAt(motion.Time(now - 7200))
	near := []motion.MAC{speaker, tv}
	b.movesNear(now-3600, now-3540, near, []float64{0.3, 0.5})
	b.movesNear(now-600, now-540, near, []float64{0.7, 0.2})
	last := map[string]float64{}
	for _, r := range b.member.glance().Rooms {
		if r.Last != nil {
			last[r.Name] = *r.Last
		}
	}
	if want := map[string]float64{"Kitchen": float64(now - 600), "Bedroom": float64(now - 3600)}; !maps.Equal(last, want) {
		t.Errorf("last motion %v, want %v", last, want)
	}
}

func TestFirstMotionOfTheDay(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.kitchen("Kitchen")
	now := b.engine.State.Now().Std()
	zone := b.in(fmt.Sprintf("Etc/GMT%+d", now.UTC().Hour()-12)) // it is about noon there
	four := time.Date(now.In(zone).Year(), now.In(zone).Month(), now.In(zone).Day(), 4, 0, 0, 0, zone)
	b.claimedAt(motion.TimeOf(four).Add(-7200))
	first := func() *struct {
		At   float64
		Room string
	} {
		return b.member.glance().First
	}
	b.event(motion.MotionDetectedEvent, motion.TimeOf(four).Add(-1), 0)
	if f := first(); f != nil {
		t.Errorf("of the night: %+v", f)
	}
	for _, after := range []motion.Seconds{3600, 0, 7200} {
		b.event(motion.MotionDetectedEvent, motion.TimeOf(four).Add(after), 0)
	}
	if f := first(); f == nil || f.At != float64(four.Unix()) || f.Room != "Kitchen" {
		t.Errorf("of the day: %+v, want the one at %d", f, four.Unix())
	}
}

// TestMotionBeforeTheClaimDoesNotGoOn: to who claims a home while motion is still taken to go on, it is quiet.
func TestMotionBeforeTheClaimDoesNotGoOn(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	now, guardian := b.engine.State.Now(), b.guardian()
	for step := range 20 {
		report := &motion.Matrix{
			TS: now.Add(-30 + 0.5*float64(step)), Interval: 500, Count: 1, Links: []string{"GWA1000133.02bb00000031"}, MotionEnabled: 1,
			Values: motion.Figures{motion.MKAI: {{0.35}}, motion.LRaw: {{0.4}}},
		}
		if err := b.engine.Report(t.Context(), guardian, report); err != nil {
			t.Fatal(err)
		}
	}
	if o := b.member.glance(); o.State != "motion" || o.Last == nil {
		t.Fatalf("%s, last motion %v: want motion", o.State, o.Last)
	}
	b.claimedAt(now.Add(-5))
	if o := b.member.glance(); o.State != "quiet" || o.Last != nil {
		t.Errorf("%s, last motion %v: those who lived there before moved", o.State, o.Last)
	}
}
