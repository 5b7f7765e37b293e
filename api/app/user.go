package app

import (
	"context"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/household"
)

// UserPath names a user. Everybody else than the caller is not known to them.
type UserPath struct {
	ID home.UserID `path:"id" minimum:"1" doc:"The caller's user id" example:"9"`
}

func (p UserPath) own(u auth.User) error {
	if p.ID != u.ID {
		return fault.New(fault.NotFound, "user %d: not found", p.ID)
	}
	return nil
}

func (a *App) userRecord(ctx context.Context, u auth.User, in *UserPath) (*api.Answer[home.User], error) {
	if err := in.own(u); err != nil {
		return nil, err
	}
	return api.Answered(a.Accounts.User(ctx, u.ID))
}

type registerIn struct {
	Body struct {
		Email     string `json:"email" maxLength:"254" doc:"An address that has no account yet" example:"jdoe@example.com"`
		Password  string `json:"password" minLength:"6" maxLength:"512" doc:"At least 6 characters; none of the commonest, nor the address" example:"correct horse battery"`
		FirstName string `json:"first_name,omitempty" maxLength:"100" example:"J"`
		LastName  string `json:"last_name,omitempty" maxLength:"100" example:"Doe"`
		SetupCode string `json:"setup_code,omitempty" maxLength:"64" doc:"Of the appliance: confirms the account at once" example:"7K2M-Q9XA-04TZ"`
	}
}

func (a *App) register(ctx context.Context, who auth.Anyone, in *registerIn) (*api.Answer[home.User], error) {
	return api.Answered(a.Accounts.Register(ctx, auth.Registration{
		Email: in.Body.Email, Password: in.Body.Password, FirstName: in.Body.FirstName, LastName: in.Body.LastName,
		SetupCode: in.Body.SetupCode, From: who.Address,
	}))
}

type changeUserIn struct {
	UserPath
	Body struct {
		Email     *string              `json:"email,omitempty" maxLength:"254" doc:"A new address; taken over when the link that is mailed to it is opened" example:"jdoe@example.com"`
		Password  *string              `json:"password,omitempty" minLength:"6" maxLength:"512" doc:"A new password, at least 6 characters, none of the commonest, nor the address; ends every session of the user" example:"correct horse battery"`
		Current   string               `json:"current_password,omitempty" maxLength:"512" doc:"The present password: needed for another address or password when the log-in is more than ten minutes ago" example:"battery staple"`
		FirstName api.Nullable[string] `json:"first_name,omitempty" maxLength:"100" doc:"null: none" example:"J"`
		LastName  api.Nullable[string] `json:"last_name,omitempty" maxLength:"100" doc:"null: none" example:"Doe"`
	}
}

func (a *App) changeUser(ctx context.Context, u auth.User, in *changeUserIn) (*api.Answer[home.User], error) {
	if err := in.own(u); err != nil {
		return nil, err
	}
	record, err := a.Accounts.Change(ctx, u, auth.Changes{
		Email: in.Body.Email, Password: in.Body.Password, Current: in.Body.Current, FirstName: orEmpty(in.Body.FirstName), LastName: orEmpty(in.Body.LastName),
	})
	if err == nil {
		err = a.Household.Depart(ctx)
	}
	return api.Answered(record, err)
}

// orEmpty returns the new value of a field whose null is the empty string; nil: it stays.
func orEmpty(field api.Nullable[string]) *string {
	if !field.Set {
		return nil
	}
	return &field.Value
}

type deleteUserIn struct {
	UserPath
	StepUpBody
	Networks  bool                 `query:"delete_claimed_network" doc:"true: the networks that the user owns are disowned too; false: a member owns them from then on" example:"false"`
	Successor api.Opt[home.UserID] `query:"successor" minimum:"1" doc:"User id of the member who is to own the networks; default: the one who joined first" example:"10"`
}

func (a *App) deleteUser(ctx context.Context, u auth.User, in *deleteUserIn) (*struct{}, error) {
	if err := in.own(u); err != nil {
		return nil, err
	}
	if err := a.Accounts.StepUp(ctx, u, in.current()); err != nil {
		return nil, err
	}
	return nil, a.Household.DeleteUser(ctx, u.ID, household.Leaving{Disown: in.Networks, Successor: in.Successor.Value})
}
