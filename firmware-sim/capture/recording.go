package capture

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"sensegate/motion"
)

// Recording is one stream of frames: the consecutive parts of a group and recording.
type Recording struct {
	Group  string
	Name   string
	Paths  []string // of its parts, in order
	Header Header   // of the first part
	Frames []Frame  // nil until Load
	ends   []motion.Seconds
}

// Scan reads the headers of all labelled files below dirs and returns their recordings,
// ordered by group and name. The error names the files whose header it cannot read;
// the recordings of the others are returned with it.
func Scan(dirs ...string) ([]*Recording, error) {
	type file struct {
		path   string
		header Header
	}
	var files []file
	var bad []error
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".csv.gz") {
				return err
			}
			h, err := ReadHeader(path)
			if err != nil {
				bad = append(bad, err)
				return nil
			}
			files = append(files, file{path, h})
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("scan captures: %w", err)
		}
	}
	slices.SortStableFunc(files, func(a, b file) int {
		return cmp.Or(cmp.Compare(a.header.Group, b.header.Group),
			cmp.Compare(a.header.Recording, b.header.Recording), cmp.Compare(a.header.Part, b.header.Part))
	})
	var recordings []*Recording
	for _, f := range files {
		n := len(recordings)
		if n == 0 || recordings[n-1].Group != f.header.Group || recordings[n-1].Name != f.header.Recording {
			recordings = append(recordings, &Recording{Group: f.header.Group, Name: f.header.Recording, Header: f.header})
			n++
		}
		recordings[n-1].Paths = append(recordings[n-1].Paths, f.path)
	}
	return recordings, errors.Join(bad...)
}

// gap is the time between the last frame of a part and the first of the next.
const gap motion.Seconds = 0.01

// Load reads the frames without the first SkipFrames of the stream. Times count from
// the first frame kept, in steps of 0.1 ms; each part continues the one before.
func (r *Recording) Load() error {
	r.Frames, r.ends = nil, nil
	offset := 0.0
	for i, path := range r.Paths {
		c, err := ReadCSV(path)
		if err != nil {
			return err
		}
		if c.Header.Kind != r.Header.Kind {
			return fmt.Errorf("load recording %s: %s is of kind %s, the part before of %s",
				r.Name, path, c.Header.Kind, r.Header.Kind)
		}
		frames := c.Frames
		if i == 0 {
			frames = frames[min(max(r.Header.SkipFrames, 0), len(frames)):]
		}
		end := offset
		for k := range frames {
			f := frames[k]
			f.Time = tenths(tenths(f.Time-frames[0].Time) + offset)
			end = max(end, f.Time)
			r.Frames = append(r.Frames, f)
		}
		r.ends = append(r.ends, end)
		offset = end + gap
	}
	if len(r.Frames) == 0 {
		return fmt.Errorf("load recording %s: no frames", r.Name)
	}
	return nil
}

// tenths rounds to 0.1 ms.
func tenths(t motion.Seconds) motion.Seconds { return math.Round(t*1e4) / 1e4 }

// CalibrationEnd returns the end of the calibration in the loaded recording, and false
// if there is none.
func (r *Recording) CalibrationEnd() (motion.Seconds, bool) {
	c := r.Header.Calibrate
	last := len(r.Frames) - 1
	switch {
	case c == nil || last < 0:
		return 0, false
	case c.Frames != nil:
		return r.Frames[min(max(*c.Frames, 0), last)].Time, true
	case c.QuietFrames != nil:
		return r.Frames[min(r.quietFrame(*c.QuietFrames)+1, last)].Time, true
	case c.Part != nil:
		return r.ends[min(max(*c.Part, 0), len(r.ends)-1)], true
	}
	return 0, false
}

// quietFrame returns the index of the n-th frame labelled Quiet, otherwise of the last
// frame.
func (r *Recording) quietFrame(n int) int {
	for i, f := range r.Frames {
		if f.Label == Quiet {
			if n--; n <= 0 {
				return i
			}
		}
	}
	return len(r.Frames) - 1
}
