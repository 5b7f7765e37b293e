package engine_test

import (
	"context"
	"testing"

	"sensegate/motion"
	"sensegate/motion/engine"
	"sensegate/motion/fault"
	"sensegate/store"
)

func TestEventThatPanicsIsRefusedAndTheNextOneStored(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		event := motion.Event{Category: motion.CategorySystem, Event: motion.MemberArrivedEvent, NetworkID: id, TS: b.State.Now()}
		stored, err := b.Events.Record(context.Background(), event)
		if err != nil {
			t.Fatal(err)
		}
		event.Event = motion.MemberLeftEvent
		if _, err := b.Events.Record(context.Background(), event); fault.KindOf(err) != fault.Unavailable {
			t.Errorf("error %v, want a fault Unavailable", err)
		}
		event.Event = motion.MemberJoinedEvent
		if _, err := b.Events.Record(context.Background(), event); err != nil {
			t.Errorf("the next event: %v", err)
		}
		if list := b.events(motion.MemberArrivedEvent, motion.MemberLeftEvent, motion.MemberJoinedEvent); len(list) != 2 || list[0].ID != stored.ID {
			t.Errorf("stored %+v, want the first and the last", list)
		}
	}, func(o *engine.Options) {
		o.Stored = func(_ *store.Tx, event motion.Event) error {
			if event.Event == motion.MemberLeftEvent {
				panic("met")
			}
			return nil
		}
	})
}
