package browser

import (
	"context"
	"net/http"
	"slices"
	"time"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/api/caller"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

type bootOut struct {
	Body struct {
		Version string `json:"version" doc:"Of the program" example:"1.4.0"`
		Claimed bool   `json:"claimed" doc:"Whether a home here has an owner"`
	}
}

func (b *Browser) boot(ctx context.Context, _ auth.Anyone, _ *struct{}) (*bootOut, error) {
	out := &bootOut{}
	out.Body.Version = b.Version
	err := b.DB.View(ctx, func(tx *store.Tx) error {
		homes, err := tx.Homes()
		for _, h := range homes {
			out.Body.Claimed = out.Body.Claimed || h.Claimed()
		}
		return err
	})
	return out, err
}

type signInIn struct {
	Body struct {
		Email    string `json:"email" maxLength:"254" doc:"Of the account, in any case" example:"jdoe@example.com"`
		Password string `json:"password" maxLength:"512" doc:"Of the account" example:"correct horse battery"`
		Stay     bool   `json:"stay,omitempty" doc:"Whether the session outlives the browser's window"`
	}
}

type signInOut struct {
	Cookie string `header:"Set-Cookie"`
	Body   struct {
		Proof string    `json:"proof" doc:"For the header X-Sensegate of every request" example:"8n6kA1oDgQ2mB5tZ0yWcXfRjUeHsLpVqTnKiGbMdOwE"`
		User  home.User `json:"user"`
	}
}

func (b *Browser) signIn(ctx context.Context, who auth.Anyone, in *signInIn) (*signInOut, error) {
	r := api.RequestOf(ctx)
	halves, user, err := b.Accounts.LoginBrowser(ctx, auth.Credentials{
		Email: in.Body.Email, Password: in.Body.Password, Browser: r.Browser(), From: who.Address,
	})
	if err != nil {
		return nil, err
	}
	if err := b.endFormer(ctx, r); err != nil {
		return nil, err
	}
	return b.signedIn(r, halves, user, lifeOf(in.Body.Stay)), nil
}

// endFormer ends the session that the browser has had before, if it shows both halves of it.
func (b *Browser) endFormer(ctx context.Context, r *api.Request) error {
	cookies, proof := r.Halves(b.Sessions.CookieName())
	for _, cookie := range cookies {
		who, err := b.Sessions.CheckBrowser(ctx, auth.Halves{Cookie: cookie, Proof: proof}, r.Remote())
		if err == nil {
			return b.Sessions.End(ctx, who, false)
		}
	}
	return nil
}

// signedIn answers with both halves of a session that lasts so long in the browser; see cookie.
func (b *Browser) signedIn(r *api.Request, halves auth.Halves, user home.User, age time.Duration) *signInOut {
	out := &signInOut{Cookie: b.cookie(r, halves.Cookie, age)}
	out.Body.Proof, out.Body.User = halves.Proof, user
	return out
}

// cookie returns the header that sets the cookie of a session for so long, 0 for as long as the
// browser runs, or with "" removes it.
func (b *Browser) cookie(r *api.Request, value string, age time.Duration) string {
	c := http.Cookie{
		Name: b.Sessions.CookieName(), Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		MaxAge: int(age.Seconds()),
	}
	if value == "" {
		c.MaxAge = -1
	}
	itself, proxy := r.Secure()
	if c.Secure = itself || proxy; itself {
		c.Name = api.HostPrefix + c.Name
	}
	return c.String()
}

type sessionOut struct {
	Body struct {
		User          home.User `json:"user"`
		Administrator bool      `json:"administrator" doc:"Whether they may look after the appliance from where they are"`
		Unmanaged     bool      `json:"unmanaged" doc:"Whether nobody looks after the appliance yet"`
		SteppedUp     bool      `json:"stepped_up" doc:"Whether they have shown the password in the last ten minutes"`
	}
}

func (b *Browser) session(ctx context.Context, who auth.User, _ *struct{}) (*sessionOut, error) {
	out := &sessionOut{}
	err := b.DB.View(ctx, func(tx *store.Tx) (err error) {
		if out.Body.User, err = tx.User(who.ID); err != nil {
			return err
		}
		administrators, err := tx.Administrators()
		out.Body.Unmanaged = len(administrators) == 0
		out.Body.Administrator = slices.Contains(administrators, who.ID) && caller.MayAdminister(b.Admin, who)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err = b.Accounts.StepUp(ctx, who, ""); fault.KindOf(err) == fault.Forbidden {
		return out, nil
	}
	out.Body.SteppedUp = err == nil
	return out, err
}

type signOutOut struct {
	Cookie string `header:"Set-Cookie"`
}

func (b *Browser) signOut(ctx context.Context, who auth.User, _ *struct{}) (*signOutOut, error) {
	if err := b.Sessions.End(ctx, who, false); err != nil {
		return nil, err
	}
	return &signOutOut{b.cookie(api.RequestOf(ctx), "", 0)}, b.Household.Depart(ctx)
}

type sessionsOut struct {
	Body struct {
		Data []auth.SessionInfo `json:"data" nullable:"false" doc:"The newest first"`
	}
}

func (b *Browser) sessions(ctx context.Context, who auth.User, _ *struct{}) (*sessionsOut, error) {
	out := &sessionsOut{}
	var err error
	out.Body.Data, err = b.Sessions.Sessions(ctx, who)
	return out, err
}

type endSessionIn struct {
	ID string `path:"id" format:"uuid" doc:"Session id" example:"4184f2a1-c6ef-40f6-83c2-6e29e6bc1730"`
}

func (b *Browser) endSession(ctx context.Context, who auth.User, in *endSessionIn) (*struct{}, error) {
	if err := b.Sessions.EndOne(ctx, who, in.ID); err != nil {
		return nil, err
	}
	return nil, b.Household.Depart(ctx)
}

type stepUpIn struct {
	Body struct {
		Password string `json:"password" minLength:"1" maxLength:"512" doc:"The caller's" example:"correct horse battery"`
	}
}

// stepUp answers 204 when the password is right: for ten minutes the session counts as new.
func (b *Browser) stepUp(ctx context.Context, who auth.User, in *stepUpIn) (*struct{}, error) {
	return nil, b.Accounts.Renew(ctx, who, in.Body.Password)
}

type ticketOut struct {
	Body struct {
		Ticket string `json:"ticket" example:"8n6kA1oDgQ2mB5tZ0yWcXfRjUeHsLpVqTnKiGbMdOwE"`
	}
}

func (b *Browser) ticket(_ context.Context, who auth.User, _ *struct{}) (*ticketOut, error) {
	out := &ticketOut{}
	var err error
	out.Body.Ticket, err = b.Sessions.Ticket(who)
	return out, err
}
