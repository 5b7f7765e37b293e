package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"sensegate/api/apitest"
	"sensegate/motion"
)

// What the home does, as motion-history tells it.
const (
	still  = 0.0
	moving = 0.5
)

// fridge is a leaf that nobody knows.
var fridge = motion.MAC{2, 0xbb, 0, 0, 0, 0x32}

// share is how much of the motion is near a device, 0 to 1.
type share struct {
	mac motion.MAC
	of  float64
}

// imports puts [from, to) of one intensity in the history of the first home, where
// nothing is held yet, with these shares of it near devices.
func (h *household) imports(from, to int64, intensity float64, shares ...share) {
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

// quarter returns the start of the quarter of an hour that is so many before now.
func (h *household) quarter(before int64) int64 {
	return h.engine.State.Now().Second()/900*900 - before*900
}

func TestHistoryLadder(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	for path, window := range map[string]string{
		"/motion_history_densities": "", "/location_histograms": "", "/motion_history_intensities": "from=1764000000&to=1764000900.5&",
	} {
		of := fmt.Sprintf("%s?%snetwork_id=%d", path, window, h.home)
		h.climb(http.MethodGet,
			step{"no token", person{}, of, "", 401, ""},
			step{"no network", h.nobody, path + "?" + window, "", 404, ""},
			step{"foreign network", h.neighbour, of, "", 404, ""},
			step{"malformed", h.member, path + "?from=%zz", "", 400, ""},
			step{"no number", h.member, path + "?from=yesterday&to=tomorrow", "", 400, "query.from"},
			step{"no number", h.member, path + "?from=yesterday&to=tomorrow", "", 400, "query.to"},
			step{"backwards", h.member, path + "?from=5000000000&to=1", "", 422, "must not be after to"},
			step{"right", h.member, of, "", 200, ""},
			step{"right, with a slash", h.owner, path + "/?" + window, "", 200, ""},
		)
		for _, extreme := range []string{"from=-1e300&to=1e300&bucket=900", "from=1e300&to=1e301&last=1", "from=-5&to=-4", "from=0&to=1e300&last=400"} {
			if a := h.as(h.member, http.MethodGet, path+"?"+extreme, ""); a.Status >= 500 {
				t.Errorf("%s?%s: %d %s", path, extreme, a.Status, a.Body)
			}
		}
	}
	for _, path := range []string{"/motion_history_densities?", "/motion_history_intensities?from=1764000000&to=1764000900&"} {
		h.climb(http.MethodGet,
			step{"bucket too small", h.member, path + "bucket=0", "", 422, "query.bucket"},
			step{"bucket too large", h.member, path + "bucket=901&last=401", "", 422, "query.bucket"},
			step{"last too large", h.member, path + "bucket=901&last=401", "", 422, "query.last"},
			step{"right, at the limits", h.member, path + "bucket=1&last=400", "", 200, ""},
		)
	}
	h.climb(http.MethodGet,
		step{"window missing", h.member, "/motion_history_intensities", "", 422, "query.from"},
		step{"window missing", h.member, "/motion_history_intensities", "", 422, "query.to"},
	)
}

func TestHistoriesAreOfTheirBuckets(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.claimedAfter(-24 * 3600)
	q := h.quarter(8)
	h.imports(q, q+450, moving)
	h.imports(q+450, q+1800, still)
	window := fmt.Sprintf("from=%d&to=%d", q, q+2700)
	apitest.WantJSON(t, h.as(h.member, http.MethodGet, "/motion_history_densities?"+window, ""), fmt.Sprintf(`[[50,%d],[0,%d],[null,%d]]`, q, q+900, q+1800))
	apitest.WantJSON(t, h.as(h.member, http.MethodGet, "/motion_history_intensities?bucket=900&"+window, ""), fmt.Sprintf(`[[0.5,%d],[0,%d],[null,%d]]`, q, q+900, q+1800))
	apitest.WantJSON(t, h.as(h.member, http.MethodGet, "/motion_history_densities?last=2&"+window, ""), fmt.Sprintf(`[[0,%d],[null,%d]]`, q+900, q+1800))
	apitest.WantJSON(t, h.as(h.member, http.MethodGet, fmt.Sprintf("/motion_history_densities?last=3&bucket=300&to=%d", q+900), ""), fmt.Sprintf(`[[100,%d],[50,%d],[0,%d]]`, q, q+300, q+600))
	apitest.WantJSON(t, h.as(h.member, http.MethodGet, fmt.Sprintf("/motion_history_intensities?last=1&bucket=300&from=%d&to=%d", q, q+601), ""), fmt.Sprintf(`[[0,%d]]`, q+600))
}

func TestCoarserHistorySaysSo(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.claimedAfter(-24 * 3600)
	q := h.quarter(8)
	h.imports(q, q+60, moving)
	for _, last := range []string{"", "&last=2"} {
		a := h.as(h.member, http.MethodGet, fmt.Sprintf("/motion_history_intensities?bucket=1&from=%d&to=%d%s", q, q+10, last), "")
		apitest.WantJSON(t, a, fmt.Sprintf(`[[0.5,%d],[0.5,%d]]`, q, q+5))
		if got := a.Header.Get("X-Bucket-Seconds"); got != "5" {
			t.Errorf("%s: X-Bucket-Seconds %q", last, got)
		}
	}
	a := h.as(h.member, http.MethodGet, fmt.Sprintf("/motion_history_intensities?bucket=5&from=%d&to=%d", q, q+10), "")
	if got := a.Header.Get("X-Bucket-Seconds"); got != "" {
		t.Errorf("as asked: X-Bucket-Seconds %q", got)
	}
}

// TestAFewLiveFramesHideNoHistory: five minutes of what a guardian measured while nobody
// watched, then two seconds live, asked for in seconds (payloads.md 6 no. 10).
func TestAFewLiveFramesHideNoHistory(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.claimedAfter(-25 * 3600)
	begin := h.engine.State.Now().Second()/5*5 - 600
	h.imports(begin, begin+300, moving)
	h.imports(begin-86400, begin-86400+300, moving) // of before the seconds that are kept
	h.report(&motion.Matrix{
		TS: motion.Time(begin) + 590.5, Interval: 500, Count: 4, Links: []string{"GWA1000133." + kitchen.Name()},
		Values: motion.Figures{motion.MKAI: {{0, 0, 0, 0}}}, MotionEnabled: 1,
	})
	for name, c := range map[string]struct {
		from                int64
		bucket              string
		moving, quiet, null int
	}{
		"both":       {begin, "5", 60, 1, 60},
		"live alone": {begin + 300, "", 0, 2, 303},
		"over a day": {begin - 86400, "5", 120, 1, 86400 / 5},
	} {
		for _, path := range []string{"/motion_history_densities", "/motion_history_intensities"} {
			a := h.as(h.member, http.MethodGet, fmt.Sprintf("%s?bucket=1&from=%d&to=%d", path, c.from, begin+605), "")
			moving, quiet, null := apitest.Tally(apitest.Want[[][2]*float64](t, a, 200))
			if got := a.Header.Get("X-Bucket-Seconds"); got != c.bucket || moving != c.moving || quiet != c.quiet || null != c.null {
				t.Errorf("%s, %s: X-Bucket-Seconds %q, %d moving, %d quiet, %d null, want %+v", path, name, got, moving, quiet, null, c)
			}
		}
	}
	for _, path := range []string{"/motion_history_densities", "/motion_history_intensities"} {
		for _, at := range []string{fmt.Sprint(begin), fmt.Sprintf("%d.5", begin+590)} {
			apitest.WantJSON(t, h.as(h.member, http.MethodGet, fmt.Sprintf("%s?bucket=1&from=%[2]s&to=%[2]s", path, at), ""), "[]")
		}
	}
}

func TestTooManyPointsNameTheBucketThatFits(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.claimedAfter(-float64(h.engine.State.Now()))
	apitest.WantProblem(t, h.as(h.member, http.MethodGet, "/motion_history_densities?bucket=1&from=0&to=200000", ""), 422, "the smallest bucket that fits is 2")
}

func TestNextHouseholdSeesNoMotionOfTheFirst(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	q := h.quarter(8)
	const moved = 900 + 300 // the claim falls into the second quarter
	h.imports(q, q+moved, moving, share{kitchen, 1})
	h.imports(q+moved, q+2700, still, share{kitchen, 0})
	h.claimedAfter(motion.Time(q + moved).Since(h.engine.State.Now()))
	window := fmt.Sprintf("?from=%d&to=%d", q, q+2700)
	quiet := fmt.Sprintf(`[[0,%d],[0,%d]]`, q+900, q+1800)
	apitest.WantJSON(t, h.as(h.owner, http.MethodGet, "/motion_history_densities"+window, ""), quiet)
	apitest.WantJSON(t, h.as(h.owner, http.MethodGet, "/motion_history_densities"+window+"&last=400", ""), quiet)
	apitest.WantJSON(t, h.as(h.owner, http.MethodGet, "/motion_history_intensities"+window, ""), quiet)
	apitest.WantJSON(t, h.as(h.owner, http.MethodGet, fmt.Sprintf("/motion_history_intensities?from=%d&to=%d", q, q+900), ""), `[]`)
	type histogram struct {
		From, To int64
		Data     []struct{ Percent float64 }
	}
	places := apitest.Want[histogram](t, h.as(h.owner, http.MethodGet, "/location_histograms"+window, ""), 200)
	if len(places.Data) != 0 || places.From < q+moved {
		t.Errorf("places %+v", places)
	}
	apitest.Want[histogram](t, h.as(h.owner, http.MethodGet, fmt.Sprintf("/location_histograms?from=%d&to=%d", q, q+900), ""), 200)
}

func TestLocationHistogramTellsHowADetectionWasSpread(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.claimedAfter(-24 * 3600)
	h.reportStatus()
	q := h.quarter(8)
	h.imports(q, q+60, moving, share{kitchen, 0.75}, share{fridge, 0.25})
	a := h.as(h.member, http.MethodGet, fmt.Sprintf("/location_histograms?network_id=%d&from=%d&to=%d", h.home, q, q+60), "")
	apitest.WantJSON(t, a, fmt.Sprintf(`{"network_id":%d,"from":%d,"to":%d,"data":[
		{"location":"Kitchen","friendly_name":"Kitchen speaker","mac":"02:bb:00:00:00:31","percent":75},
		{"location":"","friendly_name":"02:bb:00:00:00:32","mac":"02:bb:00:00:00:32","percent":25}]}`, h.home, q, q+60))
	a = h.as(h.member, http.MethodGet, fmt.Sprintf("/location_histograms?from=%d&to=%d", q+900, q+960), "")
	if !strings.Contains(string(a.Body), `"data":[]`) {
		t.Errorf("without motion: %s", a.Body)
	}
}
