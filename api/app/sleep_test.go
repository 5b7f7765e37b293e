package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"sensegate/api/apitest"
	"sensegate/motion"
	"sensegate/motion/engine"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

const day = 24 * 3600

func decode(t testing.TB, raw []byte, value any) {
	t.Helper()
	if err := json.Unmarshal(raw, value); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
}

func TestSleepSettingsLadder(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	const path = "/sleep_times/settings"
	of := fmt.Sprintf("%s?network_id=%d", path, h.home)
	body := `{"enabled":true,"sleep_hour":22,"sleep_minute":30,"wake_hour":6,"wake_minute":45}`
	h.climb(http.MethodGet,
		step{"no token", person{}, of, "", 401, ""},
		step{"no network", h.nobody, path, "", 404, ""},
		step{"foreign network", h.neighbour, of, "", 404, ""},
		step{"malformed", h.member, path + "?network_id=%zz", "", 400, ""},
		step{"malformed", h.member, path + "?network_id=x", "", 400, "network_id"},
		step{"right", h.member, path, "", 200, `"enabled":false`},
	)
	h.climb(http.MethodPost,
		step{"no token", person{}, of, body, 401, ""},
		step{"foreign network", h.neighbour, of, body, 404, ""},
		step{"no owner", h.member, path, body, 403, "owner"},
		step{"malformed", h.owner, path, `{"enabled"`, 400, ""},
		step{"all mistakes", h.owner, path, `{"sleep_hour":24,"wake_minute":60}`, 422, "body.sleep_hour"},
		step{"all mistakes", h.owner, path, `{"sleep_hour":24,"wake_minute":60}`, 422, "body.wake_minute"},
		step{"all mistakes", h.owner, path, `{"sleep_hour":24,"wake_minute":60}`, 422, "enabled"},
		step{"right", h.owner, of, body, 200, `"sleep_hour":22`},
	)
	form := "enabled=true&sleep_hour=21&wake_hour=5&network_id=" + fmt.Sprint(h.home)
	a := h.Send(h.owner.token, http.MethodPost, path, "application/x-www-form-urlencoded", form)
	apitest.WantJSON(t, a, `{"enabled":true,"sleep_hour":21,"sleep_minute":30,"wake_hour":5,"wake_minute":45}`)
	apitest.WantJSON(t, h.as(h.member, http.MethodGet, path, ""), `{"enabled":true,"sleep_hour":21,"sleep_minute":30,"wake_hour":5,"wake_minute":45}`)
}

// stored returns the application settings of the first home's network, which are the
// same record, and whether there are some.
func (h *household) stored() (motion.ApplicationSettings, bool) {
	h.T.Helper()
	s, err := h.engine.Insights.ApplicationSettings(h.T.Context(), h.network)
	if err != nil && fault.KindOf(err) != fault.NotFound {
		h.T.Fatal(err)
	}
	return s, err == nil
}

func TestSleepSettingsAreKeptFromTheFirstTimeTheyAreEnabled(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	set := func(body, exact string) {
		t.Helper()
		apitest.WantJSON(t, h.as(h.owner, http.MethodPost, "/sleep_times/settings", body), exact)
		apitest.WantJSON(t, h.as(h.member, http.MethodGet, "/sleep_times/settings", ""), exact)
	}
	const template = `{"enabled":false,"sleep_hour":23,"sleep_minute":0,"wake_hour":7,"wake_minute":0}`
	set(`{"enabled":false,"sleep_hour":20}`, template)
	if s, there := h.stored(); there {
		t.Errorf("stored %+v before it is enabled", s)
	}
	err := h.engine.Insights.CreateApplicationSettings(t.Context(), motion.ApplicationSettings{NetworkID: h.network, Timezone: "America/Toronto", SleepHour: 23, WakeHour: 7})
	if err != nil {
		t.Fatal(err)
	}
	set(`{"enabled":false,"sleep_hour":20}`, template)
	set(`{"enabled":true,"sleep_hour":20}`, `{"enabled":true,"sleep_hour":20,"sleep_minute":0,"wake_hour":7,"wake_minute":0}`)
	set(`{"enabled":false,"wake_minute":30}`, `{"enabled":false,"sleep_hour":20,"sleep_minute":0,"wake_hour":7,"wake_minute":30}`)
	want := motion.ApplicationSettings{NetworkID: h.network, Timezone: "America/Toronto", SleepHour: 20, WakeHour: 7, WakeMinute: 30}
	if s, _ := h.stored(); s != want {
		t.Errorf("stored %+v, want %+v", s, want)
	}
}

func TestInsightLadder(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	for _, c := range []struct{ path, invalid, says string }{
		{"/sleep_times/data/6", "/sleep_times/data/32", "path.queried_days"},
		{"/sleep_times/data/31", "/sleep_times/data/0", "path.queried_days"},
		{"/activity/92", "/activity/93", "path.queried_days"},
		{"/activity/7", "/activity/week", "path.queried_days"},
		{"/insights/v2/activity", "/insights/v2/activity?start_time=0&end_time=7948801", "92 days"},
		{"/insights/v2/activity?start_time=1764000000&end_time=1764000900&flattened=true", "/insights/v2/activity?start_time=2&end_time=1", "query.start_time"},
	} {
		of := c.path + "?network_id=" + fmt.Sprint(h.home)
		if strings.Contains(c.path, "?") {
			of = c.path + "&network_id=" + fmt.Sprint(h.home)
		}
		h.climb(http.MethodGet,
			step{"no token", person{}, of, "", 401, ""},
			step{"no network", h.nobody, c.path, "", 404, ""},
			step{"foreign network", h.neighbour, of, "", 404, ""},
			step{"malformed", h.member, of + "&x=%zz", "", 400, ""},
			step{"invalid", h.member, c.invalid, "", 422, c.says},
			step{"right", h.member, of, "", 200, "first_bucket"},
		)
	}
}

func TestInsightsCanBeSwitchedOff(t *testing.T) {
	t.Parallel()
	h := newHousehold(t, func(_ *store.Options, o *engine.Options) { o.WithoutInsights = true })
	h.climb(http.MethodGet,
		step{"sleep data", h.member, "/sleep_times/data/6", "", 404, "insights are not enabled"},
		step{"activity", h.member, "/insights/v2/activity", "", 404, "insights are not enabled"},
		step{"recent activity", h.member, "/activity/7", "", 404, "insights are not enabled"},
		step{"settings", h.member, "/sleep_times/settings", "", 200, ""},
	)
}

// sleepAnswer is an answer of sleep_times/data.
type sleepAnswer struct {
	Sleep         *float64 `json:"avg_sleep_time_s"`
	Wake          *float64 `json:"avg_wake_time_s"`
	Interruptions *float64 `json:"average_interruptions"`
	Duration      *float64 `json:"duration_avg_s"`
	Days          int      `json:"queried_days"`
	MotionState   struct {
		FirstBucket int64 `json:"first_bucket"`
		Interval    int64
		Data        []*float64
	} `json:"motion_state"`
}

// enableSleep has the household's nights looked at, by the hours of the template.
func (h *household) enableSleep(enabled bool) {
	h.T.Helper()
	body := fmt.Sprintf(`{"enabled":%t}`, enabled)
	apitest.Want[map[string]any](h.T, h.as(h.owner, http.MethodPost, "/sleep_times/settings", body), 200)
}

// midnight returns the start of the day, UTC, that is so many before today.
func (h *household) midnight(before int64) int64 {
	return h.engine.State.Now().Second()/day*day - before*day
}

// sleeps puts an evening and a night in the history, which ends at wake: up to sleep
// there is motion for four hours, and after wake for one.
func (h *household) sleeps(sleep, wake int64) {
	h.T.Helper()
	h.imports(sleep-4*3600, sleep, moving)
	h.imports(sleep, wake, still)
	h.imports(wake, wake+3600, moving)
}

func TestSleepDataAreTheMeansOfTheNights(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.claimedAfter(-10 * day)
	none := apitest.Want[sleepAnswer](t, h.as(h.member, http.MethodGet, "/sleep_times/data/3", ""), 200)
	if none.Sleep != nil || none.Wake != nil || none.Interruptions != nil || none.Duration != nil || none.Days != 3 {
		t.Errorf("no night: %+v", none)
	}
	h.sleeps(h.midnight(3)+23*3600+600, h.midnight(2)+6*3600) // 23:10 to 6:00
	h.sleeps(h.midnight(1)+1200, h.midnight(1)+7*3600)        // 0:20 to 7:00
	off := apitest.Want[sleepAnswer](t, h.as(h.member, http.MethodGet, "/sleep_times/data/3", ""), 200)
	if off.Sleep != nil || off.Wake != nil || off.Interruptions != nil || off.Duration != nil || off.MotionState.FirstBucket != h.midnight(3) {
		t.Errorf("not enabled: %+v", off)
	}
	h.enableSleep(true)
	got := apitest.Want[sleepAnswer](t, h.as(h.member, http.MethodGet, "/sleep_times/data/3", ""), 200)
	if got.Sleep == nil || *got.Sleep != 23*3600+2700 || *got.Wake != 6*3600+1800 || *got.Interruptions != 0 || *got.Duration != 6*3600+2700 {
		t.Errorf("two nights: %+v", got)
	}
	if got.MotionState.FirstBucket != h.midnight(3) || got.MotionState.Interval != 900 {
		t.Errorf("motion state: %+v", got.MotionState)
	}
}

func TestNextHouseholdSeesNoHabitOfTheFirst(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.claimedAfter(-10 * day)
	h.enableSleep(true)
	h.sleeps(h.midnight(3)+23*3600, h.midnight(2)+6*3600)
	type activity struct {
		FirstBucket int64      `json:"first_bucket"`
		Data        []*float64 `json:"data"`
	}
	ask := func() (sleepAnswer, []activity) {
		t.Helper()
		var activities []activity
		for _, path := range []string{"/activity/3", fmt.Sprintf("/insights/v2/activity?flattened=true&start_time=%d", h.midnight(3))} {
			activities = append(activities, apitest.Want[activity](t, h.as(h.owner, http.MethodGet, path, ""), 200))
		}
		return apitest.Want[sleepAnswer](t, h.as(h.owner, http.MethodGet, "/sleep_times/data/3", ""), 200), activities
	}
	sleep, activities := ask()
	if sleep.Sleep == nil || activities[0].FirstBucket != h.midnight(3) || len(activities[0].Data) != len(activities[1].Data) {
		t.Errorf("the first household: %+v %+v", sleep, activities)
	}
	const claimed = 2*3600 + 60 // of the night
	h.claimedAfter(motion.Time(h.midnight(2) + claimed).Since(h.engine.State.Now()))
	sleep, activities = ask()
	if sleep.Sleep != nil || sleep.MotionState.FirstBucket != h.midnight(2)+2*3600 {
		t.Errorf("the second household's sleep: %+v", sleep)
	}
	for _, a := range activities {
		if a.FirstBucket != h.midnight(2)+2*3600 || a.Data[0] == nil || *a.Data[0] != 0 {
			t.Errorf("the second household's activity begins at %d: %v", a.FirstBucket, a.Data[:1])
		}
	}
	h.claimedAfter(10)
	if _, activities = ask(); len(activities[0].Data)+len(activities[1].Data) > 0 {
		t.Errorf("claimed in the future: %+v", activities)
	}
}

func TestMotionStateFollowsTheScene(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.claimedAfter(-2 * day)
	h.update(func(tx *store.Tx) error {
		one, err := tx.Home(h.home)
		if err != nil {
			return err
		}
		one.Scene = home.Away
		return tx.PutHome(one)
	})
	for deadline := time.Now().Add(time.Minute); ; { // until most of what is known of the bucket is away
		got := apitest.Want[sleepAnswer](t, h.as(h.member, http.MethodGet, "/sleep_times/data/1", ""), 200)
		data := got.MotionState.Data
		if data[0] != nil {
			t.Fatalf("before the home was there: %v, want null", *data[0])
		}
		if last := data[len(data)-1]; last != nil && *last == 1 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%+v", got.MotionState)
		}
	}
}
