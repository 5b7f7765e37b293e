package moving

import (
	"context"
	"errors"
	"io"
	"strconv"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store"
)

// Taken says what was taken in.
type Taken struct {
	store.Arrival
	Again   bool                            `json:"again,omitempty"` // it was taken in before: nothing was done
	Header  Header                          `json:"header"`
	Nodes   map[motion.NodeID]motion.NodeID `json:"nodes,omitempty"` // ids of nodes and leafs here, by those on the other box
	People  []store.Person                  `json:"people,omitempty"`
	Records int                             `json:"records"`
	Skipped int                             `json:"skipped,omitempty"` // records of the history that were left out: they are of no form that is known
}

// Staged is a network that was read whole and that nothing shows yet.
type Staged struct {
	taken Taken
	in    *store.Import // nil: it was taken in before
}

// Stage reads a file and stages what it holds. join names accounts of this box as
// store.ImportOptions does. The errors are those of Open, Reader.Each and store.DB.BeginImport. The
// caller ends it by Commit.
func Stage(ctx context.Context, db *store.DB, r io.Reader, join []string) (s *Staged, err error) {
	reader, err := Open(r)
	if err != nil {
		return nil, err
	}
	s = &Staged{taken: Taken{Header: reader.Header}}
	if reader.Header.ClockUnset {
		return nil, fault.New(fault.Invalid, "the clock of the box that wrote the file was not set, so its times are wrong: set that clock, and export once more")
	}
	s.taken.Arrival, s.taken.Again, err = arrived(ctx, db, reader.Header.Copy)
	if err != nil || s.taken.Again {
		return s, err
	}
	s.in, err = db.BeginImport(ctx, reader.Network, store.ImportOptions{
		Copy: reader.Header.Copy, Receipt: reader.Header.Receipt, Join: join, Bytes: reader.Header.Bytes,
	})
	if err != nil {
		return nil, err
	}
	s.taken.Nodes, s.taken.People = s.in.Nodes(), s.in.People()
	err = reader.Each(ctx, func(record store.HistoryRecord) error {
		s.taken.Records++
		return s.in.Add(ctx, record)
	})
	if err != nil {
		return nil, errors.Join(err, s.in.Abort(context.WithoutCancel(ctx)))
	}
	return s, nil
}

// Network returns the id that the network has here.
func (s *Staged) Network() motion.NetworkID {
	if s.in == nil {
		return s.taken.Arrival.Network
	}
	return s.in.Network()
}

// Details returns what is worth a line in the audit log.
func (s *Staged) Details() map[string]string {
	joined := 0
	for _, p := range s.taken.People {
		if p.Joined {
			joined++
		}
	}
	return map[string]string{
		"was_network": strconv.FormatUint(uint64(s.taken.Header.Network), 10), "records": strconv.Itoa(s.taken.Records),
		"people": strconv.Itoa(len(s.taken.People)), "joined": strconv.Itoa(joined),
	}
}

// Commit makes what is staged a network of this box. When it fails, nothing of it stays.
func (s *Staged) Commit(ctx context.Context) (Taken, error) {
	if s.in == nil {
		return s.taken, nil
	}
	arrival, err := s.in.Commit(ctx)
	if err != nil {
		return s.taken, errors.Join(err, s.in.Abort(context.WithoutCancel(ctx)))
	}
	s.taken.Arrival, s.taken.Skipped = arrival, s.in.Skipped
	return s.taken, nil
}

// arrived returns what a copy has become when it was taken in before.
func arrived(ctx context.Context, db *store.DB, named string) (a store.Arrival, found bool, err error) {
	err = db.View(ctx, func(tx *store.Tx) (err error) {
		a, found, err = tx.Arrived(named)
		return err
	})
	return a, found, err
}
