package recording

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sensegate/motion"
	"sensegate/motion/csi"
	"sensegate/motion/home"
	"sensegate/store/durable"
)

const (
	part = ".part" // ends the name of a recording that is not complete

	queueLength = 256     // batches that wait to be written
	queueBytes  = 4 << 20 // of these
	mostStreams = 100
	flushEvery  = 5 * time.Second // what a power cut may cost
)

// batch is a batch that waits to be written.
type batch struct {
	link    string
	format  uint16
	payload []byte // CSI1
	base    motion.Time
	frames  int
	size    int64 // bytes that it holds
}

// session is a recording that runs. One goroutine, run, writes.
type session struct {
	of        *Recorder
	user      home.UserID // who has begun it
	network   motion.NetworkID
	links     map[string]bool
	directory string
	most      int64 // bytes
	length    time.Duration
	labels    labels

	queue  chan batch
	queued atomic.Int64 // bytes
	lost   atomic.Int64 // frames that the queue had no room for
	ending chan string  // why it is to end
	ended  chan struct{}

	// Of run alone.
	decoded csi.Batch
	streams map[format]*stream
	press   press

	mu    sync.Mutex // held while about is read or changed
	about Recording
}

func newSession(r *Recorder, about Recording, order Order, most int64) *session {
	s := &session{
		of: r, user: order.User, network: order.Network, directory: filepath.Join(r.o.Directory, about.Name+part), most: most, about: about,
		length: time.Duration(order.Minutes) * time.Minute, links: map[string]bool{},
		queue: make(chan batch, queueLength), ending: make(chan string, 1), ended: make(chan struct{}), streams: map[format]*stream{},
	}
	for _, link := range order.Links {
		s.links[link] = true
	}
	if order.Label != Unlabelled {
		s.labels.change(order.Label, about.Started)
	}
	return s
}

// take is a Take.
func (s *session) take(network motion.NetworkID, link string, b *csi.Batch, format uint16, base motion.Time) {
	if network != s.network || len(s.links) > 0 && !s.links[link] {
		return
	}
	size := int64(64 + 2*len(b.Ends) + len(b.Frames)*(8+b.Subcarriers*b.Flags.Width()))
	if s.queued.Add(size) > queueBytes {
		s.queued.Add(-size)
		s.lost.Add(int64(len(b.Frames)))
		return
	}
	select {
	case s.queue <- batch{link, format, csi.Append(make([]byte, 0, size), b), base, len(b.Frames), size}:
	default:
		s.queued.Add(-size)
		s.lost.Add(int64(len(b.Frames)))
	}
}

// over reports whether it has ended and is complete.
func (s *session) over() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

// end ends it, unless it ends already, and waits until it is complete.
func (s *session) end(why string) Recording {
	select {
	case s.ending <- why:
	default:
	}
	<-s.ended
	return s.now()
}

// now returns how it is.
func (s *session) now() Recording {
	s.mu.Lock()
	defer s.mu.Unlock()
	about := s.about
	about.Files = slices.Clone(about.Files)
	about.Dropped += int(s.lost.Load())
	if about.Ended == 0 {
		about.Label = s.labels.now()
	}
	return about
}

// run writes until it is to end.
func (s *session) run() {
	defer close(s.ended)
	over, flush := time.NewTimer(s.length), time.NewTicker(flushEvery)
	defer over.Stop()
	defer flush.Stop()
	why := ""
	for why == "" {
		select {
		case b := <-s.queue:
			why = s.write(b)
		case <-flush.C:
			why = s.flush()
		case <-over.C:
			why = EndedByTime
		case why = <-s.ending:
		}
	}
	s.of.o.Listen(nil)
	for len(s.queue) > 0 {
		b := <-s.queue
		switch why {
		case EndedBySize, EndedByDisk, EndedFailed:
			s.lost.Add(int64(b.frames))
		default:
			why = cmp.Or(s.write(b), why)
		}
	}
	s.complete(why)
}

// write writes a batch. It returns why the recording is to end, "" when it is to go on.
func (s *session) write(b batch) (why string) {
	s.queued.Add(-b.size)
	if err := csi.Decode(b.payload, &s.decoded); err != nil {
		return s.failed(err)
	}
	to, err := s.stream(&b)
	if err != nil {
		return s.failed(err)
	}
	if to == nil {
		s.lost.Add(int64(b.frames))
		return ""
	}
	for i := range s.decoded.Frames {
		f := &s.decoded.Frames[i]
		at := b.base.Add(float64(f.Offset) / 1e6)
		to.add(at, s.labels.digit(at), f, s.decoded.Flags)
		if to.full() {
			why = cmp.Or(why, s.put(to))
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.about.Frames += b.frames
	return why
}

// stream returns where the frames of the decoded batch belong, nil when there are too many formats.
func (s *session) stream(b *batch) (*stream, error) {
	f := formatOf(b, &s.decoded)
	if known := s.streams[f]; known != nil || len(s.streams) == mostStreams {
		return known, nil
	}
	number := len(s.streams) + 1
	made, err := newStream(filepath.Join(s.directory, fmt.Sprintf("%02d_%s_%d.csv.gz", number, safe(b.link), f.bins)), s.about.Name, f, &s.decoded, b.base)
	if err != nil {
		return nil, err
	}
	s.streams[f] = made
	return made, nil
}

// safe returns a text as a part of a file's name.
func safe(text string) string {
	return strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '.' {
			return c
		}
		return '-'
	}, text)
}

// put writes what a stream holds to the disk. It returns why the recording is to end.
func (s *session) put(one *stream) (why string) {
	if err := one.put(&s.press); err != nil {
		return s.failed(err)
	}
	if s.count() > s.most {
		return EndedBySize
	}
	return ""
}

// flush makes durable what has come. It returns why the recording is to end.
func (s *session) flush() (why string) {
	for _, one := range s.streams {
		why = cmp.Or(why, s.put(one))
		if err := one.sync(); err != nil {
			why = cmp.Or(why, s.failed(err))
		}
	}
	if s.of.full(0) {
		why = cmp.Or(why, EndedByDisk)
	}
	return why
}

// count brings the figures up to date and returns how many bytes are written.
func (s *session) count() int64 {
	files := []File{}
	frames, bytes := 0, int64(0)
	for _, one := range s.streams {
		if one.Bytes > 0 {
			files = append(files, one.File)
		}
		frames, bytes = frames+one.Frames, bytes+one.Bytes
	}
	slices.SortFunc(files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	s.mu.Lock()
	defer s.mu.Unlock()
	s.about.Files, s.about.Frames, s.about.Bytes = files, frames, bytes
	return bytes
}

// failed says that it cannot be written.
func (s *session) failed(err error) string {
	s.of.o.Log.Error("recording ends: it cannot be written", "recording", s.about.Name, "err", err)
	return EndedFailed
}

// complete writes what is left and gives the recording its name. One that could not be completed is
// found by the next start.
func (s *session) complete(why string) {
	if again := s.flush(); again == EndedFailed {
		why = again
	}
	s.count()
	for _, one := range s.streams {
		_ = one.file.Close() // it was synced
		if one.Bytes == 0 {
			_ = os.Remove(one.file.Name()) // nothing could be written
		}
	}
	s.mu.Lock()
	s.about.Ended, s.about.Why, s.about.Dropped = s.of.o.Now(), why, int(s.lost.Swap(0))
	about := s.about
	s.mu.Unlock()
	err := writeAbout(s.directory, about)
	if err == nil {
		err = os.Rename(s.directory, filepath.Join(s.of.o.Directory, about.Name))
	}
	if err == nil {
		err = durable.SyncDirectory(s.of.o.Directory)
	}
	if err != nil {
		s.of.o.Log.Error("recording not completed: the next start does it", "recording", about.Name, "err", err)
		return
	}
	s.of.o.Log.Info("recording ended", "recording", about.Name, "why", why, "frames", about.Frames, "dropped", about.Dropped, "bytes", about.Bytes)
}
