package app

import (
	"context"

	"sensegate/api/auth"
)

func (a *App) identities(ctx context.Context, u auth.User, in *UserPath) (*list[auth.LinkedIdentity], error) {
	if err := in.own(u); err != nil {
		return nil, err
	}
	return listed(a.Providers.Linked(ctx, u.ID))
}

type linkIn struct {
	UserPath
	Body struct {
		Provider    string `json:"provider" maxLength:"32" doc:"Name of a configured identity provider" example:"idp_a"`
		AccessToken string `json:"access_token" maxLength:"16384" doc:"The provider's JWT about the person, made for this app" example:"eyJhbGciOiJSUzI1NiJ9.e30.c2lnbmF0dXJl"`
		Current     string `json:"current_password,omitempty" maxLength:"512" doc:"The caller's password: needed when the log-in is more than ten minutes ago" example:"correct horse battery"`
	}
}

func (a *App) linkIdentity(ctx context.Context, u auth.User, in *linkIn) (*list[auth.LinkedIdentity], error) {
	if err := in.own(u); err != nil {
		return nil, err
	}
	if err := a.Accounts.StepUp(ctx, u, in.Body.Current); err != nil {
		return nil, err
	}
	return listed(a.Providers.Link(ctx, u, in.Body.Provider, in.Body.AccessToken))
}

type unlinkIn struct {
	UserPath
	StepUpBody
	Identity string `path:"identity_id" maxLength:"64" doc:"Which one, of GET /users/{id}/identities" example:"7d1f0c6a4b9e2d835f60c1a7b8e94d20"`
}

func (a *App) unlinkIdentity(ctx context.Context, u auth.User, in *unlinkIn) (*struct{}, error) {
	if err := in.own(u); err != nil {
		return nil, err
	}
	if err := a.Accounts.StepUp(ctx, u, in.current()); err != nil {
		return nil, err
	}
	if err := a.Providers.Unlink(ctx, u, in.Identity); err != nil {
		return nil, err
	}
	return nil, a.Household.Depart(ctx)
}
