package core_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the zones of these tests, wherever they run

	"sensegate/api/apitest"
	"sensegate/motion"
	"sensegate/motion/engine"
	"sensegate/motion/engine/insights"
)

// What the home does at a second, as motion-history tells it.
const (
	still  = 0.0
	moving = 0.5
)

// toronto returns the second of a wall time in America/Toronto; of one that clocks
// show twice the first.
func toronto(t testing.TB, text string) int64 {
	t.Helper()
	zone, err := insights.LoadZone("America/Toronto")
	if err != nil {
		t.Fatal(err)
	}
	at, err := time.ParseInLocation("2006-01-02 15:04", text, zone)
	if err != nil {
		t.Fatal(err)
	}
	return at.Unix()
}

// imports puts [from, to) of one intensity in the history of the first network,
// where nothing is held yet, with these shares of it near devices.
func (h *home) imports(from, to int64, intensity float64, shares ...share) {
	h.T.Helper()
	r := motion.History{TS: motion.Time(from), Interval: 5000, Count: int(to-from) / 5}
	near := make([]float64, len(shares))
	for i, s := range shares {
		r.MACs = append(r.MACs, s.mac)
		near[i] = s.of
	}
	for range r.Count {
		r.MKAI = append(r.MKAI, intensity)
		r.Density = append(r.Density, near)
	}
	if err := h.engine.Sensing.Import(h.T.Context(), h.network, []motion.History{r}, nil); err != nil {
		h.T.Fatal(err)
	}
}

// share is how much of the motion is near a device, 0 to 1.
type share struct {
	mac motion.MAC
	of  float64
}

// insights asks the insights of the first network.
func (h *home) insights(question string) apitest.Answer {
	h.T.Helper()
	return h.get(fmt.Sprintf("/insights/v2/%d/%s", h.network, question))
}

func TestActivityIsTheShareOfSamplesInMotion(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	const start = 1763960400 // midnight of 2025-11-24 in Toronto
	h.imports(start-900, start, still)
	h.imports(start, start+450, moving)
	h.imports(start+450, start+900, still)
	h.imports(start+1800, start+1890, moving) // of what is known of it, all
	path := fmt.Sprintf("activity?start_time=%d&end_time=%d", start-900, start+3600)
	apitest.WantJSON(t, h.insights(path+"&flattened=true"), fmt.Sprintf(`{"first_bucket":%d,"interval":900,"data":[0,0.5,null,1,null]}`, start-900))
	days := `{"first_bucket":1763959500,"interval":900,"data":[
		{"date":"2025-11-23","ts":1763959500,"values":[0]},{"date":"2025-11-24","ts":1763960400,"values":[0.5,null,1,null]}]}`
	utc := `{"first_bucket":1763959500,"interval":900,"data":[{"date":"2025-11-24","ts":1763959500,"values":[0,0.5,null,1,null]}]}`
	apitest.WantJSON(t, h.insights(path+"&timezone=America/Toronto"), days)
	apitest.WantJSON(t, h.insights(path), utc)
	h.setSettings(true) // America/Toronto
	apitest.WantJSON(t, h.insights(path), days)
	apitest.WantJSON(t, h.insights(path+"&timezone=UTC"), utc)
	apitest.WantJSON(t, h.insights(fmt.Sprintf("activity?start_time=%d&end_time=%d", start, start)), fmt.Sprintf(`{"first_bucket":%d,"interval":900,"data":[]}`, start))
}

func TestActivityOfTheLastDayIsTheDefault(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	type flat struct {
		First int64      `json:"first_bucket"`
		Data  []*float64 `json:"data"`
	}
	a := apitest.Want[flat](t, h.insights("activity?flattened=true"), 200)
	if age := h.engine.State.Now().Second() - a.First; len(a.Data) < 96 || len(a.Data) > 97 || age < 86400 || age > 86400+900 || a.Data[0] != nil {
		t.Errorf("%d values from %d s ago", len(a.Data), age)
	}
}

func TestActivityIsReadInPartsWithoutASeam(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	start := toronto(t, "2025-11-01 00:10")
	h.imports(start, start+300, moving)
	h.imports(start+7*86400-600, start+7*86400+600, moving)
	h.imports(start+16*86400, start+16*86400+300, still)
	type flat struct {
		Data []*float64 `json:"data"`
	}
	a := apitest.Want[flat](t, h.insights(fmt.Sprintf("activity?start_time=%d&end_time=%d&flattened=true", start, start+16*86400+300)), 200)
	known := map[int]float64{0: 1, 7 * 96: 1, 7*96 + 1: 1, 16 * 96: 0}
	for i, v := range a.Data {
		if value, ok := known[i]; ok != (v != nil) || ok && *v != value {
			t.Errorf("value %d is %v, want %v %t", i, v, value, ok)
		}
	}
	if len(a.Data) != 16*96+1 {
		t.Errorf("%d values", len(a.Data))
	}
}

func TestDaysAreAsLongAsClocksMakeThem(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.setSettings(true)
	for _, c := range []struct {
		name, day, next string
		quarters        int
		moving          int64 // minutes: 10 % of the day
	}{
		{"clocks back", "2025-11-02", "2025-11-03", 100, 150},
		{"clocks forward", "2025-03-09", "2025-03-10", 92, 138},
		{"clocks left alone", "2025-11-23", "2025-11-24", 96, 144},
	} {
		start, end := toronto(t, c.day+" 00:00"), toronto(t, c.next+" 00:00")
		h.imports(end-c.moving*60, end, moving)
		h.imports(start, end, still)
		day := fmt.Sprintf(`[{"date":%q,"percent_active":10,"ts":%d}]`, c.day, start)
		apitest.WantJSON(t, h.insights("activity/daily?start_date="+c.day+"&end_date="+c.next), day)
		apitest.WantJSON(t, h.insights("activity/daily?start_date="+c.day+"&end_date="+c.day+"&timezone=America/New_York"), day)
		type byDay struct {
			Data []struct {
				Date   string
				Values []*float64
			}
		}
		a := apitest.Want[byDay](t, h.insights(fmt.Sprintf("activity?start_time=%d&end_time=%d", start, end+900)), 200)
		if len(a.Data) != 2 || a.Data[0].Date != c.day || len(a.Data[0].Values) != c.quarters || len(a.Data[1].Values) != 1 {
			t.Errorf("%s: %+v", c.name, a)
		}
	}
}

func TestDailyActivityReadsManyWeeks(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	start := toronto(t, "2025-08-20 12:00")
	for day := range int64(3) {
		h.imports(start+day*40*86400, start+day*40*86400+600, moving)
	}
	apitest.WantJSON(t, h.insights("activity/daily?start_date=2025-08-20&end_date=2025-11-19"), `[
		{"date":"2025-08-20","percent_active":100,"ts":1755648000},{"date":"2025-09-29","percent_active":100,"ts":1759104000},
		{"date":"2025-11-08","percent_active":100,"ts":1762560000}]`)
}

func TestNightIsTheQuietTimeOfTheHousehold(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	at := func(text string) int64 { return toronto(t, text) }
	h.imports(at("2025-11-01 19:00"), at("2025-11-01 23:10"), moving)
	h.imports(at("2025-11-02 03:00"), at("2025-11-02 03:05"), moving)
	h.imports(at("2025-11-02 06:20"), at("2025-11-02 11:00"), moving)
	h.imports(at("2025-11-01 19:00"), at("2025-11-02 11:00"), still) // clocks go back at 02:00
	question := "sleep?start_date=2025-11-01&end_date=2025-11-02"
	night := func(sleep, wake, zone string, interruptions float64) {
		t.Helper()
		nights := apitest.Want[[]map[string]any](t, h.insights(question), 200)
		if len(nights) != 1 {
			t.Fatalf("%s: nights %v", question, nights)
		}
		n := nights[0]
		sure, _ := n["confidence"].(float64)
		if n["sleep_time"] != sleep || n["wake_time"] != wake || n["timezone"] != zone || n["hst_interruptions"] != interruptions || sure < 0.5 || len(n) != 5 {
			t.Errorf("%s: %v, want %s to %s in %s with %v interruptions", question, n, sleep, wake, zone, interruptions)
		}
	}
	apitest.WantJSON(t, h.insights(question), "[]") // no settings: not enabled
	h.setSettings(true)
	apitest.WantJSON(t, h.insights(question), "[]") // they are as in the template: not enabled
	enable := func(enabled bool) {
		t.Helper()
		apitest.Want[map[string]any](t, h.As(h.all, "PATCH", h.settings(), fmt.Sprintf(`{"enabled":%t}`, enabled)), 200)
	}
	enable(true)
	night("2025-11-01T23:10:00-04:00", "2025-11-02T06:20:00-05:00", "America/Toronto", 1)
	question += "&timezone=America/New_York"
	night("2025-11-01T23:10:00-04:00", "2025-11-02T06:20:00-05:00", "America/New_York", 1)
	enable(false)
	apitest.WantJSON(t, h.insights(question), "[]")
	enable(true)

	apitest.Want[map[string]any](t, h.As(h.all, "PATCH", h.settings(), `{"sleep_hour":9,"wake_hour":17}`), 200)
	apitest.WantJSON(t, h.insights(question), "[]") // who sleeps by day was up, and is away afterwards
	apitest.WantJSON(t, h.insights("sleep?start_date=2025-11-10&end_date=2025-11-30"), "[]")
}

func TestWarmUpTellsNothing(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	now := h.engine.State.Now().Second() / 60 * 60
	today := func(seconds int64) string { return time.Unix(now-seconds, 0).UTC().Format(time.DateOnly) }
	question := "activity/daily?start_date=" + today(3*3600) + "&end_date=" + today(0)
	days := func() int { t.Helper(); return len(apitest.Want[[]any](t, h.insights(question), 200)) }
	if n := days(); n != 0 {
		t.Errorf("%d days without any data", n)
	}
	h.imports(now-3600, now, still)
	if n := days(); n != 0 {
		t.Errorf("%d days after 1 h", n)
	}
	h.imports(now-3*3600, now-3600, still)
	if n := days(); n == 0 {
		t.Error("no day after 3 h of data")
	}
}

func TestNetworkThatWasAwayIsWarm(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	now := h.engine.State.Now().Second() / 60 * 60
	h.imports(now-3*86400, now-3*86400+60, still)
	h.imports(now-1800, now, still)
	date := time.Unix(now-1800, 0).UTC().Format(time.DateOnly)
	if days := apitest.Want[[]any](t, h.insights("activity/daily?start_date="+date+"&end_date="+date), 200); len(days) != 1 {
		t.Errorf("days %v, want the present one", days)
	}
}

func TestInsightsNameEveryMistake(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for _, operation := range []string{"sleep", "activity/daily"} {
		a := h.insights(operation + "?start_date=yesterday&end_date=2025-02-29&timezone=Mars/Olympus")
		for _, parameter := range []string{"query.start_date", "query.end_date", "query.timezone"} {
			apitest.WantProblem(t, a, 422, parameter)
		}
		apitest.WantProblem(t, h.insights(operation), 422, "query.end_date")
		apitest.WantProblem(t, h.insights(operation+"?start_date=2025-11-24&end_date=2025-11-23"), 422, "must not be before start_date")
		apitest.WantProblem(t, h.insights(operation+"?start_date=0001-01-01&end_date=9999-12-31"), 422, "query.end_date")
		for _, extreme := range []string{"0001-01-01", "1969-12-31", "2106-02-07", "9999-12-31"} {
			apitest.WantJSON(t, h.insights(operation+"?start_date="+extreme+"&end_date="+extreme+"&timezone=Pacific/Auckland"), "[]")
		}
	}
	for path, status := range map[string]int{
		"activity/daily?start_date=2025-08-01&end_date=2025-10-31": 200, // 92 days
		"activity/daily?start_date=2025-08-01&end_date=2025-11-01": 422,
		"sleep?start_date=2025-10-01&end_date=2025-10-31":          200, // 31 nights
		"sleep?start_date=2025-10-01&end_date=2025-11-01":          422,
		"activity?start_time=1&end_time=7948801":                   200, // 92 days
		"activity?start_time=1&end_time=7948802":                   422,
		"activity?start_time=2&end_time=1":                         422,
		"activity?start_time=-1e300&end_time=1e300":                422,
		"activity?start_time=NaN":                                  422,
		"activity?timezone=Local":                                  422,
		"activity?timezone=right/UTC":                              422,
		"activity?timezone=" + strings.Repeat("A", 300):            422,
	} {
		if a := h.insights(path); a.Status != status {
			t.Errorf("%s: %d %s", path, a.Status, a.Body)
		}
	}
}

func TestInsightsCanBeDisabled(t *testing.T) {
	t.Parallel()
	apitest.WantJSON(t, newHome(t).get("/insights/version"), `{"version":"2.0.0"}`)
	h := newHome(t, func(o *engine.Options) { o.WithoutInsights = true })
	apitest.WantProblem(t, h.get("/insights/version"), 404, "not enabled")
	for _, question := range []string{"activity", "sleep?start_date=2025-11-23&end_date=2025-11-23", "activity/daily?start_date=2025-11-23&end_date=2025-11-23"} {
		apitest.WantProblem(t, h.insights(question), 404, "not enabled")
	}
	if a := h.get(fmt.Sprintf("/network/%d/location/histogram", h.network)); a.Status != 200 {
		t.Errorf("location: %d", a.Status)
	}
}
