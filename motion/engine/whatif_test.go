package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sensegate/firmware-sim/channel"
	"sensegate/firmware-sim/scenario"
	"sensegate/motion"
	"sensegate/motion/csi"
	"sensegate/motion/engine/sensing"
)

// performance is what the links of a simulated flat measure, step by step.
type performance [][]csi.Batch

const performanceStep motion.Seconds = 0.5

// perform simulates a part of a Monday in the flat, without the clocks' errors.
func perform(t *testing.T, from, length time.Duration) (p performance) {
	t.Helper()
	home, err := scenario.Open("flat")
	if err != nil {
		t.Fatal(err)
	}
	day := home.Day(1, time.Date(2025, time.November, 24, 0, 0, 0, 0, time.UTC))
	plan, begin := home.Plan(), day.Begin.Add(from.Seconds())
	p = make(performance, int(length.Seconds()/performanceStep))
	for i, link := range home.Links() {
		config := home.Radio(plan, link, 1)
		config.Device.Offset, config.Device.Drift = 0, 0
		radio, bins := channel.NewLink(config), config.Layout
		dst := []motion.MAC{masterAP, peerAP}[link.Node]
		src := motion.MAC{2, 0xbb, 0, 0, 1, byte(i)}
		if link.Peer >= 0 {
			src = peerAP
		}
		for k := range p {
			at := begin.Add(float64(k) * performanceStep)
			b := csi.Batch{Src: src, Dst: dst, Flags: bins.Flags, Channel: 6, Subcarriers: len(bins.Indices), Ends: bins.Ends}
			for _, f := range radio.Sound(nil, at, at.Add(performanceStep), &day.Scene) {
				b.Frames = append(b.Frames, csi.Frame{Offset: uint32(f.Time.Since(at) * 1e6), RSSI: f.RSSI, Noise: f.Noise, Data: slices.Clone(f.Data)})
			}
			if len(b.Frames) > 0 {
				p[k] = append(p[k], b)
			}
		}
	}
	return p
}

// show sends what a performance's links measure.
func (b *box) show(p performance) {
	b.t.Helper()
	for _, step := range p {
		start := now()
		time.Sleep(seconds(performanceStep))
		for _, batch := range step {
			batch.Start = uint64(start.Micros())
			device := masterKey
			if batch.Dst == peerAP {
				device = peerKey
			}
			b.report(device, motion.RawCSI(csi.Append(nil, &batch)))
		}
	}
}

// whatIf asks what another sensitivity would have made of the last 24 hours.
func (b *box) whatIf(level int) sensing.Replay {
	b.t.Helper()
	r, err := b.Sensing.WhatIf(b.t.Context(), b.network(), 0, sensing.Settings{Sens: &level})
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// TestWhatIfSaysWhatAnotherSensitivityDoes runs the same frames at each level, and holds what each
// run says of the others against what they detect. There is no tolerance: each level has a baseline
// of its own, so it learns as a home at that level does.
func TestWhatIfSaysWhatAnotherSensitivityDoes(t *testing.T) {
	p := perform(t, 19*time.Hour+10*time.Minute, 14*time.Minute)
	var moments [5]int
	var answers [5][5]sensing.Replay
	t.Run("at", func(t *testing.T) {
		for own := 1; own <= 4; own++ {
			t.Run(fmt.Sprint(own), func(t *testing.T) {
				run(t, func(t *testing.T, b *box) {
					b.home()
					b.sound(fmt.Sprintf(`{"sensitivity":%d,"cooldown":2}`, own))
					b.show(p)
					moments[own] = len(b.events(motion.MotionDetectedEvent))
					for other := 1; other <= 4; other++ {
						answers[own][other] = b.whatIf(other)
					}
				})
			})
		}
	})
	if moments[1] <= moments[4] || moments[4] == 0 {
		t.Errorf("moments by level: %v, want more at the first than at the last", moments[1:])
	}
	for own := 1; own <= 4; own++ {
		for other := 1; other <= 4; other++ {
			a := answers[own][other]
			if a.Why != "" || a.Now == nil || a.Then == nil || *a.Now != moments[own] || *a.Then != moments[other] {
				t.Errorf("at %d what-if %d says %s, want %d and %d", own, other, replayText(a), moments[own], moments[other])
			}
		}
	}
}

// replayText writes what a replay says: the moments as they were, as they would have been, and why not.
func replayText(r sensing.Replay) string {
	figure := func(n *int) string {
		if n == nil {
			return "?"
		}
		return fmt.Sprint(*n)
	}
	return strings.TrimSpace(figure(r.Now) + " then " + figure(r.Then) + " " + r.Why)
}

// expect checks what whatIf says of another level, but for the time.
func (b *box) expect(what string, level int, want string) {
	b.t.Helper()
	if got := replayText(b.whatIf(level)); got != want {
		b.t.Errorf("%s: %q, want %q", what, got, want)
	}
}

// weak are link-motion figures of a faint movement in every minute.
func weak(i int) float64 {
	if i%120 < 20 && i >= 120 {
		return 0.0012
	}
	return 0.0001
}

// faint reports so many seconds of them.
func (b *box) faint(length motion.Seconds) {
	b.t.Helper()
	for i := range int(2 * length) {
		time.Sleep(500 * time.Millisecond)
		b.report(masterKey, motion.LinkMotions{TS: now(), Interval: 500, Links: []motion.LinkMotion{
			{Src: kitchen, Dst: masterAP, LRaw: weak(i), MKAI: 0, Throughput: 1, RSSI: -59},
		}})
	}
}

func TestWhatIfOfLinkMotionNeedsTheFigureBeforeGating(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		b.sound(`{"sensitivity":4,"cooldown":10}`)
		b.faint(300)
		b.expect("with lraw", 1, "0 then 4")
		b.figures(1, constant(0))
		b.expect("after a figure that the device had cut", 1, "0 then ? sensitivity")
		b.expect("without another sensitivity", 4, "0 then 0")
	})
}

func TestWhatIfLeavesALinkItsOwnSensitivity(t *testing.T) {
	for own, want := range map[string]string{
		`{"devices":[]}`: "4 then 0",
		`{"devices":[{"mac":"02:bb:00:00:00:31","sensitivity_mode":"override","sensitivity":1}]}`: "4 then 4",
	} {
		t.Run(want, func(t *testing.T) {
			run(t, func(t *testing.T, b *box) {
				b.home()
				b.sound(`{"cooldown":10}`)
				b.faint(1) // the link is there before it is changed
				if err := b.clients(own); err != nil {
					t.Fatal(err)
				}
				b.faint(300)
				b.expect("at level 4", 4, want)
			})
		})
	}
}

func TestWhatIfBeginsWithTheStart(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		b.sound(`{"sensitivity":4,"cooldown":10}`)
		b.figures(5, constant(0.4))
		b.stop()
		b.start()
		b.reconnect()
		b.expect("after a restart", 1, "1 then ? restarted")
		begin := now()
		time.Sleep(30 * time.Second)
		b.report(masterKey, batch(kitchen, masterAP, now(), nil))
		time.Sleep(2 * time.Second)
		for range 8 {
			b.report(masterKey, batch(kitchen, masterAP, now(), nil))
			time.Sleep(500 * time.Millisecond)
		}
		if a := b.whatIf(1); a.Why != "" || a.From <= begin || a.Then == nil {
			t.Errorf("with new samples %s from %v, begun %v", replayText(a), a.From, begin)
		}
	})
}

func TestWhatIfDoesNotJudgeAGuardiansFigures(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		b.report(guardianKey, status())
		b.send(30, 0.35, 0)
		b.expect("of a matrix", 2, "1 then ? sensitivity")
	})
}
