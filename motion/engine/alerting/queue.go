package alerting

import (
	"container/heap"
	"sync"

	"sensegate/motion"
	"sensegate/store"
)

// alertQueue orders alerts by when their job has something to do. Its methods may
// be called concurrently.
type alertQueue struct {
	wake chan struct{} // something was put

	mu    sync.Mutex
	order alertHeap
	of    map[store.AlertKey]*queuedAlert
}

// queuedAlert is an alert that waits.
type queuedAlert struct {
	key   store.AlertKey
	at    motion.Stamp
	place int // in the heap
}

func newAlertQueue() *alertQueue {
	return &alertQueue{wake: make(chan struct{}, 1), of: map[store.AlertKey]*queuedAlert{}}
}

// put queues an alert; one that waits already keeps the earlier time.
func (q *alertQueue) put(key store.AlertKey, at motion.Stamp) {
	q.mu.Lock()
	if item := q.of[key]; item == nil {
		item = &queuedAlert{key: key, at: at}
		q.of[key] = item
		heap.Push(&q.order, item)
	} else if at < item.at {
		item.at = at
		heap.Fix(&q.order, item.place)
	}
	q.mu.Unlock()
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// due takes the alert out that has waited longest for a time up to now.
func (q *alertQueue) due(now motion.Stamp) (key store.AlertKey, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.order) == 0 || q.order[0].at > now {
		return key, false
	}
	key = heap.Pop(&q.order).(*queuedAlert).key
	delete(q.of, key)
	return key, true
}

// next returns the earliest time that an alert waits for.
func (q *alertQueue) next() (at motion.Stamp, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.order) == 0 {
		return 0, false
	}
	return q.order[0].at, true
}

// alertHeap is a heap by time.
type alertHeap []*queuedAlert

// Len is for package heap, as are the others.
func (h alertHeap) Len() int { return len(h) }

// Less orders by time.
func (h alertHeap) Less(i, j int) bool { return h[i].at < h[j].at }

// Swap keeps the places.
func (h alertHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

// Push adds a *queuedAlert at the end.
func (h *alertHeap) Push(item any) {
	queued := item.(*queuedAlert)
	queued.place = len(*h)
	*h = append(*h, queued)
}

// Pop takes the last one off.
func (h *alertHeap) Pop() any {
	last := len(*h) - 1
	item := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return item
}
