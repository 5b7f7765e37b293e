package browser

import (
	"context"
	"time"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/home"
	"sensegate/store"
)

type joinCodeOut struct {
	Body struct {
		Code    string      `json:"code" doc:"To be typed in any case, with or without the dash" example:"7K2M-Q9XA"`
		Address string      `json:"address" doc:"Of the appliance, for a page that was opened at a name or address which other devices may not know" example:"http://192.168.1.20:8080"`
		EndsAt  motion.Time `json:"ends_at" doc:"Seconds since the epoch" example:"1764000900"`
	}
}

func (b *Browser) newJoinCode(ctx context.Context, who auth.Owner, _ *HomeQuery) (*joinCodeOut, error) {
	out := &joinCodeOut{}
	out.Body.Address = b.Address()
	var err error
	out.Body.Code, out.Body.EndsAt, err = b.Household.NewJoinCode(ctx, who.Home, who.ID)
	return out, err
}

func (b *Browser) endJoinCodes(_ context.Context, who auth.Owner, _ *HomeQuery) (*struct{}, error) {
	b.Household.EndJoinCodes(who.Home)
	return nil, nil
}

type joinIn struct {
	Body struct {
		Code string `json:"code" minLength:"1" maxLength:"64" doc:"From the owner of the home" example:"7K2M-Q9XA"`
	}
}

type joinOut struct {
	Body struct {
		Network home.ID `json:"network_id" doc:"App Cloud id of the home" example:"17"`
	}
}

func (b *Browser) join(ctx context.Context, who auth.User, in *joinIn) (_ *joinOut, err error) {
	judge, err := b.Accounts.TryCode(who.Address)
	if err != nil {
		return nil, err
	}
	joined, err := b.Household.JoinByCode(ctx, in.Body.Code, func(*store.Tx) (home.UserID, error) { return who.ID, nil })
	judge(err)
	out := &joinOut{}
	out.Body.Network = joined.Home
	return out, err
}

type joinAnewIn struct {
	Body struct {
		Code      string `json:"code" minLength:"1" maxLength:"64" doc:"From the owner of the home" example:"7K2M-Q9XA"`
		Email     string `json:"email" maxLength:"254" doc:"An address that has no account yet" example:"mum@example.com"`
		Password  string `json:"password" minLength:"6" maxLength:"512" doc:"At least 6 characters; none of the commonest, nor the address" example:"correct horse battery"`
		FirstName string `json:"first_name,omitempty" maxLength:"100" example:"Mum"`
		LastName  string `json:"last_name,omitempty" maxLength:"100" example:"Doe"`
		Stay      bool   `json:"stay,omitempty" doc:"Whether the session outlives the browser's window"`
	}
}

// joinAnew looks at the code first: without a right one nobody learns which addresses have an
// account, and no password is hashed.
func (b *Browser) joinAnew(ctx context.Context, who auth.Anyone, in *joinAnewIn) (*signInOut, error) {
	judge, err := b.Accounts.TryCode(who.Address)
	if err != nil {
		return nil, err
	}
	err = b.Household.CheckJoinCode(ctx, in.Body.Code)
	judge(err)
	if err != nil {
		return nil, err
	}
	r := api.RequestOf(ctx)
	halves, u, err := b.Accounts.RegisterInvited(ctx, auth.Registration{
		Email: in.Body.Email, Password: in.Body.Password, FirstName: in.Body.FirstName, LastName: in.Body.LastName, From: who.Address,
	}, r.Browser(), func(account func(*store.Tx) (home.UserID, error)) error {
		_, err := b.Household.JoinByCode(ctx, in.Body.Code, account)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := b.endFormer(ctx, r); err != nil {
		return nil, err
	}
	return b.signedIn(r, halves, u, lifeOf(in.Body.Stay)), nil
}

// lifeOf returns how long the cookie of a session lasts.
func lifeOf(stay bool) time.Duration {
	if stay {
		return auth.BrowserLife
	}
	return 0
}
