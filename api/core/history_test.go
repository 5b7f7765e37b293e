package core_test

import (
	"fmt"
	"testing"

	"sensegate/api/apitest"
	"sensegate/motion"
)

// past puts 5 s samples in the history of the first network from a whole hour on,
// two days ago, and returns that hour.
func (h *home) past(intensities ...float64) (hour int64) {
	h.T.Helper()
	hour = (h.engine.State.Now().Second() - 48*3600) / 3600 * 3600
	history := motion.History{TS: motion.Time(hour), Interval: 5000, Count: len(intensities), MKAI: intensities, MACs: []motion.MAC{kitchen}}
	for _, v := range intensities {
		history.Density = append(history.Density, []float64{min(1, v*2)})
	}
	if err := h.engine.Sensing.Import(h.T.Context(), h.network, []motion.History{history}, nil); err != nil {
		h.T.Fatal(err)
	}
	return hour
}

func TestHistoryIsServedByBucket(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	start := h.past(0.4, 0, 0.1, 0, 0, 0, 0, 0)
	path := func(measure, query string) string {
		return fmt.Sprintf("/network/%d/motion/history/%s?from=%d&to=%d&%s", h.network, measure, start, start+60, query)
	}
	apitest.WantJSON(t, h.get(path("intensity", "bucket=10")), fmt.Sprintf("[[0.4,%d],[0.1,%d],[0,%d],[0,%d],[null,%d],[null,%d]]",
		start, start+10, start+20, start+30, start+40, start+50))
	apitest.WantJSON(t, h.get(path("density", "bucket=20")), fmt.Sprintf("[[50,%d],[0,%d],[null,%d]]", start, start+20, start+40))
	apitest.WantJSON(t, h.get(path("state", "bucket=20")), fmt.Sprintf("[[2,%d],[0,%d],[null,%d]]", start, start+20, start+40))
	apitest.WantJSON(t, h.get(path("density", "")), fmt.Sprintf("[[25,%d]]", start))

	plain := h.get(path("intensity", "bucket=10"))
	if got := plain.Header.Get("X-Bucket-Seconds"); got != "" {
		t.Errorf("X-Bucket-Seconds %q on an answer as asked", got)
	}
	for bucket, served := range map[string]string{"1": "5", "7": "10", "60": ""} {
		a := h.get(path("intensity", "bucket="+bucket))
		if got := a.Header.Get("X-Bucket-Seconds"); a.Status != 200 || got != served {
			t.Errorf("bucket %s: X-Bucket-Seconds %q, want %q", bucket, got, served)
		}
	}
	decimals := fmt.Sprintf("/network/%d/motion/history/intensity?from=%d.25&to=%d.5&bucket=5", h.network, start, start+9)
	apitest.WantJSON(t, h.get(decimals), fmt.Sprintf("[[0.4,%d],[0,%d]]", start, start+5))
}

// live reports frames of half a second as the guardian, the first of which ends at ts.
func (h *home) live(ts motion.Time, intensities ...float64) {
	h.T.Helper()
	h.report(&motion.Matrix{
		TS: ts, Interval: 500, Count: len(intensities), Links: []string{"GWA1000133." + kitchen.Name()},
		Values: motion.Figures{motion.MKAI: {intensities}}, MotionEnabled: 1,
	})
}

// TestAFewLiveFramesHideNoHistory: five minutes of what a guardian measured while nobody
// watched, then two seconds live, asked for in seconds (payloads.md 6 no. 10).
func TestAFewLiveFramesHideNoHistory(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.reportStatus()
	begin := h.engine.State.Now().Second()/5*5 - 600
	minutes := motion.History{TS: motion.Time(begin), Interval: 5000, Count: 60}
	for range minutes.Count {
		minutes.MKAI = append(minutes.MKAI, 0.5)
	}
	h.report(minutes)
	ask := func(from, to int64, bucket string) (moving, quiet, null int) {
		t.Helper()
		a := h.get(fmt.Sprintf("/network/%d/motion/history/intensity?from=%d&to=%d&bucket=1", h.network, from, to))
		if got := a.Header.Get("X-Bucket-Seconds"); got != bucket {
			t.Errorf("X-Bucket-Seconds %q, want %q", got, bucket)
		}
		return apitest.Tally(apitest.Want[[][2]*float64](t, a, 200))
	}
	if moving, quiet, null := ask(begin, begin+605, "5"); moving != 60 || quiet != 0 || null != 61 {
		t.Errorf("history: %d moving, %d quiet, %d null", moving, quiet, null)
	}
	h.live(motion.Time(begin)+590.5, 0, 0, 0, 0)
	if moving, quiet, null := ask(begin, begin+605, "5"); moving != 60 || quiet != 1 || null != 60 {
		t.Errorf("with live frames: %d moving, %d quiet, %d null", moving, quiet, null)
	}
	if moving, quiet, null := ask(begin+300, begin+605, ""); moving != 0 || quiet != 2 || null != 303 {
		t.Errorf("live frames alone: %d moving, %d quiet, %d null", moving, quiet, null)
	}
	if moving, quiet, null := ask(begin-86400, begin+605, "5"); moving != 60 || quiet != 1 || null != 86400/5+60 {
		t.Errorf("more than a day: %d moving, %d quiet, %d null", moving, quiet, null)
	}
	old := minutes // of before the seconds that are kept
	old.TS -= 24 * 3600
	if err := h.engine.Sensing.Import(t.Context(), h.network, []motion.History{old}, nil); err != nil {
		t.Fatal(err)
	}
	if moving, quiet, null := ask(begin-86400, begin+605, "5"); moving != 120 || quiet != 1 || null != 86400/5 {
		t.Errorf("across the day: %d moving, %d quiet, %d null", moving, quiet, null)
	}
}

// TestWindowWithoutLengthHasNoBucket: [from, to) is empty when the two are equal.
func TestWindowWithoutLengthHasNoBucket(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.reportStatus()
	now := h.engine.State.Now().Second()
	h.live(motion.Time(now)-59.5, 0.5, 0.5)
	hour := h.past(0.4)
	for _, at := range []string{fmt.Sprint(now - 60), fmt.Sprintf("%d.5", now-60), fmt.Sprint(hour), fmt.Sprintf("%d.25", hour), "0"} {
		for _, operation := range []string{"state", "intensity", "density", "state_blocks"} {
			apitest.WantJSON(t, h.get(fmt.Sprintf("/network/%d/motion/history/%s?from=%[3]s&to=%[3]s", h.network, operation, at)), "[]")
		}
		places := h.get(fmt.Sprintf("/network/%d/location/history?from=%[2]s&to=%[2]s", h.network, at))
		if got := apitest.Want[struct{ Devices []any }](t, places, 200); len(got.Devices) > 0 {
			t.Errorf("at %s: devices %v", at, got.Devices)
		}
	}
}

func TestHistoryOfTheLastDayIsTheDefault(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	points := apitest.Want[[][2]*float64](t, h.get(fmt.Sprintf("/network/%d/motion/history/density", h.network)), 200)
	now := float64(h.engine.State.Now())
	if len(points) < 24 || len(points) > 25 || *points[0][1] > now-23*3600 || *points[len(points)-1][1] < now-3700 || points[0][0] != nil {
		t.Errorf("%d points from %v to %v", len(points), *points[0][1], *points[len(points)-1][1])
	}
	hour := h.past(0.4)
	to := fmt.Sprintf("/network/%d/motion/history/density?to=%d", h.network, hour+3600)
	if points := apitest.Want[[][2]*float64](t, h.get(to), 200); len(points) != 24 || points[23][0] == nil {
		t.Errorf("%d points up to a given time", len(points))
	}
	apitest.WantJSON(t, h.get(fmt.Sprintf("/network/%d/motion/history/density?from=%d&to=%d", h.network, hour, hour)), "[]")
}

func TestTooManyPointsNameTheBucketThatFits(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	const start = 1763640000
	path := func(seconds, bucket int) string {
		return fmt.Sprintf("/network/%d/motion/history/density?from=%d&to=%d&bucket=%d", h.network, start, start+seconds, bucket)
	}
	if a := h.get(path(130_000, 1)); a.Status != 200 {
		t.Errorf("130,000 points: %d", a.Status)
	}
	apitest.WantProblem(t, h.get(path(130_001, 1)), 422, "the smallest bucket that fits is 2")
	apitest.WantProblem(t, h.get(path(7*86400, 1)), 422, "is 5")
	if a := h.get(path(7*86400, 5)); a.Status != 200 {
		t.Errorf("a week in 5 s: %d %s", a.Status, a.Body)
	}
	apitest.WantProblem(t, h.get(path(1<<31-1, 1)), 422, "query.bucket")
	blocks := fmt.Sprintf("/network/%d/motion/history/state_blocks?from=0&to=%d&state_bucket=5&density_bucket=5", h.network, start)
	for _, parameter := range []string{"query.state_bucket", "query.density_bucket"} {
		apitest.WantProblem(t, h.get(blocks), 422, parameter)
	}
	apitest.WantProblem(t, h.get(path(-1, 60)), 422, "query.from")
	for _, extreme := range []string{"from=-1e300&to=1e300", "from=1e300", "from=-5&to=-4"} {
		if a := h.get(fmt.Sprintf("/network/%d/motion/history/density?%s", h.network, extreme)); a.Status >= 500 {
			t.Errorf("%s: %d", extreme, a.Status)
		}
	}
}

func TestStateBlocksNameTheDevices(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.reportStatus()
	start := h.past(0.4, 0.5, 0, 0, 0, 0, 0.4, 0)
	path := fmt.Sprintf("/network/%d/motion/history/state_blocks?from=%d&to=%d&state_bucket=10&density_bucket=5", h.network, start, start+40)
	device := `{"id":"02:bb:00:00:00:31","location":"Kitchen","friendly_name":"Kitchen speaker","density":%s}`
	apitest.WantJSON(t, h.get(path), fmt.Sprintf(`[
		{"state":2,"start":%d,"stop":%d,"density_bucket":5,"density":[[100,%d],[100,%d]],"devices":[`+device+`]},
		{"state":2,"start":%d,"stop":%d,"density_bucket":5,"density":[[100,%d],[0,%d]],"devices":[`+device+`]}]`,
		start, start+10, start, start+5, "90", start+30, start+40, start+30, start+35, "40"))
	apitest.WantJSON(t, h.get(path+"&states=1"), "[]")
	apitest.WantJSON(t, h.get(fmt.Sprintf("/network/%d/motion/history/state_blocks", h.other)), "[]")
	for _, bad := range []string{"&states=4", "&states=0", "&states=256", "&state_bucket=4"} {
		apitest.WantProblem(t, h.get(fmt.Sprintf("/network/%d/motion/history/state_blocks?from=1%s", h.network, bad)), 422, "query.state")
	}
}
