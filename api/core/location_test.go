package core_test

import (
	"errors"
	"fmt"
	"testing"

	"sensegate/api/apitest"
	"sensegate/motion"
)

// The addresses near which motion is told of: two leafs at one place, a leaf
// without a place, the master, and a device that nobody knows.
var (
	fridge   = motion.MAC{2, 0xbb, 0, 0, 0, 0x32}
	phone    = motion.MAC{2, 0xbb, 0, 0, 0, 0x40}
	gateway  = motion.MAC{2, 0xaa, 0, 0, 1, 0x12}
	stranger = motion.MAC{2, 0xcc, 0, 0, 0, 1}
)

// placed imports half an hour of motion, with a quarter of an hour without data
// behind it, and returns its start.
func (h *home) placed() (start int64) {
	h.T.Helper()
	h.reportStatus()
	err := errors.Join(
		h.engine.Inventory.PlaceLeaf(h.T.Context(), h.network, fridge, "Kitchen", "Fridge"),
		h.engine.Inventory.PlaceLeaf(h.T.Context(), h.network, phone, "", "Phone"),
	)
	if err != nil {
		h.T.Fatal(err)
	}
	const hour = 1763960400
	h.imports(hour, hour+900, moving, share{kitchen, 0.4}, share{fridge, 0.25}, share{phone, 0.1}, share{gateway, 0.2}, share{stranger, 0.05})
	h.imports(hour+900, hour+1800, still, share{kitchen, 0}, share{fridge, 0})
	return hour
}

func TestLocationHistogramAddsUpWhatIsAtOnePlace(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	start := h.placed()
	path := fmt.Sprintf("/network/%d/location/histogram?from=%d&to=%d", h.network, start, start+2700)
	exact := fmt.Sprintf(`{"from":%d,"to":%d,"interval":900,"ts":[%d,%d,%d],"locations":{
		"Kitchen":[65,0,null],"Phone":[10,null,null],"GWA1000133":[20,null,null],"02:cc:00:00:00:01":[5,null,null]}}`,
		start, start+2700, start, start+900, start+1800)
	apitest.WantJSON(t, h.get(path), exact)
	apitest.WantJSON(t, h.get(path+"&bucket=898"), exact) // no multiple of the 5 s that are stored
	if err := h.engine.Inventory.PlaceNode(t.Context(), 1, "Hall", "Gateway"); err != nil {
		t.Fatal(err)
	}
	type histogram struct {
		Locations map[string][]*float64
	}
	if got := apitest.Want[histogram](t, h.get(path), 200); len(got.Locations["Hall"]) != 3 || len(got.Locations) != 4 {
		t.Errorf("locations %v, want the gateway in the hall", got.Locations)
	}
	apitest.WantJSON(t, h.get(fmt.Sprintf("/network/%d/location/histogram?from=%d&to=%d", h.other, start, start+900)),
		fmt.Sprintf(`{"from":%d,"to":%d,"interval":900,"ts":[],"locations":{}}`, start, start+900))
}

func TestLocationHistoryFlagsTheKindOfDevice(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	start := h.placed()
	path := fmt.Sprintf("/network/%d/location/history?from=%d&to=%d", h.network, start, start+2700)
	apitest.WantJSON(t, h.get(path), fmt.Sprintf(`{"from":%d,"to":%d,"devices":[
		{"mac":"02:bb:00:00:00:31","id":3,"friendly_name":"Kitchen speaker","location":"Kitchen","is_node":false,"is_root":false,"is_extender":false,"density":20,"seconds":360},
		{"mac":"02:bb:00:00:00:32","id":4,"friendly_name":"Fridge","location":"Kitchen","is_node":false,"is_root":false,"is_extender":false,"density":12.5,"seconds":225},
		{"mac":"02:aa:00:00:01:12","id":1,"friendly_name":"GWA1000133","location":"","is_node":true,"is_root":true,"is_extender":false,"density":10,"seconds":180},
		{"mac":"02:bb:00:00:00:40","id":5,"friendly_name":"Phone","location":"","is_node":false,"is_root":false,"is_extender":false,"density":5,"seconds":90},
		{"mac":"02:cc:00:00:00:01","id":null,"friendly_name":"02:cc:00:00:00:01","location":"","is_node":false,"is_root":false,"is_extender":false,"density":2.5,"seconds":45}]}`,
		start, start+2700))
	apitest.WantJSON(t, h.get(fmt.Sprintf("/network/%d/location/history?from=%d&to=%d", h.network, start+1800, start+2700)),
		fmt.Sprintf(`{"from":%d,"to":%d,"devices":[]}`, start+1800, start+2700))
}

// TestSharesAreOfTheWindowHoweverTheyAreTold: guardians tell the shares of a quiet sample
// as zeros, as an empty list, or leave the places out of a quiet message (payloads.md 4.12).
func TestSharesAreOfTheWindowHoweverTheyAreTold(t *testing.T) {
	t.Parallel()
	const start, samples, moved = 1763960400, 60, 6
	for name, quiet := range map[string][]float64{"zeros": {0, 0}, "empty lists": {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			h.reportStatus()
			busy := motion.History{TS: start, Interval: 5000, Count: samples, MACs: []motion.MAC{kitchen, fridge}}
			for i := range samples {
				intensity, shares := 0.0, quiet
				if i < moved {
					intensity, shares = 0.5, []float64{1, 0}
				}
				busy.MKAI, busy.Density = append(busy.MKAI, intensity), append(busy.Density, shares)
			}
			silent := motion.History{TS: start + 300, Interval: 5000, Count: samples, MKAI: make([]float64, samples)}
			if err := h.engine.Sensing.Import(t.Context(), h.network, []motion.History{busy, silent}, nil); err != nil {
				t.Fatal(err)
			}
			answers := func(seconds int64, density string) {
				t.Helper()
				window := fmt.Sprintf("from=%d&to=%d", start, start+seconds)
				apitest.WantJSON(t, h.get(fmt.Sprintf("/network/%d/location/histogram?%s&bucket=%d", h.network, window, seconds)),
					fmt.Sprintf(`{"from":%[1]d,"to":%[2]d,"interval":%[3]d,"ts":[%[1]d],"locations":{"Kitchen":[%[4]s],"02:bb:00:00:00:32":[0]}}`, start, start+seconds, seconds, density))
				apitest.WantJSON(t, h.get(fmt.Sprintf("/network/%d/location/history?%s", h.network, window)),
					fmt.Sprintf(`{"from":%d,"to":%d,"devices":[{"mac":"02:bb:00:00:00:31","id":3,"friendly_name":"Kitchen speaker","location":"Kitchen",
					"is_node":false,"is_root":false,"is_extender":false,"density":%s,"seconds":30}]}`, start, start+seconds, density))
				apitest.WantJSON(t, h.get(fmt.Sprintf("/network/%d/motion/history/density?%s&bucket=%d", h.network, window, seconds)), fmt.Sprintf(`[[%s,%d]]`, density, start))
			}
			answers(300, "10")
			answers(600, "5")
		})
	}
}

func TestTooManyHistogramValuesNameTheBucketThatFits(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	start := h.placed()
	path := func(seconds, bucket int64) string {
		return fmt.Sprintf("/network/%d/location/histogram?from=%d&to=%d&bucket=%d", h.network, start, start+seconds, bucket)
	}
	if a := h.get(path(26_000, 1)); a.Status != 200 { // 5 devices
		t.Errorf("130,000 values: %d %s", a.Status, a.Body)
	}
	apitest.WantProblem(t, h.get(path(26_001, 1)), 422, "the smallest bucket that fits is 2")
	apitest.WantProblem(t, h.get(path(1<<40, 1)), 422, "query.bucket")
	for _, extreme := range []string{"from=-1e300&to=1e300&bucket=2147483647", "from=1e300", "from=-5&to=-4", "to=1e300"} {
		for _, operation := range []string{"histogram", "history"} {
			if a := h.get(fmt.Sprintf("/network/%d/location/%s?%s", h.network, operation, extreme)); a.Status >= 500 {
				t.Errorf("%s: %d %s", extreme, a.Status, a.Body)
			}
		}
	}
}
