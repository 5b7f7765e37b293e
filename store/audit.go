package store

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"sync/atomic"
	"unicode"

	"sensegate/motion"
	"sensegate/motion/home"
)

// auditLimit is how many lines of the audit log are kept, however young they are: about 6 MB.
const auditLimit = 20_000

// ActorKind says how somebody came to administer the appliance.
type ActorKind string

// The kinds of actors.
const (
	ByAccount  ActorKind = "account"  // signed in, in the web app
	ByTerminal ActorKind = "terminal" // a command on the appliance itself
	ByBox      ActorKind = "box"      // the appliance, by a rule of its own
	ByUplink   ActorKind = "uplink"   // a program that is connected to the same broker as an uplink, or to the appliance's own
)

// Actor is who administers the appliance.
type Actor struct {
	Kind   ActorKind   `json:"kind" enum:"account,terminal,box,uplink"`
	UserID home.UserID `json:"user_id,omitempty"` // of an account, 0: of none
	Name   string      `json:"name"`              // the account's address then, or the name of the system's user
	From   netip.Addr  `json:"-"`                 // of an account: where the request came from
}

// AuditLine is one line of the audit log: who has changed what, and from where. It never holds a
// secret.
type AuditLine struct {
	ID      uint64            `json:"id"`
	At      motion.Time       `json:"at"`
	Action  string            `json:"action"`            // a code, such as key_revoked
	About   string            `json:"about"`             // name, address or id of what was changed; "": the appliance
	Who     Actor             `json:"who"`               // without From
	From    string            `json:"from,omitempty"`    // IP address; "": the appliance itself
	Details map[string]string `json:"details,omitempty"` // what else is worth knowing
}

// audit is the table of the audit log.
var audit = table[uint64, AuditLine]{name: "audit", noun: "line of the audit log", grows: true, history: true, key: key64}

// AuditNote is a line that the next successful Update of its context is to write.
type AuditNote struct {
	line    AuditLine
	written atomic.Bool
}

// NewAuditNote returns a note of what an actor is about to do. Its action and what it is about
// stand in AuditLine.
func NewAuditNote(who Actor, action, about string) *AuditNote {
	line := AuditLine{Action: action, About: about, Who: who}
	if who.From.IsValid() {
		line.From = who.From.String()
	}
	return &AuditNote{line: line}
}

// Add notes one thing more, before it is written. It must not be called concurrently.
func (n *AuditNote) Add(key, value string) {
	if n.line.Details == nil {
		n.line.Details = map[string]string{}
	}
	n.line.Details[key] = value
}

// About names what the action is about, where that is known only in the transaction.
func (n *AuditNote) About(about string) { n.line.About = about }

// Written reports whether the note is in the database.
func (n *AuditNote) Written() bool { return n.written.Load() }

// AddAuditNote writes a note in a transaction that is not of a context of Audited.
func (tx *Tx) AddAuditNote(n *AuditNote) error {
	tx.OnCommit(func() { n.written.Store(true) })
	return tx.AddAuditLine(n.line)
}

type auditKey struct{}

// Audited returns a context whose first successful Update writes the note, in the same
// transaction: there is no change without its line, and no line without its change.
func Audited(ctx context.Context, n *AuditNote) context.Context {
	return context.WithValue(ctx, auditKey{}, n)
}

// auditOf returns the note that a context asks to be written, nil for none.
func auditOf(ctx context.Context) *AuditNote {
	n, _ := ctx.Value(auditKey{}).(*AuditNote)
	if n == nil || n.Written() {
		return nil
	}
	return n
}

// AddAuditLine stores a line under the next id, stamped now. Of more than 20,000 the oldest go.
func (tx *Tx) AddAuditLine(line AuditLine) error {
	bucket := tx.bucket(audit.name)
	id, err := bucket.NextSequence()
	if err != nil {
		return err
	}
	line.ID, line.At = id, tx.now
	line.About, line.Who.Name = readable(line.About), readable(line.Who.Name)
	for key, value := range line.Details {
		line.Details[key] = readable(value)
	}
	if err := audit.put(tx, id, line); err != nil || id <= auditLimit {
		return err
	}
	return audit.delete(tx, id-auditLimit)
}

// readable returns a text with what does not show, and what breaks a line, as question marks: a name
// must not pass for a line of the log.
func readable(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, text)
}

// AuditPage returns up to last lines of the audit log whose id is below before, the newest first;
// 0: from the newest. more says that there are older ones.
func (tx *Tx) AuditPage(before uint64, last int) (lines []AuditLine, more bool) {
	lines = []AuditLine{}
	cursor := tx.bucket(audit.name).Cursor()
	back := cursor.Last
	if key, _ := cursor.Seek(key64(before)); before > 0 && key != nil {
		back = cursor.Prev
	}
	key, data := back()
	for ; key != nil; key, data = cursor.Prev() {
		line, ok := audit.readable(tx, key, data)
		if !ok {
			continue
		}
		if len(lines) == last {
			return lines, true
		}
		lines = append(lines, line)
	}
	return lines, false
}

// forgetInAudit names a user by their number in the lines that they have left and that are about
// them: nothing of a person stays when their account is deleted.
func (tx *Tx) forgetInAudit(u home.User) error {
	lines, err := audit.all(tx, nil)
	return each(lines, err, func(l AuditLine) error {
		by, about := l.Who.UserID == u.ID, home.EmailKey(l.About) == home.EmailKey(u.Email)
		if !by && !about && home.EmailKey(l.Details["to"]) != home.EmailKey(u.Email) {
			return nil
		}
		if by {
			l.Who.Name, l.From = "", ""
		}
		if about {
			l.About = fmt.Sprint("account ", u.ID)
		}
		delete(l.Details, "to")
		return audit.put(tx, l.ID, l)
	})
}

// expireAudit deletes the lines that are older than cutoff.
func (tx *Tx) expireAudit(cutoff motion.Time) (int, error) {
	all := func(AuditLine) bool { return true }
	return expireTable(tx, &audit, cutoff, func(l AuditLine) motion.Time { return l.At }, all)
}
