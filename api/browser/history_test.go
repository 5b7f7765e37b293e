package browser_test

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"
	"time"

	"sensegate/api/apitest"
	"sensegate/api/browser"
	"sensegate/motion"
	"sensegate/motion/home"
	"sensegate/store"
)

// speaker is a leaf in the kitchen.
var speaker = motion.MAC{2, 0xbb, 0, 0, 0, 0x31}

// event stores an event of motion near the speaker.
func (b *box) event(kind string, at, detected motion.Time) (stored motion.Event) {
	b.T.Helper()
	e := motion.Event{
		NetworkID: b.network, Event: kind, TS: at, DetectedTS: detected, LocName: "Kitchen", LinkID: "GWA0110.02bb00000031",
		Loc: []motion.EventLoc{{MAC: speaker.String(), Location: "Kitchen", Confidence: 0.8}},
	}
	if kind == motion.MotionStoppedEvent {
		e.Debug = &motion.EventDebug{Links: []string{"X.02bb00000032", e.LinkID}, MSAD: []float64{90, 187.22}, MConf: []float64{80, 80}}
	}
	b.update(func(tx *store.Tx) (err error) {
		stored, _, err = tx.AddEvent(e, "")
		return err
	})
	return stored
}

// claimedAt moves the claim of the home.
func (b *box) claimedAt(at motion.Time) {
	b.T.Helper()
	b.update(func(tx *store.Tx) error {
		h, err := tx.Home(b.home)
		h.ClaimedAt = at
		if err != nil {
			return err
		}
		return tx.PutHome(h)
	})
}

// in sets the zone of the home.
func (b *box) in(zone string) *time.Location {
	b.T.Helper()
	b.update(func(tx *store.Tx) error {
		s := motion.DefaultApplicationSettings(b.network)
		s.Timezone = zone
		return tx.PutApplicationSettings(s)
	})
	place, err := time.LoadLocation(zone)
	if err != nil {
		b.T.Fatal(err)
	}
	return place
}

// moves puts motion near the speaker in [from, to).
func (b *box) moves(from, to int64, share float64) {
	b.T.Helper()
	b.movesNear(from, to, []motion.MAC{speaker}, []float64{share})
}

// movesNear has motion near devices.
func (b *box) movesNear(from, to int64, devices []motion.MAC, shares []float64) {
	b.T.Helper()
	r := motion.History{TS: motion.Time(from), Interval: 5000, Count: int(to-from) / 5, MACs: devices}
	for range r.Count {
		r.MKAI, r.Density = append(r.MKAI, 0.5), append(r.Density, shares)
	}
	if err := b.engine.Sensing.Import(b.T.Context(), b.network, []motion.History{r}, nil); err != nil {
		b.T.Fatal(err)
	}
}

// kitchen places the speaker.
func (b *box) kitchen(name string) {
	b.T.Helper()
	if err := b.engine.Inventory.PlaceLeaf(b.T.Context(), b.network, speaker, name, "Speaker"); err != nil {
		b.T.Fatal(err)
	}
}

func TestHistoryLadder(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	of := fmt.Sprintf("network_id=%d", b.home)
	for path, query := range map[string]string{"/rooms/history": "", "/moments": "&from=1764000000"} {
		apitest.WantProblem(t, b.neighbour.ask(http.MethodGet, path+"?"+of+query, ""), 404, "")
		apitest.WantProblem(t, b.nobody.ask(http.MethodGet, path+"?"+query, ""), 404, "")
		apitest.Want[any](t, b.member.ask(http.MethodGet, path+"?"+of+query, ""), 200)
	}
	for query, says := range map[string]string{
		"day=yesterday": "query.day", "day=2025-02-30": "query.day", "span=year": "query.span",
		"day=0001-01-01": "query.day", "day=1969-12-31": "query.day", "day=2101-01-01": "query.day", "day=9999-12-31": "query.day",
	} {
		if a := b.member.ask(http.MethodGet, "/rooms/history?"+query, ""); a.Status != 400 && a.Status != 422 {
			t.Errorf("%s: %d, want a problem with %s", query, a.Status, says)
		}
	}
	for _, day := range []string{"1970-01-01", "2011-12-30", "2100-12-31"} {
		for _, span := range []string{"day", "week", "month"} {
			apitest.Want[browser.History](t, b.member.ask(http.MethodGet, "/rooms/history?day="+day+"&span="+span, ""), 200)
		}
	}
	b.in("Pacific/Apia") // left out a day
	b.kitchen("Kitchen")
	if h := apitest.Want[browser.History](t, b.member.ask(http.MethodGet, "/rooms/history?day=2011-12-30", ""), 200); len(h.Days) != 0 || len(h.Rooms) != 0 {
		t.Errorf("a day that was left out: %+v", h)
	}
	for _, query := range []string{"", "from=-1", "from=NaN", "from=0&to=99999999", "from=9&to=8", "from=1&last=201", "from=1&last=0", "from=1&after=x"} {
		if a := b.member.ask(http.MethodGet, "/moments?"+query, ""); a.Status != 400 && a.Status != 422 {
			t.Errorf("moments?%s: %d %s", query, a.Status, a.Body)
		}
	}
	apitest.Want[any](t, b.member.ask(http.MethodGet, "/moments?from=1e300&to=1e300", ""), 200)
	apitest.WantProblem(t, b.member.ask(http.MethodGet, "/moments/none", ""), 404, "not found")
}

// historyOf asks for the history of the home.
func (b *box) historyOf(query string) browser.History {
	b.T.Helper()
	return apitest.Want[browser.History](b.T, b.member.ask(http.MethodGet, "/rooms/history?"+query, ""), 200)
}

func known(values []*float64) (n int) {
	for _, v := range values {
		if v != nil {
			n++
		}
	}
	return n
}

// TestDaysAreThoseOfTheHome: with 23 and 25 hours, and weeks and months over them.
func TestDaysAreThoseOfTheHome(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	zone := b.in("Europe/Berlin")
	for day, steps := range map[string]int{"2025-03-30": 92, "2025-10-26": 100, "2025-11-24": 96} {
		h := b.historyOf("day=" + day)
		start, err := time.ParseInLocation(time.DateOnly, day, zone)
		if err != nil || len(h.Days) != 1 || h.Days[0].Start != start.Unix() || h.Days[0].Length != int64(steps)*900 || len(h.Days[0].Values) != steps {
			t.Errorf("%s: %+v, want %d steps from %d", day, h.Days, steps, start.Unix())
		}
	}
	week := b.historyOf("day=2025-10-26&span=week") // a Sunday
	if len(week.Days) != 7 || week.Days[0].Date.String() != "2025-10-20" || len(week.Days[6].Values) != 100 {
		t.Errorf("week from %v with %d days, want seven from Monday", week.Days[0].Date, len(week.Days))
	}
	for day, n := range map[string]int{"2024-02-11": 29, "2025-02-28": 28, "2025-12-31": 31} {
		month := b.historyOf("span=month&day=" + day)
		if len(month.Days) != n || month.Days[0].Date.String() != day[:8]+"01" || len(month.Days[0].Values) != 0 {
			t.Errorf("month of %s: %d days from %v, want %d from its first", day, len(month.Days), month.Days[0].Date, n)
		}
	}
}

func TestHistoryTellsWhereMotionWas(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.kitchen("Kitchen")
	now := b.engine.State.Now().Second()
	at := now/900*900 - 3*86400
	b.claimedAt(motion.Time(at - 900*2))
	b.moves(at-900*4, at+900*2, 0.5)
	zone := time.UTC
	day := time.Unix(at, 0).In(zone)
	query := "day=" + day.Format(time.DateOnly)
	slot := (at - time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, zone).Unix()) / 900
	b.in("UTC")
	h := b.historyOf(query)
	if len(h.Rooms) != 1 || h.Rooms[0].Name != "Kitchen" || len(h.Rooms[0].Values) != 96 {
		t.Fatalf("rooms %+v, want the kitchen", h.Rooms)
	}
	if room, whole := h.Rooms[0].Values[slot], h.Days[0].Values[slot]; room == nil || *room != 50 || whole == nil || *whole != 100 {
		t.Errorf("at %d: room %v, whole %v, want 50 and 100", slot, room, whole)
	}
	week := b.historyOf(query + "&span=week")
	total := 0
	for _, d := range week.Days {
		total += known(d.Values)
	}
	if len(week.Rooms) != 0 || total > 4 {
		t.Errorf("%d values are known, want none of before the claim: at most 4", total)
	}
	kitchen := b.historyOf(query + "&span=week&room=Kitchen")
	for i, d := range kitchen.Days {
		for k, v := range d.Values {
			if whole := week.Days[i].Values[k]; (v == nil) != (whole == nil) || v != nil && *v != 50 {
				t.Errorf("day %d, step %d: kitchen %v, whole %v", i, k, v, whole)
			}
		}
	}
	if m := b.historyOf(query + "&span=month&room=Kitchen"); m.Days[day.Day()-1].Mean == nil || *m.Days[day.Day()-1].Mean != 50 {
		t.Errorf("month: %v, want a mean of 50", m.Days[day.Day()-1].Mean)
	}
	if none := b.historyOf(query + "&room=" + url.QueryEscape("Küche & Flur")); known(none.Days[0].Values) != 0 {
		t.Errorf("a room that is none: %+v", none)
	}
}

// momentsOf asks for moments.
func (b *box) momentsOf(who *tab, query string) (list struct {
	Moments []browser.Moment
	Next    string
}) {
	b.T.Helper()
	return apitest.Want[struct {
		Moments []browser.Moment
		Next    string
	}](b.T, who.ask(http.MethodGet, "/moments?"+query, ""), 200)
}

func TestMomentsOfAWindow(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	base := b.engine.State.Now() - 3000
	var ids []string
	for i := range 5 {
		at := base + motion.Time(i*100)
		ids = append(ids, b.event(motion.MotionDetectedEvent, at, 0).ID)
		if i < 4 {
			b.event(motion.MotionStoppedEvent, at+60, at)
		}
	}
	window := func(from, to motion.Time, more string) string {
		return fmt.Sprintf("from=%f&to=%f%s", float64(from), float64(to), more)
	}
	all := b.momentsOf(b.member, window(base, base+1000, ""))
	if len(all.Moments) != 5 || all.Next != "" || all.Moments[0].ID != ids[4] || all.Moments[0].End != nil || all.Moments[0].Ended != "unknown" {
		t.Errorf("moments %+v, want five, the newest with an end that is not known", all)
	}
	if m := all.Moments[1]; m.Room != "Kitchen" || m.End == nil || m.Ended != "quiet" || m.End.Since(m.Start) < 59 {
		t.Errorf("moment %+v, want a minute in the kitchen", m)
	}
	if list := b.momentsOf(b.member, window(base+130, base+150, "")).Moments; len(list) != 1 || list[0].ID != ids[1] {
		t.Errorf("moments %+v, want the one that reaches into the window", list)
	}
	if list := b.momentsOf(b.member, window(base+170, base+180, "")).Moments; len(list) != 0 {
		t.Errorf("moments %+v, want none between two", list)
	}
	if list := b.momentsOf(b.member, window(base, base+1000, "&room=Hall")).Moments; len(list) != 0 {
		t.Errorf("moments %+v in the hall, want none", list)
	}
	var paged []string
	for next := ""; ; {
		page := b.momentsOf(b.member, window(base, base+1000, "&last=2&room=Kitchen&after="+next))
		for _, m := range page.Moments {
			paged = append(paged, m.ID)
		}
		if next = page.Next; next == "" {
			break
		}
	}
	if fmt.Sprint(paged) != fmt.Sprint([]string{ids[4], ids[3], ids[2], ids[1], ids[0]}) {
		t.Errorf("pages %v, want %v backwards", paged, ids)
	}
}

// TestMomentTellsWhy: by what it was noticed, in the words of the home; a tag is kept.
func TestMomentTellsWhy(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.kitchen("Kitchen")
	at := b.engine.State.Now() - 3000
	b.moves(at.Second()/900*900-900, at.Second()/900*900+1800, 0.5)
	id := b.event(motion.MotionDetectedEvent, at, 0).ID
	b.event(motion.MotionStoppedEvent, at+60, at)
	ask := func() browser.Why {
		t.Helper()
		return apitest.Want[browser.Why](t, b.member.ask(http.MethodGet, "/moments/"+id, ""), 200)
	}
	w := ask()
	if w.Moment.ID != id || w.Moment.Room != "Kitchen" || w.Moment.Tag != "" || len(w.Places) != 1 || w.Places[0].Room != "Kitchen" {
		t.Errorf("why %+v", w)
	}
	if len(w.Links) != 2 || w.Links[0].From.Name != "Speaker" || w.Links[0].From.Room != "Kitchen" || w.Links[0].To.Name != "GWA0110" || *w.Links[0].Score != 187.22 {
		t.Errorf("links %+v, want that of the speaker first, by its name", w.Links)
	}
	if w.Links[1].From.Name != "02bb00000032" {
		t.Errorf("a device that is not known is called %q", w.Links[1].From.Name)
	}
	if n := known(w.Intensity.Values); n < 10 || w.Intensity.From > at.Second() {
		t.Errorf("intensity %+v, want values from before", w.Intensity)
	}
	apitest.Want[any](t, b.member.askApp(http.MethodPost, "/event_tag", `{"eventid":"`+id+`","tag":"Pet"}`), 200)
	b.kitchen("Scullery") // renamed meanwhile
	if w = ask(); w.Moment.Tag != "Pet" || w.Moment.Room != "Scullery" || w.Places[0].Room != "Scullery" {
		t.Errorf("moment %+v, want its tag and the new name of its room", w.Moment)
	}
}

// TestMomentsOfAFormerOwnerAreNotServed: nor those of another home.
func TestMomentsOfAFormerOwnerAreNotServed(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	at := b.engine.State.Now() - 3000
	id := b.event(motion.MotionDetectedEvent, at, 0).ID
	b.event(motion.MotionStoppedEvent, at+600, at)
	b.update(func(tx *store.Tx) error {
		_, err := tx.CreateMembership(home.Membership{Role: home.MemberRole, User: b.member.ID, Home: b.other})
		return err
	})
	apitest.Want[any](t, b.member.ask(http.MethodGet, "/moments/"+id, ""), 200)
	apitest.WantProblem(t, b.member.ask(http.MethodGet, fmt.Sprintf("/moments/%s?network_id=%d", id, b.other), ""), 404, "not found")
	b.claimedAt(at + 300) // between its beginning and its end
	apitest.WantProblem(t, b.owner.ask(http.MethodGet, "/moments/"+id, ""), 404, "not found")
	query := fmt.Sprintf("from=%f", float64(at-100))
	if list := b.momentsOf(b.owner, query).Moments; len(list) != 0 {
		t.Errorf("moments %+v, want none of before the claim", list)
	}
	if list := b.momentsOf(b.owner, query+"&to="+fmt.Sprintf("%f", float64(at+400))).Moments; len(list) != 0 {
		t.Errorf("moments %+v, want none of before the claim", list)
	}
	b.update(func(tx *store.Tx) error {
		_, err := tx.DeleteEventsBefore(at+1, 10)
		return err
	})
	b.claimedAt(at - 100)
	apitest.WantProblem(t, b.owner.ask(http.MethodGet, "/moments/"+id, ""), 404, "not found")
}
