package remotecore

import (
	"sync"

	"sensegate/motion"
)

// memory keeps the requests whose deadline has not passed, with their answers, so that none that changes
// something is run twice: a broker may deliver one again, and who had no answer asks again.
type memory struct {
	mu    sync.Mutex
	known map[string]*entry // by id
	bytes int               // of the answers
}

// entry is a request. Its answer is nil while it runs, and when there was no room to keep it.
type entry struct {
	sum      [32]byte
	deadline motion.Time
	ended    bool
	answer   *answer
}

const (
	mostKnown = 1024    // requests
	mostKept  = 1 << 20 // bytes of answers
)

// verdict says what becomes of a request.
type verdict int

const (
	fresh     verdict = iota // it is to be run
	running                  // it is being run: its answer will come
	answered                 // its answer is there
	forgotten                // it was run, and its answer is not kept
	another                  // another request had this id
	crowded                  // there is no room to remember it
)

// begin notes a request, and forgets those whose deadline has passed.
func (m *memory) begin(r request, sum [32]byte, now motion.Time) (verdict, *answer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for id, e := range m.known {
		if e.ended && e.deadline <= now {
			delete(m.known, id)
			m.bytes -= e.size()
		}
	}
	e := m.known[r.ID]
	switch {
	case e == nil && len(m.known) >= mostKnown:
		return crowded, nil
	case e == nil:
		m.known[r.ID] = &entry{sum: sum, deadline: r.Deadline}
		return fresh, nil
	case e.sum != sum:
		return another, nil
	case !e.ended:
		return running, nil
	case e.answer == nil:
		return forgotten, nil
	}
	return answered, e.answer
}

// end keeps the answer of a request, as far as there is room.
func (m *memory) end(id string, a *answer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e := m.known[id]
	e.ended = true
	if m.bytes+len(a.Body) <= mostKept {
		e.answer = a
		m.bytes += e.size()
	}
}

// drop forgets a request that was not run, or has changed nothing.
func (m *memory) drop(id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.known, id)
}

// size returns the bytes of an entry's answer.
func (e *entry) size() int {
	if e.answer == nil {
		return 0
	}
	return len(e.answer.Body)
}
