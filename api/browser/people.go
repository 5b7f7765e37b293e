package browser

import (
	"cmp"
	"context"
	"time"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/household"
	"sensegate/store"
)

type joinCodeOut struct {
	Body struct {
		Code    string      `json:"code" doc:"To be typed in any case, with or without the dash" example:"7K2M-Q9XA"`
		Address string      `json:"address" doc:"Of the appliance, for a page that was opened at a name or address which other devices may not know" example:"http://192.168.1.20:8080"`
		EndsAt  motion.Time `json:"ends_at" doc:"Seconds since the epoch" example:"1764000900"`
	}
}

type joinCodeIn struct {
	HomeQuery
	Body *struct {
		HomeField
		Role household.JoinRole `json:"role,omitempty" enum:"member,owner,installer" default:"member" doc:"What whoever has the code becomes; owner: in the caller's place, who leaves"`
		Days *int               `json:"days,omitempty" minimum:"0" maximum:"30" doc:"installer: how long they stay, at least 1 (default 7); owner: how long the caller stays as installer (default 0: not at all)" example:"7"`
	}
}

// Mistakes returns what no schema can tell.
func (in *joinCodeIn) Mistakes() []fault.Detail {
	var mistakes fault.Details
	if in.Body != nil && in.Body.Days != nil {
		switch days := *in.Body.Days; {
		case in.Body.Role == household.JoinInstaller && days == 0:
			mistakes.Add("body.days", days, "want 1 to %d", home.MaxInstallerDays)
		case in.Body.Role != household.JoinInstaller && in.Body.Role != household.JoinOwner:
			mistakes.Add("body.days", days, "a member stays without an end: leave it out")
		}
	}
	return mistakes
}

// installerDays is how long an installer stays when the owner does not say.
const installerDays = 7

// admission returns what the code is for.
func (in *joinCodeIn) admission() household.Admission {
	a := household.Admission{Role: household.JoinMember}
	if in.Body == nil {
		return a
	}
	if a.Role = cmp.Or(in.Body.Role, a.Role); a.Role == household.JoinInstaller {
		a.Days = installerDays
	}
	if in.Body.Days != nil {
		a.Days = *in.Body.Days
	}
	return a
}

// newJoinCode wants a recent proof of who calls for what gives the home away, or lets somebody
// in who does not belong to it.
func (b *Browser) newJoinCode(ctx context.Context, who auth.Owner, in *joinCodeIn) (*joinCodeOut, error) {
	admission := in.admission()
	if admission.Role != household.JoinMember {
		if err := b.Accounts.StepUp(ctx, who.User, ""); err != nil {
			return nil, err
		}
	}
	out := &joinCodeOut{}
	out.Body.Address = b.Address()
	var err error
	out.Body.Code, out.Body.EndsAt, err = b.Household.NewJoinCode(ctx, who.Home, who.ID, admission)
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
		Network home.ID            `json:"network_id" doc:"App Cloud id of the home" example:"17"`
		Role    household.JoinRole `json:"role" enum:"member,owner,installer" doc:"What the caller is there now"`
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
	out.Body.Network, out.Body.Role = joined.Home, joined.Role
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
