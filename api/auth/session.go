package auth

import (
	"context"
	"net/netip"
	"time"

	"github.com/google/uuid"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

// refreshGrace is how long a used refresh token works once more, because the answer may have
// been lost. It returns the same successor: when a thief and the owner both go on to use that,
// the session ends.
const refreshGrace = 30 * time.Second

// sweepLimit is how many expired records a transaction removes, many more than it adds.
const sweepLimit = 16

// Sessions makes and checks the tokens of the App Cloud interface. Its methods may be
// called concurrently.
//
// A session is a record; its tokens name it. A token is valid when its signature is,
// it has not expired, it was issued at or after the user's valid_from, and its session
// still exists (interfaces.md 3 no. 2, 5 no. 3).
type Sessions struct {
	db      *store.DB
	keys    *Keyring
	ended   func()
	tickets *tickets
}

// NewSessions returns the sessions that db holds. ended is called after the commit that ended
// a session, so that its live connections are checked again.
func NewSessions(db *store.DB, keys *Keyring, ended func()) *Sessions {
	return &Sessions{db: db, keys: keys, ended: ended, tickets: newTickets()}
}

// Tokens is a session response (interfaces.md 2.3).
type Tokens struct {
	Token        string    `json:"token" doc:"Session token, for the header Authorization: lives an hour"`
	RefreshToken string    `json:"refresh_token" doc:"For PATCH /sessions, once: lives 30 days"`
	User         home.User `json:"user"`
}

// Start begins a session of a user; unless multi, every earlier one ends
// (payloads.md 6 no. 13).
func (s *Sessions) Start(ctx context.Context, id home.UserID, multi bool) (Tokens, error) {
	var g grant
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		u, err := tx.User(id)
		if err != nil {
			return err
		}
		g, err = s.begin(tx, u, multi, "")
		return err
	})
	if err != nil {
		return Tokens{}, err
	}
	return s.tokens(g)
}

// grant is a session that a transaction has granted: its tokens are signed after the commit.
type grant struct {
	user    home.User
	session store.Session
	halves  Halves // of a browser's session
	at      motion.Time
}

// begin begins a session within a transaction: of tokens, or of a browser, which names itself.
// u may carry changes; it is stored.
func (s *Sessions) begin(tx *store.Tx, u home.User, multi bool, browser string) (grant, error) {
	if err := tx.SweepSessions(sweepLimit); err != nil {
		return grant{}, err
	}
	session, halves := store.Session{ID: uuid.NewString(), User: u.ID, CreatedAt: tx.Now()}, Halves{}
	if browser != "" {
		halves, session.Browser = newHalves(session.ID, browser, tx.Now())
	}
	g, err := s.extend(tx, u, session, multi)
	g.halves = halves
	return g, err
}

// extend gives a session its next refresh token; unless multi, every other session
// of the user and every earlier token ends.
func (s *Sessions) extend(tx *store.Tx, u home.User, session store.Session, multi bool) (grant, error) {
	session.Previous, session.Refresh = session.Refresh, uuid.NewString()
	session.RotatedAt, session.ExpiresAt = tx.Now(), tx.Now().Add(refreshLife.Seconds())
	if !multi {
		var err error
		if u.ValidFrom, err = nextValidFrom(u, tx.Now()); err != nil {
			return grant{}, err
		}
		if err := tx.EndSessionsOfUser(u.ID, session.ID); err != nil {
			return grant{}, err
		}
	}
	if err := tx.PutUser(u); err != nil {
		return grant{}, err
	}
	ended, err := tx.PutSession(session)
	if err != nil {
		return grant{}, err
	}
	if ended || !multi {
		tx.OnCommit(s.ended)
	}
	return grant{user: u, session: session, at: tx.Now()}, nil
}

// maxAhead is how many seconds valid_from may be ahead of the clock, and so how many log-ins
// fit in a second.
const maxAhead = 5

// nextValidFrom returns a second after every token of the user that was issued before, also
// within the same second (payloads.md 6 no. 13), or a Throttled fault when it would be more
// than maxAhead ahead of the clock. A stored one further ahead comes from a clock that was set
// back since: then it starts again from now, because every other session ends.
func nextValidFrom(u home.User, now motion.Time) (int64, error) {
	next := max(now.Second(), u.ValidFrom+1)
	switch ahead := next - now.Second(); {
	case ahead <= maxAhead:
		return next, nil
	case ahead == maxAhead+1:
		return 0, throttled(time.Second, "too many log-ins at once")
	}
	return now.Second(), nil
}

// tokens signs what was granted.
func (s *Sessions) tokens(g grant) (Tokens, error) {
	s.keys.rotateIfDue(g.at)
	t := Tokens{User: g.user}
	issued := max(g.at.Second(), g.user.ValidFrom) // otherwise the token could be invalid at once
	base := claims{Session: g.session.ID}
	var err error
	session := base.stamp(g.user, forSession, uuid.NewString(), issued, g.at.Add(sessionLife.Seconds()))
	if t.Token, err = s.keys.sign(session); err != nil {
		return Tokens{}, err
	}
	refresh := base.stamp(g.user, forRefresh, g.session.Refresh, issued, g.session.ExpiresAt)
	if t.RefreshToken, err = s.keys.sign(refresh); err != nil {
		return Tokens{}, err
	}
	return t, nil
}

// Check returns the user whose session token it is, or an Unauthorized fault.
func (s *Sessions) Check(ctx context.Context, token string, from netip.Addr) (User, error) {
	return store.Read(ctx, s.db, func(tx *store.Tx) (User, error) {
		c, err := s.keys.read(token, forSession, tx.Now())
		if err != nil {
			return User{}, refusedSession()
		}
		u, _, ok, err := s.holder(tx, c)
		if err != nil {
			return User{}, err
		}
		if !ok || c.IssuedAt.Unix() < u.ValidFrom {
			return User{}, refusedSession()
		}
		return User{ID: u.ID, Session: c.Session, Address: from}, nil
	})
}

func refusedSession() error {
	return fault.New(fault.Unauthorized, "authorization: the session token is missing, invalid or expired; log in with POST /sessions")
}

// holder returns the user and the session in claims, and whether both exist and belong
// together.
func (s *Sessions) holder(tx *store.Tx, c claims) (home.User, store.Session, bool, error) {
	session, ok, err := tx.Session(c.Session)
	if err != nil || !ok || session.User != c.User {
		return home.User{}, session, false, err
	}
	u, err := tx.User(c.User)
	return u, session, err == nil && u.Sub == c.Subject, err
}

// Refresh exchanges a refresh token for new tokens; unless multi, every other session of the
// user ends. Each refresh token works once, and for half a minute afterwards returns the same
// successor; the use of an older one means that somebody else has it, and ends the session.
// The error is an Unauthorized fault.
func (s *Sessions) Refresh(ctx context.Context, token string, multi bool) (Tokens, error) {
	c, ok, err := s.keys.readNow(ctx, s.db, token, forRefresh)
	if err != nil {
		return Tokens{}, err
	}
	if !ok {
		return Tokens{}, refusedRefresh()
	}
	var g grant
	granted := false
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		u, session, ok, err := s.holder(tx, c)
		if err != nil || !ok {
			return err
		}
		switch age := tx.Now().Since(session.RotatedAt); {
		case c.ID == session.Refresh && c.IssuedAt.Unix() >= u.ValidFrom:
			g, err = s.extend(tx, u, session, multi)
			granted = err == nil
			return err
		case c.ID == session.Previous && age >= 0 && age <= refreshGrace.Seconds():
			g, granted = grant{user: u, session: session, at: tx.Now()}, true
			return nil
		}
		tx.OnCommit(s.ended)
		return tx.EndSession(session.ID)
	})
	if err != nil {
		return Tokens{}, err
	}
	if !granted {
		return Tokens{}, refusedRefresh()
	}
	return s.tokens(g)
}

func refusedRefresh() error {
	return fault.New(fault.Unauthorized, "token: the refresh token is invalid, expired, or was used before; log in with POST /sessions")
}

// End ends the session of a user, or all of them: then no token that was issued before is
// valid any more. The phones of ended sessions get no more pushes.
func (s *Sessions) End(ctx context.Context, who User, all bool) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		if all {
			return s.endAll(tx, who.ID)
		}
		return s.endWithin(tx, who)
	})
}

// endWithin ends the session of a user within a transaction.
func (s *Sessions) endWithin(tx *store.Tx, who User) error {
	tx.OnCommit(s.ended)
	if err := tx.DeleteMobilesOf(who.ID, who.Session); err != nil {
		return err
	}
	return tx.EndSession(who.Session)
}

// endAll ends every session of a user within a transaction.
func (s *Sessions) endAll(tx *store.Tx, id home.UserID) error {
	u, err := tx.User(id)
	if err != nil {
		return err
	}
	if next, err := nextValidFrom(u, tx.Now()); err == nil {
		u.ValidFrom = next
	} // otherwise the sessions end below, and with them their tokens
	if err := tx.PutUser(u); err != nil {
		return err
	}
	return s.endOthers(tx, id, "")
}

// endOthers ends every session of a user but that with the id kept, within a transaction; ""
// keeps none. The phones that other sessions registered get no more pushes.
func (s *Sessions) endOthers(tx *store.Tx, id home.UserID, kept string) error {
	tx.OnCommit(s.ended)
	phones, err := tx.MobilesOfUser(id)
	if err != nil {
		return err
	}
	for _, phone := range phones {
		if kept != "" && phone.Session == kept {
			continue
		}
		if err := tx.DeleteMobile(phone.ID); err != nil {
			return err
		}
	}
	return tx.EndSessionsOfUser(id, kept)
}
