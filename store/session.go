package store

import (
	"bytes"
	"net/netip"
	"slices"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
)

// Session is a login of a user: what session and refresh tokens belong to, or the two
// secrets of a browser. What belongs to a session that is not there any more is worth nothing.
type Session struct {
	ID        string      `json:"id"` // sid of its tokens, a uuid
	User      home.UserID `json:"user"`
	Refresh   string      `json:"refresh"`    // jti of the refresh token that is to be used next
	Previous  string      `json:"previous"`   // jti of the one before it
	CreatedAt motion.Time `json:"created_at"` // when its user logged in; a refresh keeps it
	RotatedAt motion.Time `json:"rotated_at"` // when Refresh was given out
	ExpiresAt motion.Time `json:"expires_at"` // when Refresh ends, or a browser's session

	Browser *Browser `json:"browser,omitempty"` // nil: a session of tokens
}

// Browser is what a session of the web app has instead of tokens: two secrets, of which the
// browser shows both with each request.
type Browser struct {
	Cookie string      `json:"cookie"`  // SHA-256 of what its cookie holds, hex
	Proof  string      `json:"proof"`   // SHA-256 of what its page keeps, hex
	Agent  string      `json:"agent"`   // how it named itself at the log-in, at most 200 characters
	SeenAt motion.Time `json:"seen_at"` // of a request, to a day

	ProvenAt motion.Time `json:"proven_at,omitempty"` // when the password was shown again; 0: never
}

// Proofs returns when the user showed who they are: at the log-in, and since.
func (s Session) Proofs() []motion.Time {
	if s.Browser == nil {
		return []motion.Time{s.CreatedAt}
	}
	return []motion.Time{s.CreatedAt, s.Browser.ProvenAt}
}

// used returns when the session was last used, of a browser to a day.
func (s Session) used() motion.Time {
	if s.Browser == nil {
		return s.RotatedAt
	}
	return max(s.RotatedAt, s.Browser.SeenAt)
}

// MaxSessions bounds the sessions of one user; the oldest gives way.
const MaxSessions = 32

// sessions is the table of sessions.
var sessions = table[string, Session]{
	name: "sessions", noun: "session", key: keyText,
	indexes: []index[Session]{
		{
			name: "sessions_by_user", noun: "user",
			keys: func(s Session) [][]byte { return [][]byte{keyUser(s.User)} },
		},
		{
			name: "sessions_by_expiry", noun: "end",
			keys: func(s Session) [][]byte { return [][]byte{key64(keyMicros(s.ExpiresAt))} },
		},
	},
}

// PutSession stores s, as given, new or over the session with its id. When the user
// has more than MaxSessions then, the oldest of the others is ended.
func (tx *Tx) PutSession(s Session) (ended bool, err error) {
	if _, err := tx.User(s.User); err != nil {
		return false, err
	}
	if err := sessions.put(tx, s.ID, s); err != nil {
		return false, err
	}
	own, err := tx.SessionsOfUser(s.User)
	if err != nil || len(own) <= MaxSessions {
		return false, err
	}
	oldest := own[0]
	for _, other := range own {
		if other.ID != s.ID && (oldest.ID == s.ID || other.used() < oldest.used()) {
			oldest = other
		}
	}
	return sessions.untyped().remove(tx, keyText(oldest.ID))
}

// Session returns the session with the id and whether there is one.
func (tx *Tx) Session(id string) (Session, bool, error) { return sessions.get(tx, id) }

// SessionsOfUser returns the sessions of a user, in no particular order.
func (tx *Tx) SessionsOfUser(user home.UserID) ([]Session, error) {
	return sessions.allBy(tx, "sessions_by_user", keyUser(user))
}

// EndSession removes a session. One that is not there is a NotFound fault.
func (tx *Tx) EndSession(id string) error {
	existed, err := sessions.untyped().remove(tx, keyText(id))
	if err == nil && !existed {
		err = fault.New(fault.NotFound, "session: not found")
	}
	return err
}

// EndSessionsOfUser removes the sessions of a user, except the one with the id
// except ("" spares none).
func (tx *Tx) EndSessionsOfUser(user home.UserID, except string) error {
	own, err := tx.SessionsOfUser(user)
	return each(own, err, func(s Session) error {
		if s.ID == except {
			return nil
		}
		return tx.EndSession(s.ID)
	})
}

// SweepSessions removes sessions that have expired, at most limit of them. It belongs
// into the transactions that make sessions: as nothing else adds to them, they stay
// bounded by those in use.
func (tx *Tx) SweepSessions(limit int) error {
	expired := [][]byte{}
	end := key64(keyMicros(tx.now))
	cursor := tx.bucket("sessions_by_expiry").Cursor()
	for key, id := cursor.First(); key != nil && bytes.Compare(key[:8], end) <= 0 && len(expired) < limit; key, id = cursor.Next() {
		expired = append(expired, bytes.Clone(id))
	}
	return sessions.removeAll(tx, expired)
}

// maxFamiliar bounds the addresses that are remembered of one user.
const maxFamiliar = 8

// familiar is the table of the addresses that users have logged in from, or shown as much
// from as with a log-in, the newest first, as digests. It lets the people of a house in while a stranger guesses.
var familiar = table[home.UserID, []digest]{name: "familiar", noun: "familiar addresses of user", key: keyUser}

// familiarDigest is of the user too, so that equal addresses do not look alike.
func familiarDigest(user home.UserID, address netip.Addr) digest {
	return digestOf(string(keyUser(user)) + address.String())
}

// Familiar reports whether the user is known to log in from the address.
func (tx *Tx) Familiar(user home.UserID, address netip.Addr) (bool, error) {
	list, _, err := familiar.get(tx, user)
	return slices.Contains(list, familiarDigest(user, address)), err
}

// NoteFamiliar remembers that the user has logged in from the address: the last 8 are
// kept.
func (tx *Tx) NoteFamiliar(user home.UserID, address netip.Addr) error {
	list, _, err := familiar.get(tx, user)
	if err != nil {
		return err
	}
	sum := familiarDigest(user, address)
	list = slices.Insert(slices.DeleteFunc(list, func(d digest) bool { return d == sum }), 0, sum)
	return familiar.put(tx, user, list[:min(len(list), maxFamiliar)])
}
