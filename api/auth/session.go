package auth

import (
	"context"
	"net/netip"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"

	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

// Sessions makes and checks the tokens of the App Cloud interface.
type Sessions struct {
	db   *store.DB
	sign []byte
}

// NewSessions is for now.
func NewSessions(db *store.DB, sign []byte) *Sessions { return &Sessions{db: db, sign: sign} }

type claims struct {
	jwt.RegisteredClaims
	UID int64  `json:"uid"`
	SID string `json:"sid"`
}

// Tokens is a session response (interface document 2.3).
type Tokens struct {
	Token        string    `json:"token"`
	RefreshToken string    `json:"refresh_token"`
	User         home.User `json:"user"`
}

// Start begins a session of a user; unless multi, every earlier one ends.
func (s *Sessions) Start(ctx context.Context, id home.UserID, multi bool) (Tokens, error) {
	var t Tokens
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		u, err := tx.User(id)
		if err != nil {
			return err
		}
		if !multi {
			u.ValidFrom = max(tx.Now().Second(), u.ValidFrom+1)
			if err := tx.PutUser(u); err != nil {
				return err
			}
		}
		issued := max(tx.Now().Second(), u.ValidFrom)
		t.User = u
		t.Token, err = jwt.NewWithClaims(jwt.SigningMethodHS256, claims{
			RegisteredClaims: jwt.RegisteredClaims{
				Issuer: "sensegate", Audience: jwt.ClaimStrings{"session"}, Subject: u.Sub,
				IssuedAt: jwt.NewNumericDate(time.Unix(issued, 0)), ExpiresAt: jwt.NewNumericDate(time.Unix(issued+3600, 0)),
				ID: uuid.NewString(),
			},
			UID: int64(u.ID), SID: uuid.NewString(),
		}).SignedString(s.sign)
		return err
	})
	return t, err
}

// Check returns the user whose session token it is, or an Unauthorized fault.
func (s *Sessions) Check(ctx context.Context, token string, from netip.Addr) (User, error) {
	refused := fault.New(fault.Unauthorized, "authorization: the session token is missing, invalid or expired; log in with POST /sessions")
	var c claims
	_, err := jwt.ParseWithClaims(token, &c, func(*jwt.Token) (any, error) { return s.sign, nil },
		jwt.WithValidMethods([]string{"HS256"}), jwt.WithExpirationRequired(), jwt.WithIssuer("sensegate"), jwt.WithAudience("session"), jwt.WithStrictDecoding())
	if err != nil {
		return User{}, refused
	}
	err = s.db.View(ctx, func(tx *store.Tx) error {
		u, err := tx.User(home.UserID(c.UID))
		if err == nil && (c.IssuedAt.Unix() < u.ValidFrom || u.Sub != c.Subject) {
			return refused
		}
		if fault.KindOf(err) == fault.NotFound {
			return refused
		}
		return err
	})
	return User{ID: home.UserID(c.UID), Session: c.SID, Address: from}, err
}
