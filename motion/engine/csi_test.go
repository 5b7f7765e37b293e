package engine_test

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"sensegate/firmware-sim/capture"
	"sensegate/motion"
	"sensegate/motion/csi"
	"sensegate/motion/fault"
)

// batch returns a CSI batch of amplitude frames 20 ms apart, the first at the
// time given (0 = no clock). Without frames it has 25 of noise.
func batch(src, dst motion.MAC, at motion.Time, amplitudes [][]byte) motion.RawCSI {
	if amplitudes == nil {
		rng := rand.New(rand.NewPCG(1, uint64(at.Micros())))
		for range 25 {
			frame := make([]byte, 64)
			for k := range frame {
				frame[k] = byte(60 + rng.IntN(3))
			}
			amplitudes = append(amplitudes, frame)
		}
	}
	b := csi.Batch{Src: src, Dst: dst, Flags: csi.Amplitude, Channel: 6, Subcarriers: len(amplitudes[0])}
	if !at.IsZero() {
		b.Start = uint64(at.Micros())
	}
	for i, frame := range amplitudes {
		b.Frames = append(b.Frames, csi.Frame{Offset: uint32(i * 20_000), RSSI: -55, Noise: csi.NoiseUnknown, Data: frame})
	}
	return csi.Append(nil, &b)
}

// recording loads a capture by name, without its gain-lock phase.
func recording(t *testing.T, group, name string) *capture.Recording {
	t.Helper()
	dir := os.Getenv("SENSEGATE_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	if _, err := os.Stat(dir); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("captures are missing: %v", err)
		}
		t.Skipf("captures are missing (set SENSEGATE_DATA): %v", err)
	}
	found, err := capture.Scan(filepath.Join(dir, "csi", group))
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(found, func(r *capture.Recording) bool { return r.Name == name })
	if i < 0 {
		t.Fatalf("no recording %s in %s", name, group)
	}
	if err := found[i].Load(); err != nil {
		t.Fatal(err)
	}
	return found[i]
}

// stream is a recording as one link of a device sends it.
type stream struct {
	device    motion.DeviceKey
	src, dst  motion.MAC
	recording *capture.Recording
	from      motion.Seconds // of the recording
	skew      motion.Seconds // of the device's clock
	clockless bool
}

// peerKey is the session of the peer.
var peerKey = motion.DeviceKey{Kind: motion.RadarKind, ID: peerID}

// play sends so many seconds of streams, a batch every quarter of a second.
func (b *box) play(length motion.Seconds, streams ...stream) {
	b.t.Helper()
	const step = 0.25
	start := now()
	for k := range int(length / step) {
		time.Sleep(seconds(step))
		for _, s := range streams {
			if payload := s.batch(start, float64(k)*step, step); payload != nil {
				b.report(s.device, payload)
			}
		}
	}
}

// batch returns the frames of [at, at+length), nil when there are none.
func (s stream) batch(start motion.Time, at, length motion.Seconds) motion.RawCSI {
	flags, _ := s.recording.Header.Flags()
	out := csi.Batch{Src: s.src, Dst: s.dst, Flags: flags, Channel: 6}
	var first motion.Seconds
	for _, f := range s.recording.Frames {
		t := f.Time - s.from
		if t < at || t >= at+length {
			continue
		}
		if len(out.Frames) == 0 {
			first = t
			out.Subcarriers = len(f.Data) / flags.Width()
			if !s.clockless {
				out.Start = uint64(start.Add(t + s.skew).Micros())
			}
		}
		out.Frames = append(out.Frames, csi.Frame{Offset: uint32((t - first) * 1e6), RSSI: f.RSSI, Noise: csi.NoiseUnknown, Data: f.Data})
	}
	if len(out.Frames) == 0 {
		return nil
	}
	return csi.Append(nil, &out)
}

// Both links see the same quiet room for 27 s, then one sees motion.
const (
	quietLength  = 27
	motionStart  = 31
	motionLength = 20
)

func (b *box) quiet(r *capture.Recording, length motion.Seconds) {
	b.t.Helper()
	b.play(length, stream{device: masterKey, src: kitchen, dst: masterAP, recording: r},
		stream{device: peerKey, src: hallway, dst: peerAP, recording: r})
}

func (b *box) motion(r *capture.Recording, length motion.Seconds) {
	b.t.Helper()
	b.play(length, stream{device: masterKey, src: kitchen, dst: masterAP, recording: r, from: motionStart},
		stream{device: peerKey, src: hallway, dst: peerAP, recording: r})
}

func TestCapturedMotionIsDetectedAndLocated(t *testing.T) {
	r := recording(t, "espectre", "test_c3_64sc_20260329_130804")
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		live := b.watch(id)
		defer live.Close()
		begin := int64(now())
		b.quiet(r, quietLength)
		equal(t, "events of a quiet room", b.kinds(), []string{})
		equal(t, "links", b.linkEvents(), []string{"LinkCreatedEvent GWA1000133.02bb00000031", "LinkCreatedEvent EXA1000134.02bb00000032"})
		if got := b.points(begin+2, begin+22, 1); strings.Trim(got, "0 ") != "" {
			t.Errorf("quiet samples %s", got)
		}
		drain(t, live)
		moving := now()
		b.motion(r, motionLength)
		list := b.events(motion.MotionDetectedEvent)
		if len(list) != 1 {
			t.Fatalf("%d detections", len(list))
		}
		e := list[0]
		if delay := e.TS.Since(moving); delay < 1 || delay > 5 {
			t.Errorf("detected after %v s", delay)
		}
		if e.LinkID != masterName+"."+kitchen.Name() || e.LocName != "Kitchen" || e.Loc[0].MAC != kitchen.String() || e.NodeName != masterName {
			t.Errorf("event %+v", e)
		}
		f := frames(t, live)
		last := f[len(f)-1]
		equal(t, "links of a frame", last.Links, []string{masterName + "." + kitchen.Name(), peerName + "." + hallway.Name()})
		if *last.Data.MKAI[0] <= 0 || *last.Data.MKAI[1] != 0 || *last.Data.MSAD[0] <= *last.Data.MConf[0] || last.LocName != "Kitchen" || *last.MotionTripped != 1 {
			t.Errorf("frame %+v", last)
		}
		if len(f) < 36 || now().Since(last.TS) > 2 {
			t.Errorf("%d frames of 20 s, the last %v s old", len(f), now().Since(last.TS))
		}
		b.quiet(r, quietLength)
		for range 4 {
			b.quiet(r, quietLength)
		}
		equal(t, "events after two minutes of quiet", b.kinds(), []string{motion.MotionDetectedEvent, motion.MotionStoppedEvent})
		if e := b.events(motion.MotionStoppedEvent)[0]; len(e.Debug.MSAD) == 0 || e.DetectedTS != list[0].TS {
			t.Errorf("stopped %+v", e)
		}
	})
}

func TestSilentLinkIsUnknown(t *testing.T) {
	r := recording(t, "espectre", "test_c3_64sc_20260329_130804")
	for name, restart := range map[string]bool{"in one run": false, "over a restart": true} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, b *box) {
				b.home()
				b.quiet(r, 10)
				if restart {
					b.stop()
					b.start()
					b.reconnect()
				}
				silent := int64(now())
				begin := silent + 5
				time.Sleep(85 * time.Second)
				if n := len(b.linkEvents()); n != 2 {
					t.Errorf("%d link events after 85 s of silence", n)
				}
				time.Sleep(10 * time.Second)
				gone := b.linkEvents()[2:]
				slices.Sort(gone)
				equal(t, "after 95 s", gone, []string{"LinkDisconnectedEvent EXA1000134.02bb00000032", "LinkDisconnectedEvent GWA1000133.02bb00000031"})
				if got := b.points(begin, begin+60, 20); strings.Trim(got, "nul ") != "" {
					t.Errorf("samples of the silence %s", got)
				}
				if top, _ := b.Inventory.Topology(b.network(), false); len(top.Links) != 0 {
					t.Errorf("links %+v", top.Links)
				}
				b.quiet(r, 1)
				if got := b.linkEvents(); len(got) != 6 || !strings.HasPrefix(got[5], "LinkConnectedEvent") {
					t.Errorf("after its return: %q", got)
				}
			})
		})
	}
}

func TestDeviceWithoutAClockSenses(t *testing.T) {
	r := recording(t, "espectre", "test_c3_64sc_20260329_130804")
	for name, s := range map[string]stream{
		"no clock at all":       {clockless: true},
		"clock that is at 1970": {skew: -float64(946684800) + 100},
		"clock a year ahead":    {skew: 365 * 24 * 3600},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, b *box) {
				b.home()
				s.device, s.src, s.dst, s.recording = masterKey, kitchen, masterAP, r
				b.play(20, s)
				moving := now()
				s.from = motionStart
				b.play(10, s)
				list := b.events(motion.MotionDetectedEvent)
				if len(list) != 1 || list[0].TS.Since(moving) < 1 || list[0].TS.Since(moving) > 5 {
					t.Errorf("detections %+v, motion began at %v", list, moving)
				}
			})
		})
	}
}

func TestDeviceWithAClockOffIsMovedOntoTheNetworks(t *testing.T) {
	r := recording(t, "espectre", "test_c3_64sc_20260329_130804")
	for name, skew := range map[string]motion.Seconds{"30 s behind": -30, "30 s ahead": 30, "2 s ahead": 2, "within slack": 1} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, b *box) {
				id := b.home()
				good := stream{device: masterKey, src: kitchen, dst: masterAP, recording: r}
				off := stream{device: peerKey, src: hallway, dst: peerAP, recording: r, skew: skew}
				b.play(5, good)
				live := b.watch(id)
				defer live.Close()
				b.play(20, good, off)
				if list := frames(t, live); len(list) < 38 || now().Since(list[len(list)-1].TS) > 2 {
					t.Errorf("%d frames of 20 s while the clocks differed", len(list))
				}
				b.play(10, good, off)
				list := frames(t, live)
				both := 0
				for _, f := range list {
					if len(f.Links) == 2 && f.Data.MKAI[0] != nil && f.Data.MKAI[1] != nil {
						both++
					}
					if age := now().Since(f.TS); age < -0.5 || age > 12 {
						t.Fatalf("frame of %v s ago", age)
					}
				}
				if both < 15 || len(list) < 18 {
					t.Errorf("%d of %d frames have both links", both, len(list))
				}
				b.play(10, stream{device: masterKey, src: kitchen, dst: masterAP, recording: r, from: motionStart},
					stream{device: peerKey, src: hallway, dst: peerAP, recording: r, from: motionStart, skew: skew})
				equal(t, "events", b.kinds(), []string{motion.MotionDetectedEvent})
			})
		})
	}
}

func TestShortOutageCostsNoMoreThanItself(t *testing.T) {
	r := recording(t, "espectre", "test_c3_64sc_20260329_130804")
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		s := stream{device: masterKey, src: kitchen, dst: masterAP, recording: r}
		b.play(10, s)
		time.Sleep(1500 * time.Millisecond)
		live := b.watch(id)
		defer live.Close()
		b.play(5, s)
		if list := frames(t, live); len(list) < 11 {
			t.Errorf("%d frames of 5 s after an outage of 1.5 s", len(list))
		}
		s.skew = 20 // as in a replay that is faster than its recording, after a gap
		b.play(5, s)
		if list := frames(t, live); len(list) < 8 {
			t.Errorf("%d frames of 5 s after a leap of 20 s", len(list))
		}
	})
}

func TestDeviceThatCorrectsItsClockIsBelievedAgain(t *testing.T) {
	r := recording(t, "espectre", "test_c3_64sc_20260329_130804")
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		good := stream{device: masterKey, src: kitchen, dst: masterAP, recording: r}
		off := stream{device: peerKey, src: hallway, dst: peerAP, recording: r, skew: -30}
		b.play(20, good, off)
		live := b.watch(id)
		defer live.Close()
		off.skew = 0
		b.play(20, off)
		list := frames(t, live)
		if age := now().Since(list[len(list)-1].TS); age > 2 {
			t.Errorf("the last frame is %v s old", age)
		}
	})
}

func TestClockSetBackGoesOn(t *testing.T) {
	r := recording(t, "espectre", "test_c3_64sc_20260329_130804")
	run(t, func(t *testing.T, b *box) {
		b.home()
		s := stream{device: masterKey, src: kitchen, dst: masterAP, recording: r, skew: 120}
		b.play(20, s)
		s.skew = 0
		b.play(10, s)
		s.from = motionStart
		b.play(10, s)
		equal(t, "events", b.kinds(), []string{motion.MotionDetectedEvent})
	})
}

func TestPauseDisconnectsNoLink(t *testing.T) {
	r := recording(t, "espectre", "test_c3_64sc_20260329_130804")
	run(t, func(t *testing.T, b *box) {
		b.home()
		b.quiet(r, 5)
		b.configure(func(n *motion.Network) { n.Meta = motion.Document{"motion_paused": 1} })
		for range 5 {
			b.quiet(r, 25)
		}
		if got := b.linkEvents(); len(got) != 2 {
			t.Errorf("link events %q", got)
		}
	})
}

func TestBadBatchIsRefused(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		b.refuse(masterKey, motion.RawCSI("CSI1 and so on"), fault.Malformed)
		b.refuse(masterKey, batch(kitchen, peerAP, now(), nil), fault.Invalid)
		b.refuse(masterKey, batch(kitchen, motion.MAC{2, 9}, now(), nil), fault.Invalid)
		b.refuse(masterKey, batch(motion.MAC{}, masterAP, now(), nil), fault.Invalid)
		if got := b.linkEvents(); len(got) != 0 {
			t.Errorf("links %q", got)
		}
	})
}

func TestNeighbourhoodDoesNotFillTheBox(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		for i := range 120 {
			b.report(masterKey, batch(motion.MAC{2, 0xcc, 0, 0, 1, byte(i)}, masterAP, now(), nil))
		}
		b.refuse(masterKey, batch(kitchen, masterAP, now(), nil), fault.TooLarge)
		b.report(masterKey, batch(motion.MAC{2, 0xcc, 0, 0, 1, 0}, masterAP, now(), nil))
	})
}

func TestSoundingBetweenNodesIsAMeshLink(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		b.report(masterKey, batch(peerAP, masterAP, now(), nil))
		equal(t, "links", b.linkEvents(), []string{"LinkCreatedEvent GWA1000133.EXA1000134"})
		if top, _ := b.Inventory.Topology(id, true); top.Links[0].Type != "MESH" || !top.Links[0].Sounding {
			t.Errorf("link %+v", top.Links[0])
		}
	})
}

// figures reports so many seconds of link-motion, two a second.
func (b *box) figures(length motion.Seconds, mkai func(i int) float64, more ...motion.LinkMotion) {
	b.t.Helper()
	for i := range int(2 * length) {
		time.Sleep(500 * time.Millisecond)
		r := linkMotion(mkai(i))
		r.Links = append(r.Links, more...)
		b.report(masterKey, r)
	}
}

func constant(v float64) func(int) float64 { return func(int) float64 { return v } }

func TestSensitivityIsObeyed(t *testing.T) {
	for name, c := range map[string]struct {
		network, client float64 // levels; 0 = not set
		want            []string
	}{
		"high":                        {want: []string{motion.MotionDetectedEvent}},
		"very low":                    {network: 4, want: []string{}},
		"high, this leaf very low":    {client: 4, want: []string{}},
		"very low, this leaf is high": {network: 4, client: 1, want: []string{motion.MotionDetectedEvent}},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, b *box) {
				b.home()
				b.configure(func(n *motion.Network) {
					if c.network > 0 {
						motionEvents(n, "sens", c.network)
					}
					if c.client > 0 {
						n.RadarConfig = motion.Document{"sounding": map[string]any{"clients": map[string]any{kitchen.String(): map[string]any{"mode": "allow", "sens": c.client}}}}
					}
				})
				b.figures(240, constant(0.02)) // learns the figure's floor, which it takes for motion at first
				before := len(b.kinds())
				b.figures(10, constant(0.2))
				equal(t, "events", b.kinds()[before:], c.want)
			})
		})
	}
}

func TestLinkThatAlwaysMovesIsReportedAsNoisy(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		if err := b.Inventory.PlaceLeaf(context.Background(), id, motion.MAC{2, 0xbb, 0, 0, 0, 0x33}, "Kitchen", ""); err != nil {
			t.Fatal(err)
		}
		if master, err := b.Inventory.NodeByDevice(context.Background(), masterKey.ID); err != nil {
			t.Fatal(err)
		} else if err := b.Inventory.PlaceNode(context.Background(), master.ID, "Hallway", ""); err != nil {
			t.Fatal(err)
		}
		witness := motion.LinkMotion{Src: motion.MAC{2, 0xbb, 0, 0, 0, 0x33}, Dst: masterAP, MKAI: 0.02, LRaw: math.NaN()}
		b.figures(60, constant(0.02), witness)
		b.figures(700, func(i int) float64 { return []float64{0.9, 0.15}[i%2] }, witness)
		list := b.events(motion.LinkNoisyEvent)
		if len(list) != 1 || list[0].Category != motion.CategorySystem || list[0].LinkID != masterName+"."+kitchen.Name() ||
			list[0].Detail["noisy"] != true || list[0].Detail["location"] != "Kitchen" {
			t.Errorf("events %+v", list)
		}
		b.stop()
		b.start()
		b.reconnect()
		b.figures(60, func(i int) float64 { return []float64{0.9, 0.15}[i%2] }, witness)
		if n := len(b.events(motion.LinkNoisyEvent)); n != 1 {
			t.Errorf("%d events after a restart: the mark was forgotten", n)
		}
	})
}

// A node that has no channel state at all reports the signal strength of its links.
func TestSignalStrengthAloneSenses(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		signal := func(length motion.Seconds, rssi func(i int) float64) {
			for i := range int(5 * length) {
				time.Sleep(200 * time.Millisecond)
				b.report(masterKey, motion.LinkMotions{TS: now(), Interval: 200, Links: []motion.LinkMotion{
					{Src: kitchen, Dst: masterAP, MKAI: math.NaN(), LRaw: math.NaN(), Throughput: math.NaN(), RSSI: rssi(i)},
				}})
			}
		}
		signal(60, func(i int) float64 { return -59 - float64(i%2) })
		equal(t, "events of a quiet room", b.kinds(), []string{})
		signal(10, func(i int) float64 { return -50 - float64(i*7%19) })
		equal(t, "events", b.kinds(), []string{motion.MotionDetectedEvent})
	})
}

// Frames at 10 Hz are decided by their power against the quiet of the room.
func TestSlowRealLinkSenses(t *testing.T) {
	r := recording(t, "ialr", "part_1")
	run(t, func(t *testing.T, b *box) {
		b.home()
		b.configure(func(n *motion.Network) { motionEvents(n, "cooldown", 10) })
		begin := now()
		b.play(200, stream{device: masterKey, src: kitchen, dst: masterAP, recording: r})
		found := map[capture.Label]int{}
		for _, e := range b.events(motion.MotionDetectedEvent) {
			found[labelAt(r, e.TS.Since(begin))]++
		}
		if found[capture.Motion] == 0 || found[capture.Quiet] > 0 {
			t.Errorf("detections by label %v", found)
		}
	})
}

// labelAt returns what the recording says of a moment.
func labelAt(r *capture.Recording, at motion.Seconds) capture.Label {
	label := capture.Ignored
	for _, f := range r.Frames {
		if f.Time <= at {
			label = f.Label
		}
	}
	return label
}
