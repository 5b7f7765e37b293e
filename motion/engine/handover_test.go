package engine_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sensegate/motion"
	"sensegate/motion/engine"
	"sensegate/motion/fault"
	"sensegate/store"
)

// setAside sets the network aside and returns how.
func (b *box) setAside(id motion.NetworkID) store.Handover {
	b.t.Helper()
	h, err := b.SetAside(context.Background(), store.Handover{Network: id, Copy: "COPY", Receipt: "RECEIPT"}, func(*store.Tx) error { return nil })
	if err != nil {
		b.t.Fatal(err)
	}
	return h
}

func linkEvent(uuid string) motion.EventReport {
	return motion.EventReport{UUID: uuid, Event: motion.Event{Category: motion.CategoryLink, Event: motion.LinkConnectedEvent, TS: now()}}
}

// wantUnacknowledged fails when a report would be acknowledged.
func (b *box) wantUnacknowledged(device motion.DeviceKey, r motion.Report) {
	b.t.Helper()
	err := b.Report(context.Background(), device, r)
	if kind := fault.KindOf(err); err == nil || kind != 0 && kind != fault.Unavailable {
		b.t.Errorf("report %T of %s: error %v acknowledges it", r, device, err)
	}
}

func TestNetworkThatIsSetAsideAcknowledgesNothingUntilItIsTakenBack(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		for _, at := range []string{"000500", "003100"} { // while it is away, and after that
			b.addAlert(id, "DTSTART:20000101T"+at+"Z\nRRULE:FREQ=DAILY", `{"monitor_mode":"NONE"}`)
		}
		b.send(10, 0.5, 0)
		begun := int64(now()) - 8
		motionBefore := b.points(begun, begun+8, 1)
		if strings.Contains(motionBefore, "null") {
			t.Errorf("motion %s", motionBefore)
		}
		_, token := b.tokens()
		b.setAside(id)
		if again := b.setAside(id); again.Copy != "COPY" {
			t.Errorf("set aside twice: %+v", again)
		}
		closed := func() {
			t.Helper()
			b.wantUnacknowledged(guardianKey, linkEvent("a"))
			if _, err := b.login(masterID, token); fault.KindOf(err) != fault.Unavailable {
				t.Errorf("login: error %v, want Unavailable", err)
			}
			if a := b.post(master(), token); !strings.Contains(a.TryAgain, "on its way") {
				t.Errorf("post: %+v", a)
			}
			if err := b.State.Known(id); fault.KindOf(err) != fault.NotFound || !strings.Contains(err.Error(), "take-back") {
				t.Errorf("known: %v", err)
			}
		}
		closed()
		before := len(b.events())
		time.Sleep(30 * time.Minute) // flushes, alerts that come due
		b.stop()
		b.start()
		closed()
		if after := len(b.events()); after != before {
			t.Errorf("%d events, want %d as when it was set aside", after, before)
		}
		if _, err := b.TakeBack(context.Background(), id); err != nil {
			t.Fatal(err)
		}
		b.reconnect()
		b.report(guardianKey, linkEvent("a"))
		if got := b.points(begun, begun+8, 1); got != motionBefore {
			t.Errorf("motion %s, want %s", got, motionBefore)
		}
		time.Sleep(2 * time.Minute)
		if len(b.fired()) == 0 {
			t.Error("no alert fires any more")
		}
	})
}

func TestDevicesOfAHandedOverNetworkAreSentThere(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		node, _, why := b.heard(otherNode, otherMAC, elsewhere)
		if why != "" {
			t.Fatal(why)
		}
		_, token := b.tokens()
		if _, err := b.HandOver(context.Background(), id, "http://192.0.2.1", "RECEIPT"); fault.KindOf(err) != fault.NotFound {
			t.Errorf("one that is here: error %v, want NotFound", err)
		}
		b.setAside(id)
		for name, c := range map[string]struct{ to, receipt string }{
			"another receipt": {"http://192.0.2.1", "OTHER"}, "no receipt": {"http://192.0.2.1", ""}, "no address": {"192.0.2.1:8080", "RECEIPT"},
		} {
			if _, err := b.HandOver(context.Background(), id, c.to, c.receipt); fault.KindOf(err) != fault.Invalid {
				t.Errorf("%s: error %v, want Invalid", name, err)
			}
		}
		if _, err := b.HandOver(context.Background(), id, "http://192.0.2.1:8080", "RECEIPT"); err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprint(motion.Admission{Redirect: "http://192.0.2.1:8080/gatekeeper"})
		if _, err := b.login(masterID, token); fault.KindOf(err) != fault.Unauthorized {
			t.Errorf("login: error %v, want Unauthorized, so that it posts", err)
		}
		stranger := newcomer(location, 1)
		for _, p := range []motion.Bootstrap{master(), peer(), stranger} {
			if got := b.postFrom(elsewhere, p, ""); fmt.Sprint(got) != want {
				t.Errorf("%s is answered with %+v", p.Radar.DeviceID, got)
			}
		}
		if _, _, why := b.heard(node.ID, otherMAC, elsewhere); !strings.Contains(why, "have the node send there") {
			t.Errorf("a node of another maker: %q", why)
		}
		sent := func(want ...string) {
			t.Helper()
			b.view(func(tx *store.Tx) error {
				h, _, err := tx.Handover(id)
				if got := slices.Sorted(maps.Keys(h.Sent)); !slices.Equal(got, want) {
					t.Errorf("sent over were %v, want %v", got, want)
				}
				return err
			})
		}
		sent() // whoever names a device need not be it
		b.post(master(), "")
		b.postFrom(elsewhere, master(), token)
		b.post(peer(), "")
		sent(masterID, peerID)
		if _, err := b.HandOver(context.Background(), id, "http://192.0.2.2:8080", "RECEIPT"); err != nil {
			t.Fatal(err)
		}
		sent() // there nobody was sent yet
	})
}

// TestDevicesOfADeletedCopyAreSentOn: they do not form their network anew on the box that it has left.
func TestDevicesOfADeletedCopyAreSentOn(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		_, token := b.tokens()
		b.setAside(id)
		if _, err := b.HandOver(context.Background(), id, "http://192.0.2.1:8080", "RECEIPT"); err != nil {
			t.Fatal(err)
		}
		if err := b.Devices.DeleteAway(context.Background(), id); err != nil {
			t.Fatal(err)
		}
		for _, when := range []string{"after the deletion", "after a restart"} {
			for _, p := range []motion.Bootstrap{master(), peer(), newcomer(location, 1), newcomer(location, motion.RootModeMaster)} {
				if a := b.post(p, token); a.Redirect != "http://192.0.2.1:8080/gatekeeper" || a.GuardianToken != "" {
					t.Errorf("%s %s is answered with %+v", when, p.Radar.DeviceID, a)
				}
			}
			b.stop()
			b.start()
		}
		other := master()
		other.LocationID, other.Radar.DeviceID = "c63f00c2d97b4e5580136c2e", "csi-other"
		if a := b.post(other, ""); a.Redirect != "" {
			t.Errorf("a device of another network is sent on: %+v", a)
		}
		if _, err := b.TakeBack(context.Background(), id); err != nil {
			t.Fatal(err)
		}
		if a := b.post(master(), ""); a.Redirect != "" || a.GuardianToken == "" {
			t.Errorf("after that was ended its master is answered with %+v", a)
		}
	})
}

// TestWhatIsAcknowledgedIsInTheCopy has devices report while their network is set aside.
func TestWhatIsAcknowledgedIsInTheCopy(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		var mu sync.Mutex
		acknowledged := 0
		var senders sync.WaitGroup
		for sender := range 8 {
			senders.Go(func() {
				for n := 0; b.Report(context.Background(), guardianKey, linkEvent(fmt.Sprint(sender, " ", n))) == nil; n++ {
					mu.Lock()
					acknowledged++
					mu.Unlock()
					time.Sleep(20 * time.Millisecond)
				}
			})
		}
		time.Sleep(time.Second)
		b.setAside(id)
		copied := len(b.events(motion.LinkConnectedEvent))
		senders.Wait()
		if later := len(b.events(motion.LinkConnectedEvent)); later != copied || acknowledged > copied || acknowledged == 0 {
			t.Errorf("%d acknowledged, %d in the copy, %d later", acknowledged, copied, later)
		}
	}, func(o *engine.Options) { o.FlushInterval = time.Hour })
}
