package auth

import (
	"context"
	"time"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

// stepUpLife is how long after its log-in a session may change address and password without
// showing the password (payloads.md 6 no. 18).
const stepUpLife = 10 * time.Minute

// The codes of the answers to a caller without the proof of StepUp.
const (
	codeStepUp        = "step_up"        // nothing was shown, and the log-in is too old
	codeWrongPassword = "wrong_password" // the password that was shown is not theirs
)

// StepUp returns nil when a caller may change what protects the account: they show its
// password, or show none ("") and have logged in at most ten minutes ago, by password or SSO;
// a refresh does not count.
//
// Forbidden with the code step_up: neither. Forbidden with the code wrong_password: the
// password is wrong, whatever the age of the log-in. It is not Unauthorized, because the
// session stays valid. Wrong and right passwords count as those of log-ins do, and are
// Throttled in the same way; so are two of a user at once.
func (a *Accounts) StepUp(ctx context.Context, who User, password string) error {
	if password == "" {
		return a.recentLogin(ctx, who)
	}
	u, err := a.User(ctx, who.ID)
	if err != nil {
		return err
	}
	err = a.checkOwn(ctx, who, u, password)
	a.refusals.note(u.Email, who.Address, err)
	if fault.KindOf(err) == fault.Unauthorized {
		return &fault.Error{Kind: fault.Forbidden, Code: codeWrongPassword, Message: "current_password: is not right"}
	}
	return err
}

// checkOwn is check for the caller of a session, whose account is u.
func (a *Accounts) checkOwn(ctx context.Context, who User, u home.User, password string) error {
	_, stored, familiar, err := a.lookUp(ctx, u.Email, who.Address)
	if err != nil {
		return err
	}
	return a.check(ctx, who.ID, Credentials{Email: u.Email, Password: password, From: who.Address}, stored, familiar)
}

// recentLogin returns nil when the log-in of the caller's session is recent.
func (a *Accounts) recentLogin(ctx context.Context, who User) error {
	recent := false
	err := a.db.View(ctx, func(tx *store.Tx) error {
		session, ok, err := tx.Session(who.Session)
		for _, proven := range session.Proofs() {
			age := tx.Now().Since(proven)
			recent = recent || ok && isRecent(age)
		}
		if proven, kept := a.proven.Load(who.Session); kept && ok {
			recent = recent || isRecent(tx.Now().Since(proven.(motion.Time)))
		}
		return err
	})
	if err == nil && !recent {
		err = &fault.Error{
			Kind: fault.Forbidden, Code: codeStepUp,
			Message: "current_password: is needed in the body, or a new log-in, because the last one is more than ten minutes ago",
		}
	}
	return err
}

// isRecent reports whether a log-in of so long ago is recent. A clock that was set back proves
// nothing.
func isRecent(age motion.Seconds) bool { return age >= 0 && age <= stepUpLife.Seconds() }

// Renew notes that the caller of a browser's session has shown their password: for ten minutes
// StepUp needs none then. The errors are those of StepUp with a password.
func (a *Accounts) Renew(ctx context.Context, who User, password string) error {
	if err := a.StepUp(ctx, who, password); err != nil {
		return err
	}
	var now motion.Time
	err := a.db.View(ctx, func(tx *store.Tx) error {
		now = tx.Now()
		_, err := browserSession(tx, who.Session)
		return err
	})
	if err != nil {
		return err
	}
	err = a.db.Update(ctx, func(tx *store.Tx) error {
		session, err := browserSession(tx, who.Session)
		if err != nil {
			return err
		}
		kept := *session.Browser
		kept.ProvenAt, session.Browser = tx.Now(), &kept
		_, err = tx.PutSession(session)
		return err
	})
	if fault.KindOf(err) == fault.Unavailable { // a full disk keeps nobody from reading what is theirs
		a.proven.Store(who.Session, now)
		return nil
	}
	return err
}
