package app

import (
	"context"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion/home"
)

type resetOut struct{ Body struct{} }

func (a *App) sendReset(ctx context.Context, who auth.Anyone, in *EmailBody) (*resetOut, error) {
	return &resetOut{}, a.Accounts.SendReset(ctx, in.Body.Email, who.Address)
}

type resetIn struct {
	Body struct {
		Token    string `json:"token" maxLength:"4096" doc:"Of the reset mail" example:"eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmF0dXJl"`
		Password string `json:"password" minLength:"6" maxLength:"512" doc:"The new password, at least 6 characters; none of the commonest, nor the address" example:"correct horse battery"`
	}
}

func (a *App) resetPassword(ctx context.Context, who auth.Anyone, in *resetIn) (*api.Answer[home.User], error) {
	record, err := a.Accounts.Reset(ctx, in.Body.Token, in.Body.Password, who.Address)
	if err == nil {
		err = a.Household.Depart(ctx)
	}
	return api.Answered(record, err)
}
