package alerting

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"sensegate/motion"
	"sensegate/store"
)

func TestQueueGivesTheEarliestAlertOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		q, model := newAlertQueue(), map[store.AlertKey]motion.Stamp{}
		key := rapid.Custom(func(t *rapid.T) store.AlertKey {
			return store.AlertKey{Network: 1, UUID: rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f"}).Draw(t, "uuid")}
		})
		at := rapid.Custom(func(t *rapid.T) motion.Stamp { return motion.Stamp(rapid.IntRange(0, 9).Draw(t, "at")) })
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				k, a := key.Draw(t, "key"), at.Draw(t, "stamp")
				q.put(k, a)
				if before, ok := model[k]; !ok || a < before {
					model[k] = a
				}
			},
			"due": func(t *rapid.T) {
				now := at.Draw(t, "now")
				k, ok := q.due(now)
				due, waits := model[k]
				if ok != waits || ok && due > now {
					t.Fatalf("at %d gave %v %t of %v", now, k, ok, model)
				}
				for other, a := range model {
					if ok && a < due || !ok && a <= now {
						t.Fatalf("at %d gave %v %t, and not %v of %d", now, k, ok, other, a)
					}
				}
				delete(model, k)
			},
			"": func(t *rapid.T) {
				next, ok := q.next()
				earliest := motion.Stamp(0)
				if len(model) > 0 {
					earliest = slices.Min(slices.Collect(maps.Values(model)))
				}
				if ok != (len(model) > 0) || next != earliest {
					t.Fatalf("next %d %t, want %d of %d", next, ok, earliest, len(model))
				}
			},
		})
	})
}
