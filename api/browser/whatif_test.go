package browser_test

import (
	"net/http"
	"testing"

	"sensegate/api/apitest"
	"sensegate/motion"
)

// imports stores the motion of the seconds until now: in motion where it says so.
func (b *box) imports(length int, moving func(i int) bool) {
	b.T.Helper()
	from := b.engine.State.Now().Second() - int64(length)
	h := motion.History{TS: motion.Time(from - from%5), Interval: 5000}
	for i := 0; i+5 <= length; i += 5 {
		intensity := 0.0
		if moving(i) {
			intensity = 0.5
		}
		h.MKAI = append(h.MKAI, intensity)
	}
	h.Count = len(h.MKAI)
	if err := b.engine.Sensing.Import(b.T.Context(), b.network, []motion.History{h}, nil); err != nil {
		b.T.Fatal(err)
	}
}

func TestOwnerTriesSettings(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	type answer struct {
		From, To  motion.Time
		Now, Then *int
		Why       string
	}
	ask := func(query string) answer {
		t.Helper()
		return apitest.Want[answer](t, b.owner.ask(http.MethodGet, "/what-if?network_id=1"+query, ""), 200)
	}
	if a := ask("&cooldown=10"); a.Now != nil || a.Then != nil || a.Why != "no_data" {
		t.Errorf("without samples %+v", a)
	}
	// Twenty seconds of motion each two minutes, for half an hour.
	b.imports(1800, func(i int) bool { return i%120 < 20 })
	a := ask("&cooldown=60")
	if a.Now == nil || a.Then == nil || *a.Now != 1 || *a.Then != 15 || a.Why != "" {
		t.Errorf("%+v with a shorter cooldown, want one moment to become 15", a)
	}
	if a := ask("&density_window=600&density_threshold=1"); *a.Now != 1 || *a.Then != 0 {
		t.Errorf("with a window of five minutes in motion %+v, want none", a)
	}
	if a := ask(""); *a.Now != *a.Then || a.To.Since(a.From) > 3700 {
		t.Errorf("without a change %+v, want the same since the claim", a)
	}
	if a := ask("&sensitivity=4"); *a.Now != 1 || a.Then != nil || a.Why != "restarted" {
		t.Errorf("another sensitivity, of what was imported and not judged %+v", a)
	}
	apitest.WantProblem(t, b.owner.ask(http.MethodGet, "/what-if?network_id=1&sensitivity=5", ""), 422, "sensitivity")
	b.install(b.nobody, 3600)
	if got := b.nobody.setUp(http.MethodGet, "/what-if", ""); got.Status != 404 {
		t.Errorf("an installer: %d %s", got.Status, got.Body)
	}
}
