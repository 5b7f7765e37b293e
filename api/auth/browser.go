package auth

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"net/netip"
	"sort"
	"strings"
	"time"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

const (
	// BrowserLife is the longest life of a browser's session, however often it is used.
	BrowserLife = 90 * 24 * time.Hour

	seenStep   = 24 * time.Hour // how exactly its last use is stored
	secretSize = 32             // bytes of each half
	agentSize  = 200            // characters that are kept of a browser's name
)

// Halves are the two secrets of a browser's session; each request shows both. Browsers send a
// cookie to every port of a host, so that a neighbour on another port can receive it, but does
// not see what our page keeps. A script that steals what the page keeps does not see the cookie.
type Halves struct {
	Cookie string // SESSION.SECRET, for a cookie that scripts cannot read
	Proof  string // for the page's own storage
}

// newHalves makes the secrets of a session, and what is stored of them.
func newHalves(session, agent string, now motion.Time) (Halves, *store.Browser) {
	cookie, proof := secret(), secret()
	if text := []rune(agent); len(text) > agentSize {
		agent = string(text[:agentSize])
	}
	kept := &store.Browser{Cookie: digestOf(cookie), Proof: digestOf(proof), Agent: agent, SeenAt: now}
	return Halves{Cookie: session + "." + cookie, Proof: proof}, kept
}

func secret() string { return base64.RawURLEncoding.EncodeToString(random(secretSize)) }

func digestOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// same compares a secret with a digest, in a time that does not depend on either.
func same(text, digest string) bool {
	return subtle.ConstantTimeCompare([]byte(digestOf(text)), []byte(digest)) == 1
}

// CookieName returns the name of this appliance's cookie. It differs between appliances,
// because browsers send the cookies of a host to all of its ports.
func (s *Sessions) CookieName() string {
	mac := hmac.New(sha256.New, s.keys.names)
	mac.Write([]byte("cookie"))
	return "sensegate-" + hex.EncodeToString(mac.Sum(nil)[:4])
}

// LoginBrowser is [Accounts.Login] for a browser, which c.Browser names. Earlier sessions go on.
func (a *Accounts) LoginBrowser(ctx context.Context, c Credentials) (Halves, home.User, error) {
	c.Multi, c.Browser = true, orUnknown(c.Browser)
	g, err := a.logIn(ctx, c)
	return g.halves, g.user, err
}

// StartBrowser begins a session of a browser for a user who has shown who they are in another
// way. Earlier sessions go on.
func (s *Sessions) StartBrowser(ctx context.Context, id home.UserID, browser string) (Halves, home.User, error) {
	var g grant
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		u, err := tx.User(id)
		if err != nil {
			return err
		}
		g, err = s.begin(tx, u, true, orUnknown(browser))
		return err
	})
	return g.halves, g.user, err
}

func orUnknown(browser string) string {
	if browser == "" {
		return "unknown"
	}
	return browser
}

// CheckBrowser returns the user whose browser shows both halves, or an Unauthorized fault. A
// session ends 30 days after its last use, and 90 days after it began.
func (s *Sessions) CheckBrowser(ctx context.Context, h Halves, from netip.Addr) (User, error) {
	id, cookie, _ := strings.Cut(h.Cookie, ".")
	var session store.Session
	var now motion.Time
	err := s.db.View(ctx, func(tx *store.Tx) (err error) {
		now = tx.Now()
		session, err = browserSession(tx, id)
		return err
	})
	if err != nil {
		return User{}, err
	}
	// Both are compared, so that the time does not tell which is wrong.
	if right := same(cookie, session.Browser.Cookie); !same(h.Proof, session.Browser.Proof) || !right {
		return User{}, refusedBrowser()
	}
	if err := s.seen(ctx, session, now); err != nil && fault.KindOf(err) != fault.Unavailable { // a full disk stops no reader
		return User{}, err
	}
	return User{ID: session.User, Session: id, Address: from, Browser: true}, nil
}

// StillOpen returns nil while the browser's session of a caller goes on, or an Unauthorized
// fault.
func (s *Sessions) StillOpen(ctx context.Context, who User) error {
	return s.db.View(ctx, func(tx *store.Tx) error {
		_, err := browserSession(tx, who.Session)
		return err
	})
}

// browserSession returns a browser's session that has not ended, or an Unauthorized fault.
func browserSession(tx *store.Tx, id string) (store.Session, error) {
	session, ok, err := tx.Session(id)
	if err == nil && (!ok || session.Browser == nil || session.ExpiresAt <= tx.Now() || fromTheFuture(session, tx.Now())) {
		err = refusedBrowser()
	}
	return session, err
}

// believable is 1 January 2026: a clock before that is not set.
const believable motion.Time = 1767225600

// fromTheFuture reports whether a session began by a clock that was ahead and is set right since:
// its ends would be as far ahead.
func fromTheFuture(session store.Session, now motion.Time) bool {
	return now >= believable && session.CreatedAt > now.Add(seenStep.Seconds())
}

func refusedBrowser() error {
	return fault.New(fault.Unauthorized, "session: the cookie or the header X-Sensegate is missing or not right, or the session has ended; sign in again")
}

// seen prolongs a session that is in use, once a day.
func (s *Sessions) seen(ctx context.Context, session store.Session, now motion.Time) error {
	if now.Since(session.Browser.SeenAt) < seenStep.Seconds() { // or the clock is not set
		return nil
	}
	return s.db.Update(ctx, func(tx *store.Tx) error {
		session, err := browserSession(tx, session.ID)
		if err != nil {
			return err
		}
		kept := *session.Browser
		kept.SeenAt, session.Browser = tx.Now(), &kept
		session.ExpiresAt = min(tx.Now().Add(refreshLife.Seconds()), session.CreatedAt.Add(BrowserLife.Seconds()))
		_, err = tx.PutSession(session)
		return err
	})
}

// SessionInfo is what a user is told of one of their sessions.
type SessionInfo struct {
	ID        string      `json:"id" format:"uuid" doc:"For DELETE /sessions/{id}"`
	Current   bool        `json:"current" doc:"The one of this request"`
	Browser   string      `json:"browser" doc:"As the browser named itself; empty: an app with tokens of its own"`
	CreatedAt motion.Time `json:"created_at" doc:"When it was signed in, seconds since the epoch" example:"1764000000"`
	SeenAt    motion.Time `json:"seen_at" doc:"Last use, to a day, seconds since the epoch" example:"1764000000"`
}

// Sessions returns the sessions of a caller that have not ended, the newest first.
func (s *Sessions) Sessions(ctx context.Context, who User) (list []SessionInfo, err error) {
	err = s.db.View(ctx, func(tx *store.Tx) error {
		own, err := tx.SessionsOfUser(who.ID)
		for _, session := range own {
			if session.ExpiresAt <= tx.Now() {
				continue
			}
			info := SessionInfo{ID: session.ID, Current: session.ID == who.Session, CreatedAt: session.CreatedAt, SeenAt: session.RotatedAt}
			if session.Browser != nil {
				info.Browser, info.SeenAt = session.Browser.Agent, session.Browser.SeenAt
			}
			list = append(list, info)
		}
		return err
	})
	sort.Slice(list, func(i, j int) bool { return list[j].CreatedAt < list[i].CreatedAt })
	return list, err
}

// EndOne ends a session of a caller's. NotFound: it is nobody's, or another user's.
func (s *Sessions) EndOne(ctx context.Context, who User, id string) error {
	return s.db.Update(ctx, func(tx *store.Tx) error {
		session, ok, err := tx.Session(id)
		if err != nil {
			return err
		}
		if !ok || session.User != who.ID {
			return fault.New(fault.NotFound, "session: not found")
		}
		return s.endWithin(tx, User{ID: who.ID, Session: id})
	})
}
