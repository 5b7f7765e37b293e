// Package household implements the operations on people and homes that take several steps,
// raise events or touch devices: finding, claiming and setting up a home, members, installers and
// invitations, leaving and disowning, scenes and presence (interfaces.md 3, 4.2, 5 and 6; payloads.md 5).
//
// It knows the store, the engine and the mail queue. It must not know HTTP, tokens or
// authentication: callers have authenticated the user they pass.
//
// Concurrency. All exported methods except Look may be called concurrently; each decides and
// changes in one transaction. Events follow the commit.
package household

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"

	"sensegate/motion/engine"
	"sensegate/motion/notify"
	"sensegate/store"
)

// Options configure a Household.
type Options struct {
	// Mail queues a mail in a transaction.
	Mail func(*store.Tx, notify.Mail) error
	// Ended, if not nil, is called after a commit that ends a membership, an account, a
	// network or its live motion, so that the caller can close the live connections.
	Ended func()
	Log   *slog.Logger // nil: no log
}

// Household performs these operations. Create it with New.
type Household struct {
	db     *store.DB
	engine *engine.Engine
	mail   func(*store.Tx, notify.Mail) error
	onEnd  func() // Options.Ended
	log    *slog.Logger
	limit  inviteLimit
	codes  openCodes
	starts walkStarts
	walks  sync.Map // by network: the ownWalk that was begun last

	leaving atomic.Bool // a home may change to away soon; see LeaveSoon
}

// New returns a Household for a database and the engine that uses it.
func New(db *store.DB, e *engine.Engine, o Options) *Household {
	h := &Household{db: db, engine: e, mail: o.Mail, onEnd: o.Ended, log: o.Log}
	if h.onEnd == nil {
		h.onEnd = func() {}
	}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	h.leaving.Store(true)
	return h
}

// ended is called after a commit that ends what somebody may see: their walk tests end at once, though
// whoever asked for the change may have hung up.
func (h *Household) ended() {
	h.endForsakenWalks(context.Background())
	h.onEnd()
}
