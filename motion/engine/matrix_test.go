package engine_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"sensegate/motion"
	"sensegate/motion/engine/state"
	"sensegate/motion/fault"
)

func TestMatrixBecomesALiveFrame(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		b.report(guardianKey, status())
		live := b.watch(id)
		defer live.Close()
		m := matrix(0.35, 0)
		m.Loc = []motion.MatrixLoc{{MAC: kitchen, Confidence: 0.82}}
		m.MotionTripped, m.LastMotion = 1, now()
		m.Values[motion.Throughput][1][0] = math.NaN()
		b.report(guardianKey, m)
		shown := drain(t, live)[0]
		if reach := shown.Frame.Data.Reach; len(reach) != 2 || *reach[0] != 1.56 || *reach[1] != 0.01 {
			t.Errorf("reach %v, want msad as shares of base_threshold", reach)
		}
		got := string(shown.JSON)
		want := fmt.Sprintf(`{"ts":%[1]d,"interval":500,"count":1,"links":["GWA1000133.02bb00000031","EXA1000134.02bb00000032"],`+
			`"data":{"mkai":[0.35,0],"lraw":[0.35,0],"throughput":[1,null],"mconf":[84.85,84.85],"msad":[132.7,1.2]},`+
			`"loc":["02:bb:00:00:00:31",0.82],"loc_name":"Kitchen","last_motion":%[1]d,"motion_tripped":0,"motion_enabled":1}`, int64(now()))
		if got != want {
			t.Errorf("frame\n%s\nwant\n%s", got, want)
		}
		time.Sleep(500 * time.Millisecond)
		b.report(guardianKey, matrix(0, 0))
		if f := frames(t, live)[0]; f.LocName != "" || len(f.Loc) != 1 || f.Loc[0] != "nomotion" {
			t.Errorf("quiet frame %+v", f)
		}
		if _, err := b.Sensing.Live(id + 1); fault.KindOf(err) != fault.NotFound {
			t.Errorf("unknown network: %v", err)
		}
	})
}

func TestChangedSettingsReachTheNextMatrix(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		b.report(guardianKey, status())
		live := b.watch(id)
		defer live.Close()
		for _, c := range []struct{ clients, want string }{
			{`{}`, `[0.35,0.35]`},
			{`{"02:bb:00:00:00:31": {"sens": 4}}`, `[0,0.35]`},
			{`{"02:bb:00:00:00:31": {"sens": 1}, "02:bb:00:00:00:32": {"mode": "deny"}}`, `[0.35,null]`},
		} {
			b.configure(func(n *motion.Network) {
				n.RadarConfig = motion.Document{"sounding": map[string]any{"clients": json.RawMessage(c.clients)}}
			})
			time.Sleep(500 * time.Millisecond)
			drain(t, live)
			b.report(guardianKey, matrix(0.35, 0.35))
			if got := string(drain(t, live)[0].JSON); !strings.Contains(got, `"mkai":`+c.want) {
				t.Errorf("clients %s: frame %s, want mkai %s", c.clients, got, c.want)
			}
		}
	})
}

func TestConfidenceOfPlacesIsShownWhenAskedFor(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		b.report(guardianKey, status())
		live := b.watch(id)
		defer live.Close()
		for enabled, want := range []bool{false, true} {
			b.configure(func(n *motion.Network) {
				n.GuardianConfig = motion.Document{"live_motion": map[string]any{"loc_conf_enable": float64(enabled)}}
			})
			time.Sleep(500 * time.Millisecond)
			drain(t, live)
			b.report(guardianKey, matrix(0.35, 0.35))
			f := frames(t, live)[0]
			if got := len(f.LocConf) > 0; got != want || want && f.LocConf[0] != f.Loc[1] {
				t.Errorf("loc_conf_enable %d: loc %v, loc_conf %v", enabled, f.Loc, f.LocConf)
			}
		}
	})
}

func TestFrameNamesTheRoomsInOneOfWhichMotionIs(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		b.report(guardianKey, status())
		live := b.watch(id)
		defer live.Close()
		for _, c := range []struct {
			kitchen, hallway float64
			want             []string
		}{{0.5, 0.35, []string{"Kitchen", "Hallway"}}, {0, 0.5, []string{"Hallway"}}, {0, 0, nil}} {
			time.Sleep(500 * time.Millisecond)
			b.report(guardianKey, matrix(c.kitchen, c.hallway))
			if got := drain(t, live)[0].Frame.Rooms; !slices.Equal(got, c.want) {
				t.Errorf("%v and %v: rooms %v, want %v", c.kitchen, c.hallway, got, c.want)
			}
		}
	})
}

func TestMatrixOfManySteps(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		b.report(guardianKey, status())
		live := b.watch(id)
		defer live.Close()
		m := &motion.Matrix{TS: now(), Interval: 500, Count: 4, Links: []string{masterName + "." + kitchen.Name()},
			Values: motion.Figures{motion.MKAI: {{0, 0.2, 0.4, math.NaN()}}}}
		b.report(guardianKey, m)
		list := frames(t, live)
		if len(list) != 3 {
			t.Fatalf("%d frames, want one for each step with data", len(list))
		}
		for i, f := range list {
			if f.TS != m.TS.Add(float64(i)/2) || *f.Data.MKAI[0] != 0.2*float64(i) || f.Data.Throughput[0] != nil {
				t.Errorf("frame %d: %+v", i, f)
			}
		}
		from := int64(m.TS) - 1
		if got := b.points(from, from+4, 1); got != "0 0.4 null null " { // rows of [ts−0.5, ts)
			t.Errorf("samples %s", got)
		}
	})
}

func TestOldLinkNamesAreNormalised(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		b.report(guardianKey, status())
		live := b.watch(id)
		defer live.Close()
		m := matrix(0.5, 0.1)
		m.Links = []string{"000112-000031", "UNKNOWN.02dd00000001"}
		b.report(guardianKey, m)
		f := frames(t, live)[0]
		equal(t, "links", f.Links, []string{masterName + "." + kitchen.Name(), "UNKNOWN.02dd00000001"})
	})
}

func TestMatrixRaisesDetectedAndStopped(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		b.report(guardianKey, status())
		pushed, err := b.Sensing.LiveEvents(id)
		if err != nil {
			t.Fatal(err)
		}
		defer pushed.Close()
		b.send(10, 0, 0)
		begin := now()
		b.send(10, 0.35, 0.1)
		b.send(125, 0, 0)

		list := b.events(motion.MotionDetectedEvent, motion.MotionStoppedEvent)
		if len(list) != 2 {
			t.Fatalf("events %v", b.kinds())
		}
		detected, stopped := list[0], list[1]
		if got := detected.TS.Since(begin); got != 2 { // 4 of 8 samples
			t.Errorf("detected %v s after motion began", got)
		}
		if fmt.Sprint(detected.IntensityWindow) != "[0 0 0 0 0.35 0.35 0.35]" {
			t.Errorf("window %v", detected.IntensityWindow)
		}
		if detected.LinkID != masterName+"."+kitchen.Name() || detected.LocName != "Kitchen" || detected.NodeName != masterName || *detected.Armed != 1 || detected.Debug != nil {
			t.Errorf("detected %+v", detected)
		}
		if loc := detected.Loc[0]; loc.MAC != kitchen.String() || loc.Location != "Kitchen" || loc.FriendlyName != "kitchen-speaker" || loc.Confidence <= 0 {
			t.Errorf("loc %+v", loc)
		}
		if stopped.DetectedTS != detected.TS || stopped.TS.Since(begin) != 10+120 || stopped.Detail != nil {
			t.Errorf("stopped after %v s: %+v", stopped.TS.Since(begin), stopped)
		}
		if fmt.Sprint(*stopped.Debug) != "{map[] [132.7 96.3] [GWA1000133.02bb00000031 EXA1000134.02bb00000032] [84.85 84.85] 1}" {
			t.Errorf("debug %+v", *stopped.Debug)
		}
		var ids []string
		for _, m := range drain(t, pushed) {
			ids = append(ids, m.Event.ID)
		}
		equal(t, "pushed", ids, []string{detected.ID, stopped.ID})
	})
}

func TestNoDataIsNotQuiet(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		b.report(guardianKey, status())
		b.send(10, 0.35, 0)
		time.Sleep(9 * time.Minute)
		equal(t, "after 9 minutes without data", b.kinds(), []string{motion.MotionDetectedEvent})
		time.Sleep(2 * time.Minute)
		list := b.events(motion.MotionStoppedEvent)
		if len(list) != 1 || list[0].Detail["reason"] != "no_data" {
			t.Fatalf("after 11 minutes: %+v", list)
		}
		from := int64(now()) - 120
		if got := b.points(from, from+120, 60); got != "null null null " && got != "null null " {
			t.Errorf("samples %s", got)
		}
	})
}

// raised is an event as a guardian sends it.
func raised(kind string, ts motion.Time) motion.EventReport {
	return motion.EventReport{Event: motion.Event{
		Category: motion.CategoryMotion, Event: kind, TS: ts, LinkID: masterName + "." + kitchen.Name(),
		Loc: []motion.EventLoc{{MAC: kitchen.String(), Confidence: 0.8}},
	}}
}

func TestGuardianThatRaisesEventsIsNotDoubled(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		b.report(guardianKey, status())
		if got := b.devices.commands(guardianKey, "live"); len(got) == 0 {
			t.Error("live motion is not asked for while nobody knows who raises events")
		}
		b.report(guardianKey, raised(motion.MotionDetectedEvent, now()))
		b.send(10, 0.35, 0)
		equal(t, "events", b.kinds(), []string{motion.MotionDetectedEvent})
		e := b.events(motion.MotionDetectedEvent)[0]
		if e.LocName != "Kitchen" || e.Loc[0].FriendlyName != "kitchen-speaker" || *e.Armed != 1 || e.LinkDstName != masterName {
			t.Errorf("completed event %+v", e)
		}
		b.devices.commands(guardianKey, "live")
		time.Sleep(2 * time.Minute)
		if got := b.devices.commands(guardianKey, "live"); len(got) != 0 {
			t.Errorf("live commands although nobody watches: %q", got)
		}

		b.stop()
		b.start()
		b.reconnect()
		b.report(guardianKey, status())
		b.send(10, 0.35, 0)
		equal(t, "events after a restart", b.kinds(), []string{motion.MotionDetectedEvent})
		b.stop()
		b.start()
	})
}

func TestGuardianThatOnlyRaisesEventsIsRemembered(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		b.report(guardianKey, raised(motion.MotionDetectedEvent, now()))
		b.stop()
		b.start()
		b.reconnect()
		b.send(10, 0.35, 0)
		equal(t, "events after a restart", b.kinds(), []string{motion.MotionDetectedEvent})
	})
}

func TestFirstEventOfTheGuardianEndsOurs(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		b.send(10, 0.35, 0)
		b.report(guardianKey, raised(motion.MotionDetectedEvent, now()))
		b.send(10, 0.35, 0)
		list := b.events(motion.MotionDetectedEvent, motion.MotionStoppedEvent)
		if len(list) != 3 || list[0].Event != motion.MotionDetectedEvent {
			t.Fatalf("events %v", b.kinds())
		}
		for _, e := range list[1:] {
			if e.Event == motion.MotionStoppedEvent && (e.DetectedTS != list[0].TS || e.Detail["reason"] != "source") {
				t.Errorf("stopped %+v", e)
			}
		}
		time.Sleep(20 * time.Minute)
		if got := b.kinds(); len(got) != 3 {
			t.Errorf("events %v", got)
		}
	})
}

func TestSourceHoldsTheNetworkForTenMinutes(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		b.send(1, 0, 0)
		b.refuse(masterKey, batch(kitchen, masterAP, now(), nil), fault.Conflict)
		b.refuse(masterKey, linkMotion(0.1), fault.Conflict)
		time.Sleep(599 * time.Second)
		b.refuse(masterKey, batch(kitchen, masterAP, now(), nil), fault.Conflict)
		time.Sleep(2 * time.Second)
		b.report(masterKey, batch(kitchen, masterAP, now(), nil))
		b.refuse(guardianKey, matrix(0, 0), fault.Conflict)
		b.refuse(guardianKey, raised(motion.MotionDetectedEvent, now()), fault.Conflict)
		time.Sleep(601 * time.Second)
		b.report(guardianKey, matrix(0, 0))
	})
}

// linkMotion is a figure that a node has computed itself.
func linkMotion(mkai float64) motion.LinkMotions {
	return motion.LinkMotions{TS: now(), Interval: 500, Links: []motion.LinkMotion{
		{Src: kitchen, Dst: masterAP, MKAI: mkai, LRaw: math.NaN(), Throughput: 0.98, RSSI: -59},
	}}
}

func TestArmedZeroIsNeitherStoredNorPushed(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		b.report(guardianKey, status())
		b.configure(func(n *motion.Network) { motionEvents(n, "armed", 0) })
		pushed, err := b.Sensing.LiveEvents(id)
		if err != nil {
			t.Fatal(err)
		}
		defer pushed.Close()
		b.send(10, 0.35, 0)
		b.send(130, 0, 0)
		if got := b.kinds(); len(got) != 0 || len(drain(t, pushed)) != 0 {
			t.Errorf("stored %v", got)
		}
		b.send(10, 0.35, 0) // open, unarmed
		b.configure(func(n *motion.Network) { motionEvents(n, "armed", 1) })
		b.send(10, 0.35, 0)
		equal(t, "armed while it moves", b.kinds(), []string{motion.MotionDetectedEvent})
		b.report(guardianKey, raised(motion.MotionDetectedEvent, now())) // and of a guardian
		b.configure(func(n *motion.Network) { motionEvents(n, "armed", 0) })
		before := len(b.kinds())
		b.report(guardianKey, raised(motion.MotionDetectedEvent, now()))
		if got := len(b.kinds()); got != before {
			t.Errorf("%d events of a guardian while unarmed", got-before)
		}
	})
}

func TestPausedNetworkIsUnknown(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		b.send(10, 0.35, 0)
		live := b.watch(id)
		defer live.Close()
		b.configure(func(n *motion.Network) { n.Meta = motion.Document{"motion_paused": 1} })
		list := b.events(motion.MotionStoppedEvent)
		if len(list) != 1 || list[0].Detail["reason"] != "paused" {
			t.Errorf("open detection at the pause: %+v", list)
		}
		time.Sleep(time.Second)
		begin := int64(now())
		drain(t, live)
		b.send(20, 0.35, 0)
		b.report(guardianKey, raised(motion.MotionDetectedEvent, now()))
		b.report(guardianKey, motion.History{TS: now() - 10, Interval: 5000, Count: 1, MKAI: []float64{0.5}})
		got := drain(t, live)
		if len(got) < 15 {
			t.Errorf("%d live frames in 20 s", len(got))
		}
		want := `"links":[],"data":{"mkai":[],"lraw":[],"throughput":[],"mconf":[],"msad":[]},"loc":["nomotion"],"loc_name":"",`
		for _, m := range got {
			if text := string(m.JSON); !strings.Contains(text, want) || !strings.HasSuffix(text, `"motion_tripped":null,"motion_enabled":0}`) {
				t.Fatalf("frame %s", m.JSON)
			}
		}
		if points := b.points(begin, begin+20, 20); strings.Contains(points, "0") {
			t.Errorf("samples %s", points)
		}
		if n := len(b.kinds()); n != 2 {
			t.Errorf("%d events", n)
		}
	})
}

func TestDisabledEventsKeepTheSamples(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		b.configure(func(n *motion.Network) { motionEvents(n, "enabled", 0) })
		begin := int64(now())
		b.send(10, 0.35, 0)
		b.report(guardianKey, raised(motion.MotionDetectedEvent, now()))
		if got := b.kinds(); len(got) != 0 {
			t.Errorf("events %v", got)
		}
		if got := b.points(begin, begin+10, 10); got != "0.35 " {
			t.Errorf("samples %s", got)
		}
	})
}

func TestLiveMotionIsAskedForWhileSomebodyWatches(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		b.report(guardianKey, raised(motion.MotionDetectedEvent, now())) // so that the appliance itself needs none
		b.devices.commands(guardianKey, "live")
		live := b.watch(id)
		want := `{"enable":1,"interval":500,"timeout_s":60}`
		equal(t, "at once", b.devices.commands(guardianKey, "live"), []string{want})
		time.Sleep(61 * time.Second)
		equal(t, "every 30 s", b.devices.commands(guardianKey, "live"), []string{want, want})
		live.Close()
		time.Sleep(61 * time.Second)
		equal(t, "when it has gone", b.devices.commands(guardianKey, "live"), nil)
		if until, err := b.Sensing.Refresh(id); err != nil || until != now()+60 {
			t.Errorf("refresh until %v, %v", until, err)
		}
		time.Sleep(2 * time.Minute)
		if got := b.devices.commands(guardianKey, "live"); len(got) != 3 && len(got) != 2 {
			t.Errorf("%d commands after a refresh of 60 s", len(got))
		}
	})
}

func TestConnectedDeviceGetsItsConfiguration(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		for _, key := range []motion.DeviceKey{guardianKey, masterKey} {
			got := b.devices.commands(key, "config")
			if len(got) != 1 || !strings.HasPrefix(got[0], `{"rev":1,"guardian_config":{"device_events":`) || !strings.HasSuffix(got[0], `"meta":{"motion_paused":0}}`) {
				t.Errorf("%s got %q", key, got)
			}
		}
	})
}

func TestSlowReaderIsCutOff(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		live := b.watch(id)
		b.send(33, 0, 0)
		n := 0
		for range live.All() {
			n++
		}
		if n != 64 || !live.Behind() {
			t.Errorf("%d frames, behind %v", n, live.Behind())
		}
	})
}

func TestMessageIsPreparedOnceForEachAPI(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		one, _ := b.Sensing.Live(id)
		two, _ := b.Sensing.Live(id)
		defer one.Close()
		defer two.Close()
		b.send(0.5, 0, 0)
		made := 0
		prepare := func(state.Message) any { made++; return made }
		first, second := drain(t, one)[0], drain(t, two)[0]
		for range 2 {
			core, household := first.Prepared(state.CoreAPI, prepare), first.Prepared(state.AppAPI, prepare)
			if core != second.Prepared(state.CoreAPI, prepare) || household != second.Prepared(state.AppAPI, prepare) || made != 2 {
				t.Errorf("prepared %v and %v, %d times", core, household, made)
			}
		}
	})
}

func TestTwoLinksOfOneLeafAreOnePlace(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		b.report(guardianKey, status())
		begin := int64(now())
		for range 20 {
			time.Sleep(500 * time.Millisecond)
			m := matrix(0.5, 0.2)
			m.Links[1] = peerName + "." + kitchen.Name()
			b.report(guardianKey, m)
		}
		if got := b.shares(begin, begin+10); got["Kitchen"] != 100 || len(got) != 1 {
			t.Errorf("shares %v", got)
		}
	})
}

func TestPlaceOfTheGuardianIsStoredWithOrWithoutALinkThere(t *testing.T) {
	for name, mac := range map[string]motion.MAC{"Hallway": hallway, "elsewhere": {2, 0xbb, 0, 0, 0, 0x77}} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, b *box) {
				b.home()
				b.report(guardianKey, status())
				begin := int64(now())
				for range 20 {
					time.Sleep(500 * time.Millisecond)
					m := matrix(0.5, 0.2)
					m.Loc = []motion.MatrixLoc{{MAC: mac, Confidence: 0.7}}
					b.report(guardianKey, m)
				}
				if got := b.shares(begin, begin+10); len(got) != 1 || got["Hallway"]+got[mac.String()] != 100 {
					t.Errorf("shares %v", got)
				}
			})
		})
	}
}

// shares returns the percent of time in which motion was near each place.
func (b *box) shares(from, to int64) map[string]float64 {
	b.t.Helper()
	set, err := b.State.Samples(context.Background(), b.network(), from, to)
	if err != nil {
		b.t.Fatal(err)
	}
	list, err := set.Locations(from, to)
	if err != nil {
		b.t.Fatal(err)
	}
	names := map[motion.MAC]string{kitchen: "Kitchen", hallway: "Hallway"}
	got := map[string]float64{}
	for _, share := range list {
		got[cmp.Or(names[share.MAC], share.MAC.String())] = share.Density
	}
	return got
}

func TestTrippedIsWhatTheGuardianSays(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		b.report(guardianKey, raised(motion.MotionDetectedEvent, now()))
		live := b.watch(id)
		defer live.Close()
		for _, tripped := range []int{1, 0} {
			m := matrix(0, 0)
			m.MotionTripped, m.LastMotion = tripped, now()
			b.report(guardianKey, m)
			if f := frames(t, live)[0]; *f.MotionTripped != tripped || *f.LastMotion > now() {
				t.Errorf("frame %+v, want tripped %d", f, tripped)
			}
			time.Sleep(500 * time.Millisecond)
		}
	})
}

func TestOwnEngineDecidesAgainAfterAGuardianThatRaised(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		b.report(guardianKey, raised(motion.MotionDetectedEvent, now()))
		time.Sleep(601 * time.Second)
		b.figures(240, constant(0.02))
		before := len(b.kinds())
		b.figures(10, constant(0.5))
		equal(t, "events", b.kinds()[before:], []string{motion.MotionDetectedEvent})
		b.refuse(guardianKey, raised(motion.MotionStoppedEvent, now()), fault.Conflict)
	})
}
