// Package household holds the rules of people and homes that take several steps,
// raise events or touch devices: finding and claiming a home, members and
// invitations, leaving and disowning, scenes and presence (interfaces.md 3,
// 4.2, 5 and 6; payloads.md 5).
//
// It knows the store, the engine and how mails are queued. It must not know HTTP, tokens, or
// how a caller has proven who they are: callers have authenticated the user they name.
//
// Concurrency. All exported methods may be called concurrently; each makes its
// decision and its change in one transaction. Events follow the commit.
package household

import (
	"log/slog"

	"sensegate/motion/engine"
	"sensegate/motion/notify"
	"sensegate/store"
)

// Options configure a Household.
type Options struct {
	// Mail queues a mail as part of a transaction.
	Mail func(*store.Tx, notify.Mail) error
	// Ended is called after a commit that ended a membership, an account, a network or the
	// live motion of one, so that its live connections are closed; nil: it is not called.
	Ended func()
	Log   *slog.Logger // nil: nothing is logged
}

// Household holds these rules. Make it with New.
type Household struct {
	db     *store.DB
	engine *engine.Engine
	mail   func(*store.Tx, notify.Mail) error
	ended  func()
	log    *slog.Logger
	limit  inviteLimit
}

// New returns a Household over a database and the engine that works on it.
func New(db *store.DB, e *engine.Engine, o Options) *Household {
	h := &Household{db: db, engine: e, mail: o.Mail, ended: o.Ended, log: o.Log}
	if h.ended == nil {
		h.ended = func() {}
	}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	return h
}
