// Package recording writes raw channel state (CSI) of links into files, with a label that
// somebody gives while it runs: labelled captures, on which the detection can be measured
// (docs/recording.md).
//
// It knows the files of one directory and the CSI1 batch. It must not know HTTP, a terminal, who
// may record, or what the frames mean.
//
// # On disk
//
// The directory is recordings in the state directory; it is made when it is needed. Each
// recording is a directory of it, NAME, which is called NAME.part until it is complete:
//
//	about.json                  Recording
//	NUMBER_LINK_BINS.csv.gz     one link in one format: see stream
//
// Each file is a sequence of complete gzip members, a few seconds each. What a power cut leaves
// of the last one is cut off at the next start, and the rest is a recording.
package recording

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"sensegate/motion"
	"sensegate/motion/csi"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
	"sensegate/store/durable"
)

// The limits of recordings.
const (
	MostMinutes = 240
	MostBytes   = 200 << 20 // of one
	MostAll     = 500 << 20 // of all together

	leastRoom = 1 << 20 // bytes, to begin one
)

// Why a recording has ended.
const (
	EndedByTime = "time"    // its minutes were over
	EndedByHand = "stopped" // somebody has stopped it
	EndedBySize = "size"    // it, or all together, have reached their limit
	EndedByDisk = "disk"    // the disk has too little room
	EndedByBox  = "box"     // the appliance was stopped
	EndedByCut  = "cut"     // the appliance ended without a warning: the last seconds are missing
	EndedFailed = "failed"  // it could not be written
)

// Label says what happens in the rooms while frames are recorded.
type Label string

// The labels.
const (
	Unlabelled Label = ""
	Empty      Label = "empty"  // nobody is there
	Still      Label = "still"  // somebody is there and does not move
	Moving     Label = "moving" // somebody moves
)

// LabelNames returns the names of the labels, as the tag enum has them.
func LabelNames() []string { return []string{string(Empty), string(Still), string(Moving)} }

// digits are the labels as files have them.
var digits = map[Label]byte{Unlabelled: '9', Empty: '0', Still: '1', Moving: '2'}

// Order is what somebody wants recorded.
type Order struct {
	Network motion.NetworkID
	Home    home.ID     // that the network belongs to, 0: to none
	User    home.UserID // who wants it, 0: somebody on the appliance itself
	Links   []string    // their names; none: all, also those that come later
	Minutes int         // 1 to MostMinutes
	Label   Label       // at its beginning
}

// Recording is a recording, complete or running.
type Recording struct {
	Name    string           `json:"name"`
	Network motion.NetworkID `json:"network_id"`
	Home    home.ID          `json:"home_id,omitempty"` // 0: the network belonged to nobody
	Links   []string         `json:"links"`             // that were chosen; none: all
	Minutes int              `json:"minutes"`           // it was to last
	Started motion.Time      `json:"started"`
	Ended   motion.Time      `json:"ended,omitempty"` // 0: it runs
	Why     string           `json:"why,omitempty"`   // it has ended, such as EndedByTime; "": it runs
	Frames  int              `json:"frames"`          // written
	Dropped int              `json:"dropped"`         // not written, because they came too fast
	Bytes   int64            `json:"bytes"`           // on the disk
	Files   []File           `json:"files"`
	Label   Label            `json:"label,omitempty"` // now, of one that runs
}

// File is one link of a recording in one format.
type File struct {
	Name   string `json:"name"`
	Link   string `json:"link"`
	Bins   int    `json:"bins"` // subcarriers
	Frames int    `json:"frames"`
	Bytes  int64  `json:"bytes"`
}

// Take takes in a batch of a link that was decoded; format tells the formats of one device apart, base
// is the time of the first frame. It does not block, and keeps nothing of the batch.
type Take func(network motion.NetworkID, link string, b *csi.Batch, format uint16, base motion.Time)

// Options say what a Recorder works on. Free, Now and Log may be left out.
type Options struct {
	Directory string     // see the package's function of that name
	MinFree   int64      // bytes of the disk that stay free; 0: it is not looked at
	Most      int64      // bytes that a recording may have; 0: MostBytes
	Listen    func(Take) // has each batch handed to a Take from now on; nil: to none any more

	Free func(directory string) (int64, error) // bytes free; nil: as the system says
	Now  func() motion.Time                    // nil: the time of the system
	Log  *slog.Logger                          // nil: nothing is logged
}

// Directory returns where a state directory has its recordings.
func Directory(stateDir string) string { return filepath.Join(stateDir, "recordings") }

// Recorder records, one recording at a time, and keeps what was recorded. Its methods may be
// called concurrently.
type Recorder struct {
	o Options

	mu      sync.Mutex // held while the directory is changed, but for what a session writes
	running *session   // the newest, which may have ended; nil: none since the start
	closed  bool
}

// New returns a Recorder, which Run completes.
func New(o Options) *Recorder {
	if o.Free == nil {
		o.Free = store.FreeBytes
	}
	if o.Now == nil {
		o.Now = func() motion.Time { return motion.TimeOf(time.Now()) }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Recorder{o: o}
}

// Run completes what the last run has left unfinished, and when ctx ends the recording that
// runs then.
func (r *Recorder) Run(ctx context.Context) error {
	if err := r.salvage(); err != nil {
		r.o.Log.Warn("unfinished recordings not completed", "err", err)
	}
	<-ctx.Done()
	r.mu.Lock()
	r.closed = true
	s := r.running
	r.mu.Unlock()
	if s != nil {
		s.end(EndedByBox)
	}
	return nil
}

// Start begins a recording. Conflict, code recording: one runs. Conflict, code no_room: the disk
// or the directory has too little room. Invalid: the order. Unavailable: the appliance stops.
func (r *Recorder) Start(order Order) (Recording, error) {
	if order.Minutes < 1 || order.Minutes > MostMinutes {
		return Recording{}, fault.New(fault.Invalid, "minutes: want 1 to %d", MostMinutes)
	}
	if _, known := digits[order.Label]; !known {
		return Recording{}, unknownLabel(order.Label)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return Recording{}, fault.New(fault.Unavailable, "the appliance stops: record when it has started again")
	}
	if r.running != nil && !r.running.over() {
		return Recording{}, &fault.Error{Kind: fault.Conflict, Code: "recording", Message: "a recording runs: stop it first"}
	}
	room, err := r.room()
	if err != nil {
		return Recording{}, err
	}
	s, err := r.begin(order, room)
	if err != nil {
		return Recording{}, fmt.Errorf("begin recording: %w", err)
	}
	r.running = s
	r.o.Listen(s.take)
	go s.run()
	return s.now(), nil
}

// room returns how many bytes a recording may have now.
func (r *Recorder) room() (int64, error) {
	noRoom := func(text string) error {
		return &fault.Error{Kind: fault.Conflict, Code: "no_room", Message: text}
	}
	if err := os.MkdirAll(r.o.Directory, 0o700); err != nil {
		return 0, fmt.Errorf("make the directory of recordings: %w", err)
	}
	list, err := r.list()
	if err != nil {
		return 0, err
	}
	left := int64(MostAll)
	for _, old := range list {
		left -= old.Bytes
	}
	if left < leastRoom {
		return 0, noRoom("recordings have as much room as they may: delete one first")
	}
	if r.full(leastRoom) {
		return 0, noRoom("the disk has too little room: make room first")
	}
	return min(left, cmp.Or(r.o.Most, MostBytes)), nil
}

// full reports whether the disk has too little room for so many bytes more. A quarter of what
// stays free is the database's, so that a recording ends before that is read-only.
func (r *Recorder) full(more int64) bool {
	if r.o.MinFree == 0 {
		return false
	}
	free, err := r.o.Free(r.o.Directory)
	if err != nil {
		r.o.Log.Warn("free disk space for a recording unknown", "err", err)
		return false
	}
	return free < r.o.MinFree+r.o.MinFree/4+more
}

// begin makes the directory of a recording, durably.
func (r *Recorder) begin(order Order, most int64) (*session, error) {
	started := r.o.Now()
	stem := fmt.Sprintf("%s-%d", started.Std().UTC().Format("20060102-150405"), order.Network)
	name := stem
	for n := 2; r.exists(name) || r.exists(name+part); n++ {
		name = fmt.Sprintf("%s-%d", stem, n)
	}
	s := newSession(r, Recording{
		Name: name, Network: order.Network, Home: order.Home, Links: append([]string{}, order.Links...), Minutes: order.Minutes, Started: started, Files: []File{},
	}, order, most)
	if err := os.Mkdir(s.directory, 0o700); err != nil {
		return nil, err
	}
	if err := writeAbout(s.directory, s.about); err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.directory))
	}
	return s, durable.SyncDirectory(r.o.Directory)
}

func (r *Recorder) exists(name string) bool {
	_, err := os.Lstat(filepath.Join(r.o.Directory, name))
	return err == nil
}

// Running returns the recording that runs, and whether one does.
func (r *Recorder) Running() (now Recording, of home.UserID, running bool) {
	s := r.session()
	if s == nil {
		return Recording{}, 0, false
	}
	return s.now(), s.user, true
}

// session returns the one that runs, nil when none does.
func (r *Recorder) session() *session {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.running == nil || r.running.over() {
		return nil
	}
	return r.running
}

// Label says what happens from now on. NotFound: nothing runs. Invalid: no such label.
func (r *Recorder) Label(label Label) error {
	if _, known := digits[label]; !known {
		return unknownLabel(label)
	}
	s := r.session()
	if s == nil {
		return noneRuns()
	}
	s.labels.change(label, r.o.Now())
	return nil
}

// Stop ends the recording that runs, and returns it when it is complete. NotFound: none runs.
func (r *Recorder) Stop() (Recording, error) {
	s := r.session()
	if s == nil {
		return Recording{}, noneRuns()
	}
	return s.end(EndedByHand), nil
}

func noneRuns() error { return fault.New(fault.NotFound, "no recording runs") }

func unknownLabel(l Label) error {
	return fault.New(fault.Invalid, "label %.20q: want %s, or nothing", l, strings.Join(LabelNames(), ", "))
}
