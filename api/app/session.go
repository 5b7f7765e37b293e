package app

import (
	"context"

	"sensegate/api"
	"sensegate/api/auth"
)

// MultiQuery is the flag of the operations that begin a session (payloads.md 5.1).
type MultiQuery struct {
	Multi bool `query:"multi" doc:"true: the user's other sessions go on; false: they end" example:"false"`
}

type loginIn struct {
	MultiQuery
	Body struct {
		Email     string `json:"email" maxLength:"254" doc:"Of the account, in any case" example:"jdoe@example.com"`
		Password  string `json:"password" maxLength:"512" doc:"Of the account" example:"correct horse battery"`
		FirstName string `json:"first_name,omitempty" maxLength:"100" doc:"Fills an empty first name of the account" example:"J"`
		LastName  string `json:"last_name,omitempty" maxLength:"100" doc:"Fills an empty last name of the account" example:"Doe"`
	}
}

func (a *App) login(ctx context.Context, who auth.Anyone, in *loginIn) (*api.Answer[auth.Tokens], error) {
	return api.Answered(a.Accounts.Login(ctx, auth.Credentials{
		Email: in.Body.Email, Password: in.Body.Password, FirstName: in.Body.FirstName, LastName: in.Body.LastName,
		Multi: in.Multi, From: who.Address,
	}))
}

type refreshIn struct {
	MultiQuery
	Body struct {
		Token string `json:"token" maxLength:"4096" doc:"The refresh token of the newest answer" example:"eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmF0dXJl"`
	}
}

func (a *App) refresh(ctx context.Context, _ auth.Anyone, in *refreshIn) (*api.Answer[auth.Tokens], error) {
	return api.Answered(a.Sessions.Refresh(ctx, in.Body.Token, in.Multi))
}

// ssoName is what an app knows of a person from the provider's first answer.
type ssoName struct {
	FirstName string `json:"firstName,omitempty" maxLength:"100" doc:"Fills an empty first name" example:"J"`
	LastName  string `json:"lastName,omitempty" maxLength:"100" doc:"Fills an empty last name" example:"Doe"`
}

type ssoIn struct {
	MultiQuery
	Provider string `path:"provider" maxLength:"32" doc:"Name of a configured identity provider" example:"idp_a"`
	Body     struct {
		AccessToken string `json:"access_token" maxLength:"16384" doc:"The provider's JWT about the person, made for this app" example:"eyJhbGciOiJSUzI1NiJ9.e30.c2lnbmF0dXJl"`
		User        *struct {
			Name  *ssoName `json:"name,omitempty" doc:"Fills empty names of the account, after those of the token"`
			Email string   `json:"email,omitempty" maxLength:"254" doc:"Ignored: the address is the token's, which nobody can make up" example:"jdoe@example.com"`
		} `json:"user,omitempty" doc:"What the app knows of the person"`
	}
}

func (a *App) loginSSO(ctx context.Context, who auth.Anyone, in *ssoIn) (*api.Answer[auth.Tokens], error) {
	c := auth.Credentials{Multi: in.Multi, From: who.Address}
	if u := in.Body.User; u != nil && u.Name != nil {
		c.FirstName, c.LastName = u.Name.FirstName, u.Name.LastName
	}
	return api.Answered(a.Providers.Login(ctx, in.Provider, in.Body.AccessToken, c))
}

type logoutIn struct {
	All bool `query:"all" doc:"true: end every session of the user; no token issued before is valid then" example:"false"`
}

func (a *App) logout(ctx context.Context, u auth.User, in *logoutIn) (*struct{}, error) {
	if err := a.Sessions.End(ctx, u, in.All); err != nil {
		return nil, err
	}
	return nil, a.Household.Depart(ctx)
}
