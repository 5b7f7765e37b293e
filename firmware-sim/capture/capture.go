// Package capture reads recordings of real radios from labelled `*.csv.gz` files and
// from `*.csi.jsonl` files. It knows their headers, labels and how files form a
// recording; it must not know detection, scoring or the network.
//
// Everything read belongs to the caller; captures share nothing.
package capture

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"sensegate/motion"
	"sensegate/motion/csi"
)

// Label says what is known to have happened at the time of a frame.
type Label uint8

// The labels of a capture.
const (
	Quiet   Label = 0 // empty, or nobody moves
	Still   Label = 1 // a person is present but still
	Motion  Label = 2
	Ignored Label = 9 // settling after a change, or not labelled
)

// The kinds of data.
const (
	ImaginaryFirst = "iq_int8_imag_first" // signed bytes, (imaginary, real) per bin
	RealFirst      = "iq_int8_real_first" // signed bytes, (real, imaginary) per bin
	AmplitudeBytes = "amp_uint8"          // one amplitude byte per bin
)

// Header is the first line of a labelled file. Missing fields are zero.
type Header struct {
	Dataset    string         `json:"dataset"`
	Kind       string         `json:"kind"`
	Chip       string         `json:"chip"`
	Bins       int            `json:"bins"`
	Segments   Segments       `json:"segments"`
	Rate       float64        `json:"rate_hz"`
	GainLocked bool           `json:"gain_locked"`
	Licence    string         `json:"licence"`
	Group      string         `json:"group"`
	Recording  string         `json:"recording"`
	Part       int            `json:"part"`
	SkipFrames int            `json:"skip_frames"`
	Calibrate  *Calibration   `json:"calibrate"`
	QuietGuard motion.Seconds `json:"quiet_guard_s"`
}

// Calibration is the start of a recording, which is not scored. One field is set.
type Calibration struct {
	Frames      *int `json:"frames"`       // number of frames after the skip
	QuietFrames *int `json:"quiet_frames"` // up to this number of frames labelled Quiet
	Part        *int `json:"part"`         // up to the end of this part, counted from 0
}

// Frame is one channel measurement.
type Frame struct {
	Time  motion.Seconds // since the first frame of the file, or of the recording
	Label Label
	RSSI  int8   // dBm; 0 = unknown
	Data  []byte // in the format of Header.Kind
}

// Capture is one file, or one receiver of a file that holds several.
type Capture struct {
	Path   string
	Header Header
	Node   int         // number of the receiver, 0 = unknown
	Start  motion.Time // of the first frame, 0 = unknown
	Frames []Frame
}

// Flags returns the flags of the data, or an error if its Kind is unknown.
func (h *Header) Flags() (csi.Flags, error) {
	var f csi.Flags
	switch h.Kind {
	case ImaginaryFirst:
		f = csi.ImagFirst
	case RealFirst:
	case AmplitudeBytes:
		f = csi.Amplitude
	default:
		return 0, fmt.Errorf("kind %.40q: want %s, %s or %s", h.Kind, ImaginaryFirst, RealFirst, AmplitudeBytes)
	}
	if h.GainLocked {
		f |= csi.GainLocked
	}
	return f, nil
}

// complete fills in missing names from the path of the file.
func (h *Header) complete(path string) {
	h.Group = cmp.Or(h.Group, h.Dataset, filepath.Base(filepath.Dir(path)))
	h.Recording = cmp.Or(h.Recording, strings.TrimSuffix(filepath.Base(path), ".csv.gz"))
}

// Segments are the half-open bin ranges of a frame's training fields or
// antennas. None = one segment.
type Segments [][2]int

// Ends returns the end of each segment in the row that Pick returns for n bins.
func (s Segments) Ends(n int) []int {
	var ends []int
	total := 0
	for _, r := range s {
		if lo, hi := clip(r, n); hi > lo {
			total += hi - lo
			ends = append(ends, total)
		}
	}
	return ends
}

// Pick returns the amplitudes in the segments, segment by segment: amp itself if that
// is all of them in order, otherwise a copy in dst[:0].
func (s Segments) Pick(dst, amp []float32) []float32 {
	if s.covers(len(amp)) {
		return amp
	}
	dst = dst[:0]
	for _, r := range s {
		lo, hi := clip(r, len(amp))
		dst = append(dst, amp[lo:hi]...)
	}
	return dst
}

func (s Segments) covers(n int) bool {
	at := 0
	for _, r := range s {
		if r[0] != at {
			return false
		}
		at = r[1]
	}
	return len(s) == 0 || at == n
}

func clip(r [2]int, n int) (lo, hi int) {
	lo = min(max(r[0], 0), n)
	return lo, min(max(r[1], lo), n)
}
