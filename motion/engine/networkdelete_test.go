package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sensegate/motion"
	"sensegate/motion/command"
	"sensegate/motion/engine/sensing"
	"sensegate/motion/fault"
	"sensegate/store"
	"sensegate/store/storetest"
)

// keep deletes nothing beside the network.
func keep(*store.Tx) error { return nil }

// deleteNetwork deletes a network, which must work.
func (b *box) deleteNetwork(id motion.NetworkID) {
	b.t.Helper()
	if err := b.Devices.DeleteNetwork(context.Background(), id, keep); err != nil {
		b.t.Fatal(err)
	}
	synctest.Wait()
}

// traces are what names a home: ids and addresses, as text and as bytes.
func traces() []string {
	list := []string{location, masterID, peerID, masterName, peerName}
	for _, mac := range []motion.MAC{masterAP, peerAP, masterBH, peerBH, kitchen, hallway} {
		list = append(list, mac.String(), mac.Name(), string(mac[:]))
	}
	return list
}

func TestDeletedNetworkLeavesNoTrace(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		b.report(guardianKey, status())
		b.send(20, 0.6, 0)
		b.create(b.ping(peerID), command.Sent(1))
		b.post(motion.Bootstrap{LocationID: location, Radar: motion.Radar{DeviceID: "csi-a-02aa00000310", NodeName: "EXA1000135", RootMode: 1}}, "")
		if err := b.Flush(context.Background()); err != nil {
			t.Fatal(err)
		}
		if len(storetest.Scan(t, b.db, traces()...)) == 0 {
			t.Fatal("nothing is stored of the network: the scan sees nothing")
		}
		b.deleteNetwork(id)
		if err := b.Flush(context.Background()); err != nil {
			t.Fatal(err)
		}
		for _, found := range storetest.Scan(t, b.db, traces()...) {
			t.Error(found)
		}
		if err := b.State.Known(id); fault.KindOf(err) != fault.NotFound {
			t.Errorf("still known: %v", err)
		}
	})
}

// Devices do not stop sending because somebody deletes their network.
func TestNothingOfADeletedNetworkComesBack(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		b.report(guardianKey, status())
		b.report(masterKey, batch(kitchen, masterAP, now(), nil))
		tasks := b.deviceTasks()
		maps.Copy(tasks, b.peopleTasks(id))
		delete(tasks, "post") // that is the next network
		tasks["flush"] = func(int) error { return b.Flush(context.Background()) }
		var all sync.WaitGroup
		for name, task := range tasks {
			all.Go(func() {
				for i := range 40 {
					if err := task(i); err != nil && fault.KindOf(err) == 0 && !strings.Contains(err.Error(), "is not logged in") {
						t.Errorf("%s: %v", name, err)
					}
					time.Sleep(50 * time.Millisecond)
				}
			})
		}
		time.Sleep(time.Second)
		b.deleteNetwork(id)
		all.Wait()
		if err := b.Flush(context.Background()); err != nil {
			t.Fatal(err)
		}
		for _, found := range storetest.Scan(t, b.db, traces()...) {
			t.Error(found)
		}
		for _, found := range storetest.Scan(t, b.db, "") {
			if strings.HasPrefix(found, "samples") {
				t.Errorf("samples are left: %s", found)
			}
		}
		b.stop()
		b.start()
		b.view(func(tx *store.Tx) error {
			list, err := tx.Networks()
			if len(list) != 0 {
				t.Errorf("%d networks after a restart", len(list))
			}
			return err
		})
	})
}

func TestDeletionEndsStreamsSessionsAndCommands(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		live, err1 := b.Sensing.Live(id)
		events, err2 := b.Sensing.LiveEvents(id)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		b.State.Disconnected(peerKey, "test")
		group := b.batch(1, func(int) (string, string) { return peerID, "" }, true)
		snapshot, watch, err := b.Commands.Monitor(context.Background(), group.BatchID)
		if err != nil || len(snapshot) == 0 {
			t.Fatal(err)
		}
		b.deleteNetwork(id)
		for name, ended := range map[string]bool{"live": hasEnded(live), "events": hasEnded(events)} {
			if !ended {
				t.Errorf("the stream of %s goes on", name)
			}
		}
		var states []string
		for m := range watch.All() {
			var update struct {
				Type   string          `json:"type"`
				Action command.Command `json:"action"`
			}
			if err := json.Unmarshal(m.JSON, &update); err != nil {
				t.Fatal(err)
			}
			states = append(states, update.Type+string(update.Action.State))
		}
		if want := []string{"update409", "done"}; !slices.Equal(states, want) {
			t.Errorf("the monitor said %q, want %q", states, want)
		}
		for _, key := range []motion.DeviceKey{guardianKey, masterKey, peerKey} {
			if !slices.Contains(b.devices.disconnected, key) {
				t.Errorf("%s was not disconnected: %v", key, b.devices.disconnected)
			}
			if err := b.Report(context.Background(), key, matrix(0, 0)); err == nil {
				t.Errorf("%s may still report", key)
			}
		}
	})
}

// hasEnded reports whether a stream has ended, behind what still waits in it.
func hasEnded(s *sensing.Subscription) bool {
	for {
		if _, ok, open := s.Next(); !ok {
			return !open
		}
	}
}

func TestDevicesOfADeletedNetworkFormANewOneWithinTenMinutes(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		a := b.post(master(), "")
		time.Sleep(25 * time.Hour)
		b.deleteNetwork(id)
		if _, err := b.login(masterID, a.RadarToken); fault.KindOf(err) != fault.Unauthorized {
			t.Errorf("the old token: %v", err)
		}
		time.Sleep(9 * time.Minute)
		if again := b.post(master(), a.RadarToken); again.Network <= id {
			t.Errorf("admitted to network %d, %+v", again.Network, again)
		}
		b.deleteNetwork(b.network())
		time.Sleep(11 * time.Minute)
		if late := b.post(master(), ""); late.TryAgain == "" {
			t.Errorf("admitted after the window: %+v", late)
		}
	})
}

func TestDeletionThatFailsDeletesNothing(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		reason := errors.New("reason")
		if err := b.Devices.DeleteNetwork(context.Background(), id, func(*store.Tx) error { return reason }); !errors.Is(err, reason) {
			t.Fatalf("error %v", err)
		}
		from := now()
		b.send(20, 0.6, 0)
		if len(b.kinds()) == 0 || b.points(from.Second(), now().Second(), 3600) == "null " {
			t.Error("the network does not work on")
		}
		if err := b.Devices.DeleteNetwork(context.Background(), 99, keep); fault.KindOf(err) != fault.NotFound {
			t.Errorf("unknown network: %v", err)
		}
	})
}
