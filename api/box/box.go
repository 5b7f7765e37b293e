// Package box is what an administrator does with the appliance: accounts, API keys, MQTT users,
// mails, devices, the setup code, and how the appliance is. The commands on the appliance itself
// (api/admin) and the screens of the web app (api/browser) call the same methods.
//
// Each change leaves a line in the audit log, written in the transaction of the change. It must not
// hold a rule of the engine, and must not know HTTP or a terminal.
package box

import (
	"context"
	"errors"
	"io"
	"log/slog"

	"sensegate/api/auth"
	"sensegate/api/box/preflight"
	"sensegate/api/box/recording"
	"sensegate/api/box/staging"
	"sensegate/api/logtail"
	"sensegate/motion"
	"sensegate/motion/engine"
	"sensegate/motion/household"
	"sensegate/motion/uplink"
	"sensegate/store"
)

// Parts are what the box stands on. Household, Staging and the functions are nil when the appliance does
// not run; the functions are called concurrently.
type Parts struct {
	Engine    *engine.Engine
	DB        *store.DB
	Accounts  *auth.Accounts
	Household *household.Household
	Staging   *staging.Staging    // nil as well
	Recorder  *recording.Recorder // nil as well

	Ready      func() error                        // why the appliance cannot work
	Authority  func() string                       // fingerprint of the authority that clients are to trust
	Core       func() string                       // address of the Core interface, shown with a new key
	Ports      func() []string                     // that it listens on for HTTP
	Reach      func() Reach                        // how the household reaches the appliance
	Configured func() Settings                     // the configuration
	Secured    func() Secure                       // how the household reaches the appliance encrypted
	Probe      func(context.Context) []SecureCheck // tries that
	Entities   func() motion.UserTopics            // where Home Assistant finds the appliance's entities on its own broker
	Nodes      Nodes                               // the door of nodes of other makers
	Uplinks    *uplink.Set                         // nil when the appliance does not run
	MinFree    int64                               // bytes of the disk that stay free for the rest of the system
	Restart    func() error                        // starts the process anew, after this answer; an error says why it cannot
	TryProgram func(path string) error             // why a program cannot take the place of the one that runs
	Revoked    func()                              // called after somebody's rights ended, to end connections opened with them

	Preflight func() []preflight.Finding // whether the machine lets it work
	Metrics   func(io.Writer)            // its figures, in the Prometheus text format
	Mistaken  error                      // what is wrong with the configuration, a line each, for Support alone; nil: nothing
	Unopened  error                      // why DB is nil, for Support alone
	Whole     string                     // the command that makes a bundle with the database, where DB is nil; "": none is known

	Log    *slog.Logger
	Level  *slog.LevelVar // what it holds at least; nil when the appliance does not run
	Recent *logtail.Tail  // the last lines of the log
}

// Box administers the appliance. Its methods may be called concurrently.
type Box struct {
	Parts
	changed chan struct{} // rights of somebody have changed
}

// New returns the box of its parts.
func New(p Parts) *Box { return &Box{p, make(chan struct{}, 1)} }

// errNothing ends a change that is not needed: all is as it is wanted, and the log has no line of it.
var errNothing = errors.New("nothing changes")

// change runs a change that leaves a line in the audit log. do gets a context whose first Update
// writes the line; a change that stores nothing itself has it written afterwards.
func (b *Box) change(ctx context.Context, by store.Actor, action, about string, do func(context.Context, *store.AuditNote) error) error {
	note := store.NewAuditNote(by, action, about)
	switch err := do(store.Audited(ctx, note), note); {
	case errors.Is(err, errNothing):
		return nil
	case err != nil:
		return err
	}
	b.Log.Info("administered", "action", action, "by", by.Kind, "user", by.UserID) // addresses of people stand in the audit log alone
	if note.Written() {
		return nil
	}
	// It is done: whoever asked may be gone, and is to be told that it is not noted.
	return b.DB.Update(store.Audited(context.WithoutCancel(ctx), note), func(*store.Tx) error { return nil })
}

// Audit returns up to last lines of the audit log whose id is below before, the newest first; 0: from
// the newest. more says that there are older ones.
func (b *Box) Audit(ctx context.Context, before uint64, last int) (lines []store.AuditLine, more bool, err error) {
	err = b.DB.View(ctx, func(tx *store.Tx) error {
		lines, more = tx.AuditPage(before, last)
		return nil
	})
	return lines, more, err
}
