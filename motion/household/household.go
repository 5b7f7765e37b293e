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
	// Ended is called after a commit with which a membership, an account, a network or
	// the live motion of one ended, so that its live connections are closed; nil: nobody
	// wants to know.
	Ended func()
	Log   *slog.Logger // nil: nowhere
}

// Household is the people's side of the product. Make it with New.
type Household struct {
	db     *store.DB
	engine *engine.Engine
	mail   func(*store.Tx, notify.Mail) error
	ended  func()
	log    *slog.Logger
	limit  inviteLimit
}

// New returns the household's rules over a database and the engine that works on it.
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
