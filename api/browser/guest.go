package browser

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"sync"
	"time"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion/fault"
	"sensegate/motion/home"
)

const guestLife = 10 * time.Minute

// Guest is a code that signs whoever has it in as one user: once, within ten minutes, and from
// the appliance itself. The zero Guest invites nobody. Its methods may be called concurrently.
type Guest struct {
	mu   sync.Mutex
	ever bool   // somebody was invited
	code string // "": there is none
	user home.UserID
	ends time.Time
}

// Invite returns a new code for a user, in place of the one before.
func (g *Guest) Invite(user home.UserID) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ever, g.code, g.user, g.ends = true, rand.Text(), user, time.Now().Add(guestLife)
	return g.code
}

// open reports whether somebody was ever invited.
func (g *Guest) open() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.ever
}

// take returns the user of a code, once.
func (g *Guest) take(code string) (home.UserID, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.code == "" || time.Now().After(g.ends) || subtle.ConstantTimeCompare([]byte(code), []byte(g.code)) == 0 {
		return 0, false
	}
	g.code = ""
	return g.user, true
}

type guestIn struct {
	Body struct {
		Code string `json:"code" minLength:"1" maxLength:"64" doc:"Of the link that the demo prints" example:"7K2MQ9XA7K2MQ9XA7K2MQ9XA7K"`
	}
}

func (b *Browser) guestSignIn(ctx context.Context, _ auth.Anyone, in *guestIn) (*signInOut, error) {
	r := api.RequestOf(ctx)
	if !b.Guest.open() || !r.Local() {
		return nil, fault.New(fault.NotFound, "no such address")
	}
	user, ok := b.Guest.take(in.Body.Code)
	if !ok {
		return nil, fault.New(fault.Unauthorized, "code: it was used, is older than ten minutes, or never was one; start the demo again")
	}
	halves, u, err := b.Sessions.StartBrowser(ctx, user, r.Browser())
	if err != nil {
		return nil, err
	}
	return b.signedIn(r, halves, u, 0), nil
}
