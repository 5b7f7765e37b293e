package store

import "sensegate/motion/series"

// Bounds of what waits in memory while nothing can be stored.
const (
	unstoredBytes   = 1 << 20 // rows of a network: 5 hours of 6 links and their places; 50 MiB with 50 networks
	unstoredFlushes = 3       // that failed one after the other
)

// stuck reports whether nothing can be stored for the time being.
func (s *Samples) stuck() bool {
	return s.failing.Load() >= unstoredFlushes || s.db.Writable() != nil
}

// makeRoom lets go of a network's oldest blocks, so that the others and the one that is
// begun are within unstoredBytes; h.mu is held. Blocks of which a part is in the journal
// are few and stay.
func (s *Samples) makeRoom(h *head, begun *series.Block) {
	for h.bytes() > unstoredBytes {
		var oldest *series.Block
		for _, b := range h.blocks {
			if b != begun && !b.Journaled() && (oldest == nil || b.Start() < oldest.Start()) {
				oldest = b
			}
		}
		if oldest == nil {
			return
		}
		delete(h.blocks, blockKey{oldest.Start(), oldest.Tier()})
		if s.db.health.lose(oldest.Tier().Span()) {
			s.db.logger.Error("nothing could be stored for too long: the oldest samples in memory are given up")
		}
	}
}

// bytes returns the memory of the rows; h.mu is held.
func (h *head) bytes() (n int) {
	for _, b := range h.blocks {
		n += b.Bytes()
	}
	return n
}
