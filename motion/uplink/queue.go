package uplink

import (
	"sync"

	"sensegate/motion"
)

// queueFrames is the capacity of a provider's queue: about two minutes of one network.
const queueFrames = 256

// frame is one live frame of a network, as JSON.
type frame struct {
	network motion.NetworkID
	json    []byte
}

// queue holds at most queueFrames frames: when it is full a new frame replaces the oldest,
// because live motion loses value with age.
type queue struct {
	wake chan struct{} // receives after a push

	mu      sync.Mutex
	frames  []frame // oldest first
	dropped uint64
}

func newQueue() *queue { return &queue{wake: make(chan struct{}, 1)} }

// push appends a frame without blocking.
func (q *queue) push(f frame) {
	q.mu.Lock()
	if len(q.frames) == queueFrames {
		q.frames = append(q.frames[:0], q.frames[1:]...)
		q.dropped++
	}
	q.frames = append(q.frames, f)
	q.mu.Unlock()
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// take removes the oldest frames, at most size bytes in total but at least one frame if there
// is any.
func (q *queue) take(size int) []frame {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := 0
	for n < len(q.frames) && (n == 0 || size >= len(q.frames[n].json)) {
		size -= len(q.frames[n].json)
		n++
	}
	taken := append([]frame(nil), q.frames[:n]...)
	q.frames = append(q.frames[:0], q.frames[n:]...)
	return taken
}

// drop counts frames that were taken or rejected and will not be delivered.
func (q *queue) drop(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.dropped += uint64(n)
}

// clear drops all queued frames.
func (q *queue) clear() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.dropped += uint64(len(q.frames))
	q.frames = nil
}

// lost returns the number of dropped frames.
func (q *queue) lost() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.dropped
}

// length returns how many frames wait.
func (q *queue) length() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.frames)
}
