package detect

import "slices"

// A radio may hear frames of several lengths on one link, depending on how
// they were sent. A link senses on one of them; another takes over when it
// comes more than twice as often.
const (
	foreignLead = 16
	ownWeight   = 2
)

// format is the form of the frames a link works on.
type format struct {
	length int
	ends   []int

	rival     int // length of the frames of another form
	rivalEnds []int
	lead      int
}

func (f *format) is(length int, ends []int) bool {
	return f.length == length && slices.Equal(f.ends, ends)
}

// admit reports whether a frame is of the link's form, and whether that form
// has just changed to the frame's.
func (f *format) admit(length int, ends []int) (own, changed bool) {
	switch {
	case f.is(length, ends):
		f.lead = max(0, f.lead-ownWeight)
		return true, false
	case f.length == 0:
		f.set(length, ends)
		return true, true
	case f.lead == 0 || f.rival != length || !slices.Equal(f.rivalEnds, ends):
		f.rival, f.rivalEnds = length, append(f.rivalEnds[:0], ends...)
		f.lead = 0
	}
	f.lead++
	if f.lead < foreignLead {
		return false, false
	}
	f.set(length, ends)
	return true, true
}

func (f *format) set(length int, ends []int) {
	*f = format{length: length, ends: append(f.ends[:0], ends...), rivalEnds: f.rivalEnds[:0]}
}
