// Package moving writes a network with all that belongs to it into a file, and reads such a file:
// gzip (RFC 1952) of lines of JSON.
//
//	{"format":"sensegate-network","version":1,...}   Header
//	{"network":{...},"nodes":[...],...}               store.NetworkCopy
//	{"event":{...}}                                   any number of store.HistoryRecord
//	{"end":{"records":N,"sha256":"..."}}              of the lines before it, with their ends
//
// A file that was cut off or changed is refused as a whole. It holds hashes of passwords and
// tokens: whoever sends it encrypts it (package passphrase).
//
// It knows the format. It must not know HTTP, who may move a network, or what a record means.
package moving

import (
	"compress/gzip"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash"
	"io"

	"sensegate/motion"
	"sensegate/store"
)

// Format is what the header of every file says.
const Format = "sensegate-network"

// Version is the version of the format that is written. A newer one is not read. It is counted up
// with every change after which this program would read a file wrongly, also of the records of
// the store. 2: blocks of samples may hold levels; 3: they have version 2 (both: motion/series).
const Version = 3

// Header is the first line of a file.
type Header struct {
	Format   string           `json:"format"`
	Version  int              `json:"version"`
	Copy     string           `json:"copy"`           // names the copy
	Receipt  string           `json:"receipt"`        // what the box shows that has taken it in
	Moves    bool             `json:"moves"`          // the network is closed on the box that it comes from
	Made     motion.Time      `json:"made"`           // when
	From     string           `json:"from,omitempty"` // the box that it comes from, as people call it
	Network  motion.NetworkID `json:"network"`        // its id there
	Guardian string           `json:"guardian_id"`    // its guardian id
	Bytes    int64            `json:"bytes"`          // of its history, about
	Left     store.LeftBehind `json:"left"`           // what does not come along

	ClockUnset bool `json:"clock_unset,omitempty"` // the clock of the box was not set
}

// end is the last line of a file.
type end struct {
	Records int    `json:"records"` // of the history
	SHA256  string `json:"sha256"`
}

// line is any line of a file but the first two.
type line struct {
	store.HistoryRecord
	End *end `json:"end,omitempty"`
}

// NewReceipt returns a random name of a copy, or what a box shows that has taken one in.
func NewReceipt() string { return rand.Text() }

// Source is what is written into a file.
type Source struct {
	Header  Header
	Network store.NetworkCopy
	Samples *store.Samples
}

// Written says what a file holds.
type Written struct {
	Records    int `json:"records"`    // of the history
	Unreadable int `json:"unreadable"` // records of the history that cannot be read and were left out
}

// Write writes a file. What fails leaves one behind that is refused.
func Write(ctx context.Context, w io.Writer, s Source) (done Written, err error) {
	s.Header.Format, s.Header.Version = Format, Version
	packed, _ := gzip.NewWriterLevel(w, gzip.BestSpeed) // the level is one that there is
	out := &lines{to: packed, sum: sha256.New()}
	if err := out.write(s.Header); err != nil {
		return done, err
	}
	if err := out.write(s.Network); err != nil {
		return done, err
	}
	done.Unreadable, err = s.Samples.CopyHistory(ctx, s.Network.Network.ID, func(records []store.HistoryRecord) error {
		for _, r := range records {
			if err := out.write(line{HistoryRecord: r}); err != nil {
				return err
			}
		}
		done.Records += len(records)
		return nil
	})
	if err != nil {
		return done, err
	}
	if err := out.write(line{End: &end{done.Records, out.digest()}}); err != nil {
		return done, err
	}
	return done, packed.Close()
}

// lines writes lines and sums them up.
type lines struct {
	to  io.Writer
	sum hash.Hash
}

func (l *lines) write(what any) error {
	text, err := json.Marshal(what)
	if err != nil {
		return err
	}
	text = append(text, '\n')
	l.sum.Write(text) // never fails
	_, err = l.to.Write(text)
	return err
}

func (l *lines) digest() string { return hex.EncodeToString(l.sum.Sum(nil)) }
