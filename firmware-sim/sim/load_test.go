package sim

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sensegate/broker/wire"
	"sensegate/motion"
)

func TestLoadCountsWhatTheApplianceAcknowledges(t *testing.T) {
	t.Parallel()
	a := newAppliance(t)
	rows := 0
	total, err := Load(t.Context(), LoadConfig{
		Networks: 3, Rate: 50, Duration: time.Second, Gatekeeper: a.door.URL,
		Every: 200 * time.Millisecond, OnReport: func(LoadReport) { rows++ },
	})
	if err != nil {
		t.Fatal(err)
	}
	if total.Sent == 0 || total.Sent > 160 || total.Acknowledged != total.Sent || total.Failed > 0 {
		t.Errorf("total %+v, want at most about 150 sent, and all acknowledged", total)
	}
	if total.P50 <= 0 || total.P50 > total.P99 || total.P99 > total.Max || rows == 0 {
		t.Errorf("times %v, %v, %v; %d rows", total.P50, total.P99, total.Max, rows)
	}
	ids := map[string]bool{}
	for range total.Sent {
		e := await(a, func(_ wire.Topic, e motion.EventReport) bool { return true })
		ids[e.UUID] = true
	}
	if int64(len(ids)) != total.Sent {
		t.Errorf("%d different events of %d arrived", len(ids), total.Sent)
	}
}

func TestLoadOfLiveMotionIsNotAcknowledged(t *testing.T) {
	t.Parallel()
	for _, kind := range []LoadKind{LoadMatrix, LoadCSI} {
		a := newAppliance(t)
		total, err := Load(t.Context(), LoadConfig{Networks: 1, Rate: 40, Duration: 500 * time.Millisecond, Kind: kind, Gatekeeper: a.door.URL})
		if err != nil {
			t.Fatal(err)
		}
		if total.Sent == 0 || total.Acknowledged != 0 || total.Failed > 0 {
			t.Errorf("%s: %+v", kind, total)
		}
	}
}

func TestLoadIsBounded(t *testing.T) {
	t.Parallel()
	good := LoadConfig{Networks: 1, Rate: 1, Duration: time.Second}
	for _, test := range []struct {
		change func(*LoadConfig)
		want   string
	}{
		{func(c *LoadConfig) { c.Networks = 1001 }, "want 1 to 1000"},
		{func(c *LoadConfig) { c.Rate = math.NaN() }, "at most 400"},
		{func(c *LoadConfig) { c.Duration = 0 }, "want more than 0"},
		{func(c *LoadConfig) { c.Kind = "noise" }, "want event, matrix or csi"},
	} {
		c := good
		test.change(&c)
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v, want %q", c, err, test.want)
		}
	}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
}

func TestHomesOfALoadShareNothing(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for i := range MaxLoadNetworks {
		h := loadHome(i)
		for _, name := range []string{h.GuardianID, h.Nodes[0].DeviceID, h.Nodes[0].Name, h.Nodes[0].AP24.String(), h.Leafs[0].MAC.String()} {
			if other, taken := seen[name]; taken {
				t.Fatalf("homes %d and %d share %s", other, i, name)
			}
			seen[name] = i
		}
	}
}

func TestQuantilesAreRightWithinABucket(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var l latencies
		n := rapid.IntRange(1, 300).Draw(t, "n")
		unit := time.Duration(rapid.IntRange(10, 100_000).Draw(t, "unit")) * time.Microsecond
		for i := 1; i <= n; i++ {
			l.add(time.Duration(i) * unit)
		}
		for _, share := range []float64{0.5, 0.99, 1} {
			want := time.Duration(math.Ceil(share*float64(n))) * unit
			if got := l.quantile(share); got < want || float64(got) > 1.05*float64(want) && got != time.Duration(n)*unit {
				t.Fatalf("quantile %v of 1..%d × %v is %v, want %v", share, n, unit, got, want)
			}
		}
	})
	var none latencies
	if none.quantile(0.5) != 0 {
		t.Error("a quantile of nothing")
	}
}
