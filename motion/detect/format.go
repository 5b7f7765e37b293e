package detect

import (
	"slices"

	"sensegate/motion"
)

// A radio may hear frames of several formats on one link, and their amplitudes cannot be compared: one
// shape of the channel that alternates with another looks like motion. The link uses one format; another
// one takes its place when it is more than twice as frequent, or when no frame of the link's own comes
// any more. Formats that are mixed evenly so never take turns. The times allow for frames that come sorted
// by format, half a second of each.
const (
	foreignLead = 16
	ownWeight   = 2

	foreignTime motion.Seconds = 1 // how long a format must be ahead
	goneTime    motion.Seconds = 3 // how long the link's own format must be away
	sortedTime  motion.Seconds = 1 // how far back times go where frames are sorted
)

// format is what frames must share so that they can be compared.
type format struct {
	length int
	ends   []int
	number uint32
	any    bool // the number is not known: it is that of the first frame of this length and segmentation
}

func (f *format) shaped(length int, ends []int) bool {
	return f.length == length && slices.Equal(f.ends, ends)
}

func (f *format) is(length int, ends []int, number uint32) bool {
	return f.number == number && f.shaped(length, ends)
}

// set makes f that of a frame, and copies ends.
func (f *format) set(length int, ends []int, number uint32) {
	*f = format{length: length, ends: append(f.ends[:0], ends...), number: number}
}

// rivalry counts the frames that do not have the link's format.
type rivalry struct {
	rival format // the one that is ahead
	lead  int    // how far
	since motion.Time

	missed int         // frames of any format since the link's own
	alone  motion.Time // time of the first of them
}

// concede counts a frame of the link's own format.
func (r *rivalry) concede() { r.lead, r.missed = max(0, r.lead-ownWeight), 0 }

// wins counts a frame of another format at time t, and reports whether that format takes the place of the
// link's.
func (r *rivalry) wins(t motion.Time, length int, ends []int, number uint32) bool {
	if r.lead == 0 {
		r.rival.set(length, ends, number)
		r.since = t
	}
	if r.missed == 0 {
		r.alone = t
	}
	r.since, r.alone = min(r.since, t), min(r.alone, t)
	r.missed++
	if !r.rival.is(length, ends, number) {
		r.lead--
		return r.gone(t)
	}
	r.lead++
	return r.lead >= foreignLead && t.Since(r.since) >= foreignTime || r.gone(t)
}

// gone reports whether the link's own format does not come any more.
func (r *rivalry) gone(t motion.Time) bool {
	return r.missed >= foreignLead && t.Since(r.alone) >= goneTime
}

// admit reports whether a frame at time t is to be used, after it has changed over to the frame's format
// if that is due.
func (l *Link) admit(t motion.Time, length int, ends []int) bool {
	switch own := &l.format; {
	case own.any && own.shaped(length, ends):
		own.number, own.any = l.number, false
	case own.is(length, ends, l.number):
	case own.length == 0: // the first frame
		own.set(length, ends, l.number)
		l.learn.start(length)
	case l.rivalry.wins(t, length, ends, l.number) && !l.grid.passed(t):
		l.change(t, length, ends)
	default:
		return false
	}
	l.rivalry.concede()
	return true
}
