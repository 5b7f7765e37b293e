package staging

import (
	"crypto/rand"
	"errors"
	"fmt"
	"syscall"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store"
)

// order is what order.json says: a staged backup is to take the database's place.
type order struct {
	record
	Order    string      `json:"order"` // 26 letters and digits: a backup may be applied again
	At       motion.Time `json:"at"`
	Orderer  Person      `json:"orderer"`
	Attempts int         `json:"attempts"`        // starts that have begun to carry it out
	Aside    string      `json:"aside,omitempty"` // name of the former database from then on; "": not begun
}

// Outcome is what came of the last order.
type Outcome struct {
	ID       string         `json:"id"`              // of the order
	At       motion.Time    `json:"at"`              // when it was carried out or refused
	By       Person         `json:"by"`              // who applied it
	OK       bool           `json:"ok"`              // the backup is the database now; otherwise the former one is
	Text     string         `json:"text"`            // in words: what was restored, or why not
	Aside    string         `json:"aside,omitempty"` // name of the former database in the state directory; "": there was none
	Contents store.Contents `json:"contents"`        // of the backup
	Uploaded motion.Time    `json:"uploaded_at"`     // when it was staged
	Told     bool           `json:"told,omitempty"`  // Tell has passed it on
}

// Apply orders that the staged backup takes the database's place, and asks the appliance to
// start anew. The order is durable when Apply returns nil. uploadedAt, unless it is 0, is when
// the backup was uploaded that the caller has seen: another one meanwhile is a Conflict.
func (s *Staging) Apply(by Person, uploadedAt motion.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	refuse := func(code, text string) error {
		return &fault.Error{Kind: fault.Conflict, Code: code, Message: text}
	}
	if s.restart == nil {
		return refuse("not_restartable", "this appliance is not started anew by itself: nothing can be restored here")
	}
	if err := s.ordered(); err != nil {
		return err
	}
	staged, err := read[record](s.o.Directory, stagedName)
	switch {
	case err != nil:
		return err
	case staged == nil:
		return refuse("nothing_staged", "no backup is uploaded: upload one first")
	case uploadedAt != 0 && uploadedAt.Second() != staged.UploadedAt.Second():
		return refuse("another_staged", "another backup was uploaded meanwhile: look at that one first")
	}
	if err := s.starts(); err != nil {
		return refuse("not_restartable", fmt.Sprintf("the appliance would not start again, mend that first: %v", err))
	}
	err = write(s.o.Directory, orderName, order{record: *staged, Order: rand.Text(), At: motion.TimeOf(s.o.Now()), Orderer: by})
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return noRoom("the disk is full: make room first")
	}
	if err != nil {
		return fmt.Errorf("order the restore: %w", err)
	}
	s.o.Log.Info("the staged backup is to take the database's place: the appliance starts anew", "bytes", staged.Size)
	s.restart()
	return nil
}

// Last returns what came of the last order, nil when there was none.
func (s *Staging) Last() (*Outcome, error) { return read[Outcome](s.o.Directory, lastName) }

// Tell calls tell with what came of the last order, unless that was told before, and notes
// that it was when tell returns nil. A power cut between may tell it twice: Outcome.ID knows.
func (s *Staging) Tell(tell func(Outcome) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	last, err := s.Last()
	if err != nil || last == nil || last.Told {
		return err
	}
	if err := tell(*last); err != nil {
		return err
	}
	last.Told = true
	return write(s.o.Directory, lastName, last)
}

// Withdraw takes back an order that no start has carried out, because something else took the
// database's place. No appliance may run; that there is no order is no error.
func Withdraw(directory string, why string, now motion.Time) error {
	pending, err := pendingOrder(directory)
	if err != nil || pending == nil {
		return err
	}
	return pending.conclude(directory, Outcome{At: now, Text: why}, false)
}

// conclude notes what came of an order, and ends it. drop: the backup is not staged any more.
func (o order) conclude(directory string, outcome Outcome, drop bool) error {
	outcome.ID, outcome.By, outcome.Contents, outcome.Uploaded = o.Order, o.Orderer, o.Contents, o.UploadedAt
	err := write(directory, lastName, outcome)
	if drop {
		err = errors.Join(err, remove(directory, stagedName, o.file()))
	}
	return errors.Join(err, remove(directory, orderName))
}
