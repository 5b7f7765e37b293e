package engine_test

import (
	"testing"

	"sensegate/motion"
	"sensegate/motion/engine"
	"sensegate/store"
)

func TestEventIsToldInTheTransactionThatStoresIt(t *testing.T) {
	var told []string
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		told = nil
		once := system(id, "once")
		if _, err := b.Events.Record(t.Context(), once); err != nil {
			t.Fatal(err)
		}
		unarmed := system(id, "unarmed")
		unarmed.Category, unarmed.Armed = motion.CategoryMotion, new(int)
		if _, err := b.Events.Record(t.Context(), unarmed); err != nil {
			t.Fatal(err)
		}
		if err := b.Sensing.Import(t.Context(), id, nil, []motion.Event{system(id, "past")}); err != nil {
			t.Fatal(err)
		}
		if len(told) != 1 || told[0] != "once" {
			t.Errorf("told of %v, want what was stored of today", told)
		}
	}, func(o *engine.Options) {
		o.Stored = func(tx *store.Tx, e motion.Event) error {
			if _, err := tx.Event(e.NetworkID, e.ID); err != nil {
				return err
			}
			told = append(told, e.Detail.Text("n"))
			return nil
		}
	})
}
