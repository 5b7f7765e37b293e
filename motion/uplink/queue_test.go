package uplink

import (
	"testing"

	"pgregory.net/rapid"

	"sensegate/motion"
)

// TestQueueKeepsTheNewestInOrder compares the queue with a plain list.
func TestQueueKeepsTheNewestInOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		q := newQueue()
		var model []frame
		var dropped, pushed uint64
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				for range rapid.IntRange(1, 200).Draw(t, "frames") {
					pushed++
					f := frame{network: motion.NetworkID(pushed), json: make([]byte, rapid.IntRange(0, 9).Draw(t, "size"))}
					q.push(f)
					if model = append(model, f); len(model) > queueFrames {
						model = model[1:]
						dropped++
					}
				}
			},
			"take": func(t *rapid.T) {
				size := rapid.IntRange(0, 2000).Draw(t, "bytes")
				total := 0
				for i, f := range q.take(size) {
					if total += len(f.json); total > size && i > 0 {
						t.Fatalf("%d bytes of at most %d", total, size)
					}
					if f.network != model[0].network {
						t.Fatalf("frame %d, want %d", f.network, model[0].network)
					}
					model = model[1:]
				}
				if len(q.frames) > 0 && total+len(q.frames[0].json) <= size {
					t.Fatalf("one of %d bytes was left with %d of %d used", len(q.frames[0].json), total, size)
				}
			},
			"clear": func(*rapid.T) {
				dropped += uint64(len(model))
				model = nil
				q.clear()
			},
			"": func(t *rapid.T) {
				if len(q.frames) != len(model) || q.lost() != dropped {
					t.Fatalf("%d wait and %d dropped, want %d and %d", len(q.frames), q.lost(), len(model), dropped)
				}
			},
		})
	})
}

func BenchmarkPushWhenFull(b *testing.B) {
	q := newQueue()
	f := frame{network: 1, json: []byte("{}")}
	for b.Loop() {
		q.push(f)
	}
}
