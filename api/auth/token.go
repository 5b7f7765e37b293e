package auth

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"sensegate/motion"
	"sensegate/motion/home"
	"sensegate/store"
)

// issuer stands in every token (RFC 7519 4.1.1).
const issuer = "sensegate"

// The purposes of tokens: their audience. A token of one purpose is not valid for another.
const (
	forSession = "session"
	forRefresh = "refresh"
	forConfirm = "confirm"
	forReset   = "reset"
)

// How long tokens live (payloads.md 5.1).
const (
	sessionLife = time.Hour
	refreshLife = 30 * 24 * time.Hour
	confirmLife = 48 * time.Hour
	resetLife   = time.Hour
)

// maxToken bounds a token, in bytes.
const maxToken = 4096

// claims are the claims of a token (payloads.md 5.1).
type claims struct {
	jwt.RegisteredClaims             // but for the audience
	Purpose              audience    `json:"aud"`
	User                 home.UserID `json:"uid"`
	Session              string      `json:"sid,omitempty"`   // forSession, forRefresh
	Email                string      `json:"email,omitempty"` // forConfirm: the address to confirm
	State                string      `json:"state,omitempty"` // forConfirm, forReset: of the account, see accountState
}

// GetAudience is for jwt's validation.
func (c claims) GetAudience() (jwt.ClaimStrings, error) {
	return jwt.ClaimStrings{string(c.Purpose)}, nil
}

// audience is the recipient of a token, a JSON string (RFC 7519 4.1.3). Tokens of earlier
// versions have an array of one.
type audience string

// UnmarshalJSON reads a string, or an array of one.
func (a *audience) UnmarshalJSON(data []byte) error {
	var list jwt.ClaimStrings
	if err := list.UnmarshalJSON(data); err != nil {
		return err
	}
	if len(list) != 1 {
		return errors.New("aud: want one")
	}
	*a = audience(list[0])
	return nil
}

// stamp fills in the claims of every token. issued is in seconds since the epoch.
func (c claims) stamp(u home.User, purpose, id string, issued int64, expires motion.Time) claims {
	c.User, c.Purpose = u.ID, audience(purpose)
	c.RegisteredClaims = jwt.RegisteredClaims{
		Issuer: issuer, Subject: u.Sub, ID: id,
		IssuedAt: jwt.NewNumericDate(time.Unix(issued, 0)), ExpiresAt: jwt.NewNumericDate(expires.Std()),
	}
	return c
}

// sign returns the token of claims: HMAC-SHA256, with the id of the key in its header.
func (k *Keyring) sign(c claims) (string, error) {
	key := k.newest()
	token := jwt.NewWithClaims(jwt.SigningMethodHS256, c)
	token.Header["kid"] = key.ID
	text, err := token.SignedString(key.Secret)
	if err != nil {
		return "", fmt.Errorf("sign token: %w", err)
	}
	return text, nil
}

// read returns the claims of a token of one purpose. The error says what is wrong with it;
// callers outside learn only that it is not valid.
func (k *Keyring) read(token, purpose string, now motion.Time) (claims, error) {
	var c claims
	if len(token) > maxToken || strings.ContainsFunc(token, notOfToken) {
		return c, errors.New("read token: it is too long, or holds what no token does")
	}
	_, err := jwt.ParseWithClaims(token, &c, k.secretOf,
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), jwt.WithStrictDecoding(),
		jwt.WithExpirationRequired(), jwt.WithIssuer(issuer), jwt.WithAudience(purpose), jwt.WithTimeFunc(now.Std))
	if err != nil {
		return c, fmt.Errorf("read token: %w", err)
	}
	if c.IssuedAt == nil {
		return c, errors.New("read token: it is not one of ours")
	}
	return c, nil
}

// notOfToken reports whether a letter cannot stand in a token (RFC 7515 section 3.1): Go's
// base64 ignores line breaks.
func notOfToken(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r))
}

// readNow returns the claims of a token of one purpose and whether it is valid at the
// database's time. The error is internal, not the caller's mistake.
func (k *Keyring) readNow(ctx context.Context, db *store.DB, token, purpose string) (c claims, ok bool, err error) {
	err = db.View(ctx, func(tx *store.Tx) error {
		read, err := k.read(token, purpose, tx.Now())
		c, ok = read, err == nil
		return nil
	})
	return c, ok, err
}

// secretOf finds the key that a token names.
func (k *Keyring) secretOf(t *jwt.Token) (any, error) {
	id, _ := t.Header["kid"].(string)
	if secret := k.find(id); secret != nil {
		return secret, nil
	}
	return nil, errors.New("unknown key")
}
