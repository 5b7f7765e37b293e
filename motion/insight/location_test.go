package insight_test

import (
	"slices"
	"testing"

	"sensegate/motion"
	"sensegate/motion/insight"
	"sensegate/motion/series"
)

// rooms returns a block of base's hour in which the network does one thing and
// leafs take shares of it.
func rooms(t testing.TB, intensity home, shares map[byte]home) *series.Set {
	t.Helper()
	b := series.NewBlock(series.FiveSeconds, base)
	put := func(id series.ID, does home) {
		i, _ := b.Index(id)
		for ts := b.Start(); ts < b.End(); ts += 5 {
			if v := does(ts); v != silent {
				b.Fill(i, ts, v)
			}
		}
	}
	put(series.Network, intensity)
	for last, does := range shares {
		put(series.Location(leaf(last)), does)
	}
	return setOf(t, b.AppendValue(nil))
}

func TestLocationsArePercentPerPlace(t *testing.T) {
	t.Parallel()
	s := rooms(t, func(int64) float64 { return 0.8 }, map[byte]home{
		0x31: func(int64) float64 { return 0.5 },
		0x32: func(ts int64) float64 {
			if ts < base+1800 {
				return 0.25
			}
			return silent
		},
		0x33: func(int64) float64 { return 0.13 },
	})
	names := map[byte]string{0x31: "Kitchen", 0x32: "Hallway", 0x33: "Kitchen"}
	for _, c := range []struct{ name, hall, want string }{
		{"named", "Hallway", `{"from":1763960400,"to":1763964000,"interval":1800,"ts":[1763960400,1763962200],"locations":{"Hallway":[25,null],"Kitchen":[63,63]}}`},
		{"without a name", "", `{"from":1763960400,"to":1763964000,"interval":1800,"ts":[1763960400,1763962200],"locations":{"02:bb:00:00:00:32":[25,null],"Kitchen":[63,63]}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h, err := insight.HistogramOf(s, base, base+3600, 1800, func(mac motion.MAC) string {
				if mac[5] == 0x32 {
					return c.hall
				}
				return names[mac[5]]
			})
			if got := asJSON(t, h); err != nil || got != c.want {
				t.Errorf("histogram = %s, %v, want %s", got, err, c.want)
			}
		})
	}
}

func TestNoLocationIsAnEmptyHistogram(t *testing.T) {
	t.Parallel()
	h, err := insight.HistogramOf(setOf(t), base, base+3600, 900, nil)
	want := `{"from":1763960400,"to":1763964000,"interval":900,"ts":[],"locations":{}}`
	if got := asJSON(t, h); err != nil || got != want {
		t.Errorf("histogram = %s, %v, want %s", got, err, want)
	}
}

func TestSplitIsPercentOfAllMotion(t *testing.T) {
	t.Parallel()
	shares := []series.LocationShare{{MAC: leaf(0x31), Seconds: 50}, {MAC: leaf(0x32), Seconds: 20}}
	if got := insight.Split(shares); !slices.Equal(got, []float64{71.4, 28.6}) {
		t.Errorf("Split = %v, want [71.4 28.6]", got)
	}
	if got := insight.Split(nil); len(got) != 0 {
		t.Errorf("Split of nothing = %v", got)
	}
}
