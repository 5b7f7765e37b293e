package store

import "sync"

// readers knows the read transactions that are open, so that those can be waited for that
// may see pages which a commit has freed. The zero value is ready.
type readers struct {
	mu   sync.Mutex
	open *sync.WaitGroup // since the last wait
}

// begin counts a reader that is about to begin and returns what to call when it has ended.
func (r *readers) begin() (end func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.open == nil {
		r.open = new(sync.WaitGroup)
	}
	r.open.Add(1)
	return r.open.Done
}

// wait returns when all readers that had begun before have ended. Others begin meanwhile.
// One wait at a time.
func (r *readers) wait() {
	r.mu.Lock()
	former := r.open
	r.open = nil
	r.mu.Unlock()
	if former != nil {
		former.Wait()
	}
}
