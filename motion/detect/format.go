package detect

import "slices"

// A radio may hear frames of several formats on one link, and their amplitudes cannot be compared: one
// shape of the channel that alternates with another looks like motion. The link uses one format; another
// one takes its place when it is more than twice as frequent, or when no frame of the link's own comes
// any more. Formats that are mixed evenly so never take turns.
const (
	foreignLead = 16
	ownWeight   = 2
	gone        = 4 * foreignLead // frames of other formats in a row after which the own one counts as gone
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
	rival  format // of the newest of them
	lead   int    // how far the rival is ahead
	missed int    // of any format since the link's own
}

// concede counts a frame of the link's own format.
func (r *rivalry) concede() { r.lead, r.missed = max(0, r.lead-ownWeight), 0 }

// wins counts a frame of another format, and reports whether that takes the place of the link's.
func (r *rivalry) wins(length int, ends []int, number uint32) bool {
	if r.lead == 0 || !r.rival.is(length, ends, number) {
		r.rival.set(length, ends, number)
		r.lead = 0
	}
	r.lead++
	r.missed++
	return r.lead >= foreignLead || r.missed >= gone
}

// admit reports whether a frame is to be used, after it has changed over to the frame's format if that is
// due.
func (l *Link) admit(length int, ends []int) bool {
	switch own := &l.format; {
	case own.any && own.shaped(length, ends):
		own.number, own.any = l.number, false
	case own.is(length, ends, l.number):
	case own.length == 0: // the first frame
		own.set(length, ends, l.number)
		l.learn.start(length)
	case l.rivalry.wins(length, ends, l.number):
		l.change(length, ends)
	default:
		return false
	}
	l.rivalry.concede()
	return true
}
