package app

import (
	"context"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion/home"
)

// EmailBody names an account by its address.
type EmailBody struct {
	Body struct {
		Email string `json:"email" maxLength:"254" doc:"Of the account, in any case" example:"jdoe@example.com"`
	}
}

func (a *App) sendConfirmation(ctx context.Context, who auth.Anyone, in *EmailBody) (*struct{}, error) {
	return nil, a.Accounts.SendConfirmation(ctx, in.Body.Email, who.Address)
}

type confirmIn struct {
	Token string `query:"token" required:"true" maxLength:"4096" doc:"Of the link in the confirmation mail" example:"eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmF0dXJl"`
}

type confirmProvenIn struct {
	Body struct {
		Token    string `json:"token" maxLength:"4096" doc:"Of the link in the confirmation mail" example:"eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmF0dXJl"`
		Password string `json:"password,omitempty" maxLength:"512" doc:"Of the account; an account that is known to an identity provider only has none" example:"correct horse battery"`
	}
}

func (a *App) confirmProven(ctx context.Context, who auth.Anyone, in *confirmProvenIn) (*api.Answer[home.User], error) {
	return api.Answered(a.Accounts.ConfirmWithPassword(ctx, in.Body.Token, in.Body.Password, who.Address))
}

func (a *App) confirm(ctx context.Context, who auth.Anyone, in *confirmIn) (*api.Answer[home.User], error) {
	return api.Answered(a.Accounts.Confirm(ctx, in.Token, who.Address))
}
