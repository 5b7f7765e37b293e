package engine_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"sensegate/motion"
)

var office = motion.MAC{2, 0xbb, 0, 0, 0, 0x33}

// three reports so many seconds of figures of three leafs of the master, of whose
// sounding 98, 60 and 30 % succeed.
func (b *box) three(length motion.Seconds, mkai float64) {
	b.t.Helper()
	for range int(2 * length) {
		time.Sleep(500 * time.Millisecond)
		r := linkMotion(0.02)
		for mac, share := range map[motion.MAC]float64{hallway: 0.6, office: 0.3} {
			r.Links = append(r.Links, motion.LinkMotion{Src: mac, Dst: masterAP, MKAI: mkai, LRaw: mkai, Throughput: share, RSSI: -59})
		}
		b.report(masterKey, r)
	}
}

// sounded returns how sounding clients, topology and status show three leafs.
func (b *box) sounded() string {
	b.t.Helper()
	text := ""
	topology, err := b.Inventory.Topology(b.network(), true)
	if err != nil {
		b.t.Fatal(err)
	}
	report, err := b.lastStatus(b.network())
	if err != nil {
		b.t.Fatal(err)
	}
	for _, mac := range []motion.MAC{kitchen, hallway, office} {
		c := b.client(mac)
		text += fmt.Sprintf("%v %s, ", c.Status, c.Reason)
		for _, d := range topology.Devices {
			if d.MACs[0] == mac.String() && (d.Type == motion.LeafRole) != c.Status {
				b.t.Errorf("the topology shows %+v, sounding clients %+v", d, c)
			}
		}
		for _, l := range topology.Links {
			if l.SrcName == mac.Name() && l.Sounding != c.Status {
				b.t.Errorf("the topology shows %+v, sounding clients %+v", l, c)
			}
		}
		choice := report.Leafblower[mac.String()]
		if *choice.Sounding != c.Status || len(choice.AP) != 1 || choice.AP[masterName] != c.Score {
			b.t.Errorf("the status shows %+v, sounding clients %+v", choice, c)
		}
	}
	return text
}

func TestLinksAreChosenByTheirScore(t *testing.T) {
	const all = "true N/A, true N/A, true N/A, "
	for name, c := range map[string]struct{ settings, want string }{
		"by default":                   {`{}`, all},
		"one link":                     {`{"link_limit":1}`, "true N/A, false LINK_LIMIT, false LINK_LIMIT, "},
		"two links":                    {`{"link_limit":2}`, "true N/A, true N/A, false LINK_LIMIT, "},
		"half of the sounding":         {`{"leafblower_cutoff":0.5}`, "true N/A, true N/A, false LOW_SCORE, "},
		"all of the sounding":          {`{"leafblower_cutoff":1,"link_limit":1}`, "false LOW_SCORE, false LOW_SCORE, false LOW_SCORE, "},
		"whatever the quality":         {`{"leafblower_cutoff":-1.1}`, all},
		"one link, of a zone before":   {`{"link_limit":1,"zone_priority_list":["Hallway"]}`, "false LINK_LIMIT, true N/A, false LINK_LIMIT, "},
		"one link, and half of it":     {`{"link_limit":1,"leafblower_cutoff":0.5}`, "true N/A, false LINK_LIMIT, false LOW_SCORE, "},
		"a zone before, which is poor": {`{"link_limit":1,"leafblower_cutoff":0.5,"zone_priority_list":["Office"]}`, "true N/A, false LINK_LIMIT, false LOW_SCORE, "},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, b *box) {
				if err := b.Inventory.PlaceLeaf(context.Background(), b.home(), office, "Office", ""); err != nil {
					t.Fatal(err)
				}
				b.three(240, 0.02)
				b.sound(c.settings)
				b.three(2, 0.02)
				if got := b.sounded(); got != c.want {
					t.Errorf("sounded: %s\nwant %s", got, c.want)
				}
				b.sound(`{"link_limit":8,"leafblower_cutoff":0,"zone_priority_list":[]}`)
				if got := b.sounded(); got != all {
					t.Errorf("afterwards: %s", got)
				}
			})
		})
	}
}

func TestLinkThatIsNotChosenTakesNoPart(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		b.three(240, 0.02)
		b.sound(`{"link_limit":1}`)
		before := len(b.kinds())
		live := b.watch(id)
		defer live.Close()
		b.three(3, 0.02) // what was fused before is over
		drain(t, live)
		b.three(20, 0.9)
		for _, f := range frames(t, live) {
			for i, link := range f.Links {
				if link != kitchenLink && f.Data.MKAI[i] != nil {
					t.Fatalf("%s has %v in a frame", link, *f.Data.MKAI[i])
				}
			}
		}
		equal(t, "motion at links that are not sounded", b.kinds()[before:], nil)
		if l := b.explain()[masterName+"."+hallway.Name()]; !says(l, "link_limit") {
			t.Errorf("link %+v", l)
		}
		b.sound(`{"link_limit":8}`)
		b.three(10, 0.9)
		equal(t, "motion when they are", b.kinds()[before:], []string{motion.MotionDetectedEvent})
	})
}

func TestEveryZoneHasALinkBeforeASecondOne(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		oven := motion.MAC{2, 0xbb, 0, 0, 0, 0x30} // by name the two of the kitchen would be first
		if err := b.Inventory.PlaceLeaf(context.Background(), b.network(), oven, "Kitchen", ""); err != nil {
			t.Fatal(err)
		}
		b.sound(`{"link_limit":2}`)
		sensed := func(mac motion.MAC) motion.LinkMotion {
			return motion.LinkMotion{Src: mac, Dst: masterAP, MKAI: 0.02, LRaw: 0.02, Throughput: 0.98, RSSI: -59}
		}
		b.figures(10, constant(0.02), sensed(oven), sensed(hallway))
		for mac, want := range map[motion.MAC]string{oven: "N/A", hallway: "N/A", kitchen: "LINK_LIMIT"} {
			if c := b.client(mac); c.Reason != want || c.Status != (want == "N/A") {
				t.Errorf("%s: %+v, want %s", mac, c.SoundingState, want)
			}
		}
	})
}

func TestWarmUpIsAsLongAsItIsSet(t *testing.T) {
	warm := func(b *box) any {
		if left := b.client(kitchen).Warmup; left != nil {
			return *left
		}
		return nil
	}
	for name, c := range map[string]struct {
		config string
		want   []any // after 10, 20, … seconds
	}{
		"by default": {`{}`, []any{21, 11, 1, nil}},
		"shorter":    {`{"sounding":{"warmup_s":15}}`, []any{6, nil}},
		"none":       {`{"sounding":{"warmup_s":0}}`, []any{nil}},
		"longer":     {`{"sounding":{"warmup_s":300}}`, []any{291, 281}},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, b *box) {
				b.home()
				b.radarConfig(c.config)
				b.figures(0.5, constant(0.02))
				for i, want := range c.want {
					b.figures(10, constant(0.02))
					got := warm(b)
					left, running := got.(int32)
					wanted, wantRunning := want.(int)
					if running != wantRunning || running && (int(left) < wanted-2 || int(left) > wanted+1) {
						t.Errorf("after %d s: %v, want %v", 10*(i+1), got, want)
					}
				}
				if name == "longer" {
					b.radarConfig(`{"sounding":{"warmup_s":1}}`)
					b.figures(2, constant(0.02))
					if got := warm(b); got != nil {
						t.Errorf("made shorter while it ran: %v", got)
					}
				}
			})
		})
	}
}

// Links of raw channel state show the channel of their frames, also after their
// records were read again.
func TestChannelIsThatOfTheFrames(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		for i, want := range []struct {
			channel int
			band    string
		}{{6, "2.4"}, {157, "5"}} {
			for _, src := range []motion.MAC{kitchen, peerAP} {
				payload := batch(src, masterAP, now(), nil)
				payload[25] = byte(want.channel) // device-protocol.md 2.5
				b.report(masterKey, payload)
			}
			if err := b.Inventory.PlaceLeaf(context.Background(), id, hallway, fmt.Sprint("Room ", i), ""); err != nil {
				t.Fatal(err)
			}
			topology, err := b.Inventory.Topology(id, false)
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range topology.Links {
				if l.Channel != want.channel || l.Band != want.band {
					t.Errorf("link %+v, want channel %d", l, want.channel)
				}
			}
			if links := b.client(kitchen).Links; len(topology.Links) != 2 || len(links) != 1 || int(links[0].Channel) != want.channel {
				t.Errorf("%d links, kitchen %+v", len(topology.Links), links)
			}
		}
	})
}

func TestLiveFramesAreAsLongAsTheyAreSet(t *testing.T) {
	for _, interval := range []int{100, 500, 1000, 1700} {
		t.Run(fmt.Sprint(interval), func(t *testing.T) {
			run(t, func(t *testing.T, b *box) {
				id := b.home()
				b.devices.commands(guardianKey, "live")
				b.guardianConfig(fmt.Sprintf(`{"live_motion":{"interval":%d}}`, interval))
				live := b.watch(id)
				defer live.Close()
				equal(t, "asked of the guardian", b.devices.commands(guardianKey, "live"), []string{fmt.Sprintf(`{"enable":1,"interval":%d,"timeout_s":60}`, min(interval, 500))})
				length := max(500, (interval+499)/500*500)
				steps := length / 500
				for i := range 4 * steps {
					time.Sleep(500 * time.Millisecond)
					value := 0.1
					if i%steps == steps/2 {
						value = 0.6 // the strongest of each frame
					}
					b.report(guardianKey, matrix(value, 0))
				}
				list := frames(t, live)
				for i, f := range list {
					if f.Interval != length || *f.Data.MKAI[0] != 0.6 || *f.Data.MKAI[1] != 0 || f.LocName != "Kitchen" || i > 0 && f.TS.Since(list[i-1].TS) != motion.Seconds(length)/1000 {
						t.Errorf("frame %d: %+v", i, f)
					}
				}
				if len(list) != 4 {
					t.Errorf("%d frames", len(list))
				}
				time.Sleep(10 * time.Second)
				b.report(guardianKey, matrix(0.3, 0)) // of a gap nothing is told
				time.Sleep(3 * time.Second)
				b.send(2, 0.3, 0)
				for _, f := range frames(t, live) {
					if f.Interval > length {
						t.Errorf("frame after a gap: %+v", f)
					}
				}
			})
		})
	}
}
