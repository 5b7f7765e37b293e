package engine_test

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"testing"
	"time"

	"sensegate/motion"
	"sensegate/motion/fault"
)

// Whatever comes at the same time, nothing waits for ever (the bubble finds a
// deadlock), nothing races, and the network stays whole.
func TestEverythingAtOnce(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		b.report(guardianKey, status())
		b.report(masterKey, batch(kitchen, masterAP, now(), nil)) // so the appliance senses itself
		tasks := b.deviceTasks()
		maps.Copy(tasks, b.peopleTasks(id))
		var all sync.WaitGroup
		for name, task := range tasks {
			all.Go(func() {
				for i := range 25 {
					if err := task(i); err != nil {
						t.Errorf("%s: %v", name, err)
						return
					}
					time.Sleep(100 * time.Millisecond)
				}
			})
		}
		all.Wait()
	})
}

// deviceTasks are what devices do, by name; i counts the repetitions.
func (b *box) deviceTasks() map[string]func(i int) error {
	ctx := context.Background()
	return map[string]func(i int) error{
		"matrix": func(int) error {
			if err := b.Report(ctx, guardianKey, matrix(0.4, 0)); fault.KindOf(err) != fault.Conflict {
				return fmt.Errorf("not refused: %w", err)
			}
			return nil
		},
		"connection of the guardian": func(int) error {
			b.State.Connected(guardianKey, address) // the former one has not ended yet
			b.State.Disconnected(guardianKey, "session taken over")
			return nil
		},
		"csi":                    func(int) error { return b.Report(ctx, masterKey, batch(kitchen, masterAP, now(), nil)) },
		"csi of the same device": func(int) error { return b.Report(ctx, masterKey, batch(hallway, masterAP, 0, nil)) },
		"status": func(i int) error {
			r := status()
			radar := r.Radars[masterName]
			radar.Links = radar.Links[i%2:]
			r.Radars[masterName] = radar
			return b.Report(ctx, guardianKey, r)
		},
		"event": func(i int) error {
			return b.Report(ctx, guardianKey, motion.EventReport{UUID: fmt.Sprint(i), Event: motion.Event{Category: motion.CategoryLink, Event: motion.LinkConnectedEvent, TS: now()}})
		},
		"history": func(int) error { return b.Report(ctx, guardianKey, history(now()-3600, 0.1, 0.2)) },
		"post": func(int) error {
			_, err := b.Devices.Admit(ctx, peer(), motion.Credentials{Address: address})
			return err
		},
		"connection": func(int) error {
			b.State.Connected(peerKey, address)
			b.State.Disconnected(peerKey, "test")
			return nil
		},
	}
}

// peopleTasks are what people and the appliance itself do.
func (b *box) peopleTasks(id motion.NetworkID) map[string]func(i int) error {
	ctx := context.Background()
	return map[string]func(i int) error{
		"place": func(i int) error { return b.Inventory.PlaceLeaf(ctx, id, kitchen, fmt.Sprint("Room ", i), "") },
		"flush": func(int) error { return b.Flush(ctx) },
		"read": func(int) error {
			_, _ = b.lastStatus(id)
			if _, err := b.State.Samples(ctx, id, int64(now())-3600, int64(now())); err != nil {
				return err
			}
			if _, _, err := b.Devices.DeviceList(ctx); err != nil {
				return err
			}
			_, err := b.Inventory.Topology(id, true)
			return err
		},
		"watch": func(int) error {
			s, err := b.Sensing.Live(id)
			if err != nil {
				return err
			}
			defer s.Close()
			select {
			case <-s.Ready():
			case <-time.After(time.Second):
			}
			_, err = b.Sensing.Refresh(id)
			return err
		},
	}
}
