package uplink_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	mqtt3 "github.com/eclipse/paho.mqtt.golang"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/uplink"
	"sensegate/motion/uplink/uplinktest"
	"sensegate/store"
	"sensegate/store/storetest"
)

// add stores events with times from a second on, one a second, and returns their ids.
func (b *bench) add(t testing.TB, network motion.NetworkID, from motion.Time, n int) (ids []string) {
	t.Helper()
	for chunk := 0; chunk < n; chunk += 500 {
		err := b.db.Update(t.Context(), func(tx *store.Tx) error {
			for i := chunk; i < min(n, chunk+500); i++ {
				e, _, err := tx.AddEvent(motion.Event{
					NetworkID: network, GuardianID: "g", Event: motion.LinkConnectedEvent, Category: motion.CategoryLink, TS: from.Add(motion.Seconds(i)),
				}, "")
				if err != nil {
					return err
				}
				ids = append(ids, e.ID)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return ids
}

// now returns the present without a fraction.
func now() motion.Time { return motion.Time(time.Now().Unix()) }

// eventsTo is an uplink for events.
func eventsTo(broker *uplinktest.Broker) uplink.Config {
	return uplink.Config{Name: "engine", URL: broker.URL(), Use: []uplink.Use{uplink.Events}}
}

// idOf returns the id of an event that was sent.
func idOf(t testing.TB, payload []byte) string {
	t.Helper()
	var event motion.Event
	if err := json.Unmarshal(payload, &event); err != nil {
		t.Fatalf("%v: %s", err, payload)
	}
	return event.ID
}

// wantEvents expects events with these ids, in this order, and nothing but health beside them.
func wantEvents(t testing.TB, reader *uplinktest.Reader, ids []string) {
	t.Helper()
	for i, id := range ids {
		m := reader.Next()
		for !strings.HasSuffix(m.Topic, "/event") {
			if strings.HasSuffix(m.Topic, "/gap") {
				t.Fatalf("a gap: %s", m.Payload)
			}
			m = reader.Next()
		}
		if got := idOf(t, m.Payload); got != id {
			t.Fatalf("event %d of %d has id %s, want %s", i, len(ids), got, id)
		}
	}
}

func TestEventsGoOutFromTheUplinkOn(t *testing.T) {
	t.Parallel()
	broker := uplinktest.Start(t, uplinktest.Options{})
	reader := broker.Listen("sensegate/#")
	b := newBench(t)
	b.add(t, b.network, now().Add(-100), 3) // nobody wanted these
	o := b.options()
	o.Configured = []uplink.Config{eventsTo(broker)}
	b.run(t, o)
	base := "sensegate/" + b.box(t)
	m := reader.Await(base + "/availability")
	if string(m.Payload) != "online" {
		t.Errorf("availability %s", m.Payload)
	}
	ids := b.add(t, b.network, now(), 3)
	m = reader.Await(fmt.Sprintf("%s/%d/event", base, b.network))
	if got := idOf(t, m.Payload); got != ids[0] || m.Retain {
		t.Errorf("first event %s retained %v, want %s", got, m.Retain, ids[0])
	}
	wantEvents(t, reader, ids[1:])
	late := b.add(t, b.network, now().Add(-5000), 2) // of a device that was away
	wantEvents(t, reader, late)
	eventually(t, "counted", func() bool {
		s := b.state(t, "engine")
		return s.Events == 5 && s.Queue == 0 && s.Missing == 0
	})
	b.stop()
	if m := reader.Await(base + "/availability"); string(m.Payload) != "offline" {
		t.Errorf("availability %s", m.Payload)
	}
	waiting := b.add(t, b.network, now(), 2) // while it does not run
	b.run(t, o)
	wantEvents(t, reader, waiting)
}

func TestNetworksAreChosen(t *testing.T) {
	t.Parallel()
	broker := uplinktest.Start(t, uplinktest.Options{})
	reader := broker.Listen("sensegate/#")
	b := newBench(t)
	var other motion.Network
	if err := b.db.Update(t.Context(), func(tx *store.Tx) (err error) {
		other, err = tx.CreateNetwork(motion.Network{GuardianID: "h"})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	o := b.options()
	c := eventsTo(broker)
	c.Networks = []motion.NetworkID{other.ID}
	o.Configured = []uplink.Config{c}
	b.run(t, o)
	b.add(t, b.network, now(), 3)
	ids := b.add(t, other.ID, now(), 3)
	b.add(t, b.network, now(), 3)
	wantEvents(t, reader, ids)
	eventually(t, "all were looked at", func() bool { return b.state(t, "engine").Queue == 0 })
}

func TestEventsThatAreGoneAreToldAsAGap(t *testing.T) {
	t.Parallel()
	broker := uplinktest.Start(t, uplinktest.Options{})
	b := newBench(t)
	o := b.options()
	o.Configured = []uplink.Config{eventsTo(broker)}
	b.run(t, o)
	b.stop()
	begin := now().Add(-1000)
	ids := b.add(t, b.network, begin, 10)
	if err := b.db.Update(t.Context(), func(tx *store.Tx) error {
		_, err := tx.DeleteEventsBefore(begin.Add(4), 100)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	reader := broker.Listen("sensegate/+/#")
	b.run(t, o)
	m := reader.Await("sensegate/" + b.box(t) + "/event/gap")
	var gap struct{ Missing int }
	if err := json.Unmarshal(m.Payload, &gap); err != nil || gap.Missing != 4 {
		t.Errorf("%v: %s", err, m.Payload)
	}
	wantEvents(t, reader, ids[4:])
	eventually(t, "counted", func() bool { s := b.state(t, "engine"); return s.Missing == 4 && s.Events == 6 })
	b.stop()
	last := b.add(t, b.network, now(), 3)
	if err := b.db.Update(t.Context(), func(tx *store.Tx) error { return tx.DeleteNetwork(b.network) }); err != nil {
		t.Fatal(err)
	}
	b.run(t, o)
	if m := reader.Await("sensegate/" + b.box(t) + "/event/gap"); !strings.Contains(string(m.Payload), fmt.Sprintf(`"missing":%d`, len(last))) {
		t.Errorf("%s", m.Payload)
	}
}

// TestSetClockLosesNoEvent stamps events anew while they wait: their keys change, not their order.
func TestSetClockLosesNoEvent(t *testing.T) {
	t.Parallel()
	broker := uplinktest.Start(t, uplinktest.Options{})
	b := newBench(t)
	o := b.options()
	o.Configured = []uplink.Config{eventsTo(broker)}
	b.run(t, o)
	b.stop()
	ids := b.add(t, b.network, 1000, 5) // in 1970
	if err := b.db.Update(t.Context(), func(tx *store.Tx) error {
		samples, err := store.OpenSamples(t.Context(), b.db)
		if err != nil {
			return err
		}
		return samples.Restamp(tx, store.Restamp{From: 1, To: 100_000, By: motion.Seconds(now()) - 2000})
	}); err != nil {
		t.Fatal(err)
	}
	ids = append(ids, b.add(t, b.network, now().Add(-3000), 5)...) // before them in time
	reader := broker.Listen("sensegate/+/+/event")
	b.run(t, o)
	wantEvents(t, reader, ids)
}

// TestRestartedBrokerGetsEveryEventInOrder restarts the broker several times while events flow.
func TestRestartedBrokerGetsEveryEventInOrder(t *testing.T) {
	t.Parallel()
	broker := uplinktest.Start(t, uplinktest.Options{Persistent: true})
	seen := make(chan string, 100_000)
	options := mqtt3.NewClientOptions().AddBroker("tcp://" + broker.Address()).SetClientID("consumer").SetCleanSession(false).
		SetResumeSubs(true).SetConnectRetry(true).SetMaxReconnectInterval(20 * time.Millisecond).SetConnectRetryInterval(20 * time.Millisecond).SetOrderMatters(true)
	consumer := mqtt3.NewClient(options)
	if token := consumer.Connect(); !token.WaitTimeout(patience) || token.Error() != nil {
		t.Fatal(token.Error())
	}
	t.Cleanup(func() { consumer.Disconnect(100) })
	if token := consumer.Subscribe("sensegate/+/+/event", 1, func(_ mqtt3.Client, m mqtt3.Message) { seen <- idOf(t, m.Payload()) }); !token.WaitTimeout(patience) || token.Error() != nil {
		t.Fatal(token.Error())
	}
	b := newBench(t)
	o := b.options()
	o.Configured = []uplink.Config{eventsTo(broker)}
	b.run(t, o)
	var ids []string
	for range 4 {
		ids = append(ids, b.add(t, b.network, now().Add(-50_000+motion.Seconds(len(ids))), 600)...)
		sent := b.state(t, "engine").Events
		eventually(t, "some are sent", func() bool { return b.state(t, "engine").Events > sent })
		broker.Restart()
	}
	var firsts []string
	known := map[string]bool{}
	doubles := 0
	for len(firsts) < len(ids) {
		select {
		case id := <-seen:
			if known[id] {
				doubles++
				continue
			}
			known[id] = true
			firsts = append(firsts, id)
		case <-time.After(patience):
			t.Fatalf("%d of %d events came", len(firsts), len(ids))
		}
	}
	if !slices.Equal(firsts, ids) {
		t.Error("the events are not in order")
	}
	t.Logf("%d events, %d came twice", len(ids), doubles)
}

// TestFullDiskHoldsNoEventBack has no room for the cursor, which stays in memory.
func TestFullDiskHoldsNoEventBack(t *testing.T) {
	t.Parallel()
	broker := uplinktest.Start(t, uplinktest.Options{})
	reader := broker.Listen("sensegate/+/+/event")
	path := filepath.Join(t.TempDir(), "sensegate.db")
	open := func(minFree int64) *bench {
		db, err := store.Open(store.Options{Path: path, MinFree: minFree})
		if err != nil {
			t.Fatal(err)
		}
		return &bench{db: db}
	}
	b := open(0)
	if err := b.db.Update(t.Context(), func(tx *store.Tx) error {
		n, err := tx.CreateNetwork(motion.Network{GuardianID: "g"})
		b.network = n.ID
		return err
	}); err != nil {
		t.Fatal(err)
	}
	o := b.options()
	o.Configured = []uplink.Config{eventsTo(broker)}
	b.run(t, o)
	b.stop()
	ids := b.add(t, b.network, now(), 5)
	storetest.Close(t, b.db)
	full := open(1 << 60)
	o = full.options()
	o.Configured = []uplink.Config{eventsTo(broker)}
	full.run(t, o)
	wantEvents(t, reader, ids)
	eventually(t, "acknowledged", func() bool { return full.state(t, "engine").Events == 5 })
	full.stop()
	storetest.Close(t, full.db)
	again := open(0)
	t.Cleanup(func() { storetest.Close(t, again.db) })
	o = again.options()
	o.Configured = []uplink.Config{eventsTo(broker)}
	again.run(t, o)
	wantEvents(t, reader, ids) // twice, as the cursor was lost
	eventually(t, "acknowledged", func() bool { return again.state(t, "engine").Events == 5 })
	again.stop()
	again.run(t, o)
	eventually(t, "nothing waits", func() bool { s := again.state(t, "engine"); return s.Phase == uplink.Connected && s.Queue == 0 })
	if got := again.state(t, "engine"); got.Events != 0 {
		t.Errorf("%+v", got)
	}
	again.stop()
}

// TestNetworkWithEventsToSendIsTold: what an uplink has still to send is not to be deleted.
func TestNetworkWithEventsToSendIsTold(t *testing.T) {
	t.Parallel()
	broker := uplinktest.Start(t, uplinktest.Options{})
	b := newBench(t)
	o := b.options()
	away := uplink.Config{Name: "away", URL: "mqtt://127.0.0.1:9", Use: []uplink.Use{uplink.Events}}
	o.Configured = []uplink.Config{eventsTo(broker), away}
	b.run(t, o)
	b.add(t, b.network, now(), 2)
	eventually(t, "sent to one", func() bool { return b.state(t, "engine").Events == 2 })
	if err := b.HasSent(t.Context(), b.network); fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "uplink away has still to send 2 events") {
		t.Errorf("with one uplink away: %v", err)
	}
	if err := b.HasSent(t.Context(), b.network+1); err != nil {
		t.Errorf("of another network: %v", err)
	}
	o.Configured = o.Configured[:1]
	b.run(t, o)
	if err := b.HasSent(t.Context(), b.network); err != nil {
		t.Errorf("without it: %v", err)
	}
}
