package engine

import (
	"context"
	"fmt"
	"net/netip"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"sensegate/motion"
	"sensegate/motion/series"
	"sensegate/motion/series/seriestest"
	"sensegate/store"
)

// What an appliance lives through in BenchmarkFlash (docs/performance.md S3 and S4).
const (
	flashNetworks = 50
	flashLinks    = 6
	flashHours    = 2
)

// mute stands for devices that are sent things.
type mute struct{}

func (mute) Send(motion.DeviceKey, string, []byte, bool) error { return nil }
func (mute) Disconnect(motion.DeviceKey, string)               {}
func (mute) DisconnectUser(string, string)                     {}

// flashHome is a home whose guardian reports motion each second, and a status and
// two radars each minute.
type flashHome struct {
	guardian motion.DeviceKey
	radars   []motion.DeviceKey
	names    []string
	leafs    []motion.MAC
	radio    *seriestest.Home
	frame    []float64
}

// flashRig is an engine on a clock of its own.
type flashRig struct {
	*Engine
	db    *store.DB
	clock atomic.Int64 // s since the epoch
	homes []*flashHome
}

func newFlashRig(b *testing.B, profile seriestest.Profile) *flashRig {
	b.Helper()
	r := &flashRig{}
	r.clock.Store(series.QuarterHour.BlockStart(1764000000))
	clock := func() time.Time { return time.Unix(r.clock.Load(), 0) }
	db, err := store.Open(store.Options{Path: filepath.Join(b.TempDir(), "sensegate.db"), Now: clock, Retention: store.DefaultRetention()})
	if err != nil {
		b.Fatal(err)
	}
	r.db = db
	if r.Engine, err = New(b.Context(), db, Options{Now: clock, FlushInterval: time.Hour, FirstWindow: time.Hour}); err != nil {
		b.Fatal(err)
	}
	r.Introduce(mute{})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- r.Events.Run(ctx) }() // the rest of Run would see a clock that leaps
	b.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			b.Error(err)
		}
		if err := db.Close(); err != nil {
			b.Error(err)
		}
	})
	for i := range flashNetworks {
		r.homes = append(r.homes, r.adopt(b, i, profile))
	}
	return r
}

// adopt lets the devices of home i in.
func (r *flashRig) adopt(b *testing.B, i int, profile seriestest.Profile) *flashHome {
	b.Helper()
	h := &flashHome{radio: seriestest.New(profile, uint64(i+1), flashLinks), frame: make([]float64, flashLinks+1)}
	location := fmt.Sprintf("a41f00c2d97b4e55801%05d", i)
	address := netip.AddrFrom4([4]byte{127, 0, 1, byte(i)})
	for n := range 2 {
		mac := motion.MAC{2, 0xaa, 0, byte(i), byte(n), 0x10}
		radar := motion.Radar{
			DeviceID: fmt.Sprintf("csi-%03d-%d", i, n), NodeName: fmt.Sprintf("GW%05d%d", i, n), RootMode: 2 - n,
			APBSSID2GHz: mac, MeshBSSID: motion.MAC{2, 0xaa, 0, byte(i), byte(n), 0x14},
		}
		a, err := r.Devices.Admit(b.Context(), motion.Bootstrap{LocationID: location, Radar: radar}, motion.Credentials{Address: address})
		if err != nil {
			b.Fatal(err)
		}
		if n == 0 {
			h.guardian = r.connect(b, location, a.GuardianToken, address)
			_, err := r.Inventory.ChangeConfig(b.Context(), a.Network, false, func(_ *store.Tx, n *motion.Network) error {
				n.GuardianConfig = motion.Document{"motion_events": map[string]any{"enabled": 0}}
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
		}
		h.radars = append(h.radars, r.connect(b, radar.DeviceID, a.RadarToken, address))
		h.names = append(h.names, radar.NodeName)
	}
	for l := range flashLinks {
		h.leafs = append(h.leafs, motion.MAC{2, 0xbb, 0, byte(i), 0, byte(l)})
	}
	return h
}

func (r *flashRig) connect(b *testing.B, id, token string, address netip.Addr) motion.DeviceKey {
	b.Helper()
	key, err := r.Devices.Login(b.Context(), id, token)
	if err != nil {
		b.Fatal(err)
	}
	r.State.Connected(key, address)
	return key
}

// status is the full report of a home.
func (h *flashHome) status(now motion.Time) motion.StatusReport {
	yes := true
	report := motion.StatusReport{TS: now, MotionEnabled: 1, Radars: map[string]motion.Radar{}, Leafblower: map[string]motion.Choice{}}
	for n, name := range h.names {
		radar := motion.Radar{DeviceID: h.radars[n].ID, NodeName: name, RootMode: 2 - n, TS: now, Uptime: fmt.Sprint(now), Load: []string{"0.12", "0.08", "0.05"}}
		for l, leaf := range h.leafs {
			if l%2 == n {
				radar.Links = append(radar.Links, motion.RadarLink{MAC: leaf, PeerType: motion.PeerClient, IfName: "home", RSSI: fmt.Sprint(-50 - int(now)%7 - l), TxBitrate: "72000000"})
				report.Leafblower[leaf.String()] = motion.Choice{IsStatic: "STATIC", Sounding: &yes}
			}
		}
		report.Radars[name] = radar
	}
	return report
}

// second is the motion-matrix of one second: two steps.
func (h *flashHome) second(now motion.Time) *motion.Matrix {
	m := &motion.Matrix{TS: now, Interval: 500, Count: 2, MotionEnabled: 1}
	columns := make([][]float64, flashLinks)
	for l, leaf := range h.leafs {
		m.Links = append(m.Links, h.names[l%2]+"."+leaf.Name())
		columns[l] = make([]float64, 2)
	}
	for step := range 2 {
		h.radio.Next(h.frame)
		for l := range columns {
			columns[l][step] = h.frame[l+1]
		}
	}
	m.Values[motion.MKAI], m.Values[motion.LRaw] = columns, columns
	return m
}

// minute lives through a minute and flushes.
func (r *flashRig) minute(b *testing.B) {
	b.Helper()
	for second := range 60 {
		now := motion.Time(r.clock.Add(1))
		for _, h := range r.homes {
			if err := r.Report(b.Context(), h.guardian, h.second(now)); err != nil {
				b.Fatal(err)
			}
			if second != 30 {
				continue
			}
			if err := r.Report(b.Context(), h.guardian, h.status(now)); err != nil {
				b.Fatal(err)
			}
			for _, key := range h.radars {
				r.State.Heard(key, now)
			}
		}
		if err := r.advance(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	if err := r.flush(b.Context(), false); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkFlash prints S3 and S4 of docs/performance.md: KB written and syncs a minute by the
// whole appliance in its steady state, with 50 networks of 6 links whose guardians
// send a whole status report a minute. There are no events: each is a commit of its
// own.
//
// Sparse keeps below 90 KB/min; noisy3 cannot, as each row is written twice, in the
// journal and sealed. With the shares of 6 locations a network has 13 series, so that a
// minute has 50 × 13 × 60 = 39,000 rows. A Gaussian of the profile's deviation, the
// greater of two frames, has 5.5 bits of entropy, a share of noise about 4.5: 5.0 bits or
// 0.63 B a row. The codec takes 0.75 B in the journal, where 60 rows stand alone, and 0.73
// sealed: 29 + 29 KB. Sums of 5 s are 12 KB more. A commit of bbolt that changes the
// journal alone writes 5 pages besides (meta, freelist, two of the root, the names of
// entries): 21 KB. That is 91 before a page is part empty (6 KB), what is learned and heard
// each ten minutes (5) and pages of branches (4); with a perfect codec it would be 49 +
// 11 + 21 + 15 = 96. Only a 5 min flush interval, or noise that the firmware gates, is less.
func BenchmarkFlash(b *testing.B) {
	for _, profile := range []seriestest.Profile{seriestest.Sparse, seriestest.Noisy3} {
		b.Run(profile.String(), func(b *testing.B) {
			r := newFlashRig(b, profile)
			for range 60 {
				r.minute(b)
			}
			before, err := r.db.Stats(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				for range 60 * flashHours {
					r.minute(b)
				}
			}
			after, err := r.db.Stats(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			minutes := float64(b.N * 60 * flashHours)
			b.ReportMetric(float64(after.Bytes-before.Bytes)/1000/minutes, "KB/min")
			b.ReportMetric(float64(after.Syncs-before.Syncs)/minutes, "syncs/min")
			b.ReportMetric(float64(after.Commits-before.Commits)/minutes, "commits/min")
		})
	}
}

// BenchmarkMatrix prints what a motion-matrix of 6 links and 2 steps costs once it is decoded: sensing,
// events and the samples in memory.
func BenchmarkMatrix(b *testing.B) {
	r := newFlashRig(b, seriestest.Noisy3)
	r.minute(b)
	for b.Loop() {
		b.StopTimer()
		now := motion.Time(r.clock.Add(1))
		var reports []*motion.Matrix
		for _, h := range r.homes {
			reports = append(reports, h.second(now))
		}
		b.StartTimer()
		for i, h := range r.homes {
			if err := r.Report(b.Context(), h.guardian, reports[i]); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(r.homes)), "ns/matrix")
}
