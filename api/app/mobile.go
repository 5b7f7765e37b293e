package app

import (
	"context"
	"strings"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

type registerMobileIn struct {
	Body struct {
		Token      string  `json:"token" minLength:"1" maxLength:"4096" doc:"Instance token of the push service" example:"dGhpcyBpcyBhIHRva2Vu:APA91b"`
		Platform   *string `json:"platform,omitempty" maxLength:"100" doc:"Such as ios or android" example:"ios"`
		Name       *string `json:"name,omitempty" maxLength:"100" doc:"Of the device, for people" example:"J's phone"`
		AppVersion *string `json:"app_version,omitempty" maxLength:"100" example:"1.0" doc:"Of the app"`
	}
}

func (a *App) registerMobile(ctx context.Context, u auth.User, in *registerMobileIn) (*api.Answer[home.MobileDevice], error) {
	var out api.Answer[home.MobileDevice]
	token := strings.TrimSpace(in.Body.Token)
	if token == "" {
		return nil, fault.New(fault.Invalid, "token: want the instance token of the push service")
	}
	err := a.DB.Update(ctx, func(tx *store.Tx) (err error) {
		out.Body, err = tx.RegisterMobile(store.MobileRegistration{
			User: u.ID, Session: u.Session, Token: token, Shared: token == a.LoadTestToken,
			Platform: in.Body.Platform, Name: in.Body.Name, AppVersion: in.Body.AppVersion,
		})
		return err
	})
	return &out, err
}

func (a *App) mobiles(ctx context.Context, u auth.User, _ *struct{}) (*list[home.MobileDevice], error) {
	registered, err := store.Read(ctx, a.DB, func(tx *store.Tx) ([]store.MobileDevice, error) { return tx.MobilesOfUser(u.ID) })
	own := make([]home.MobileDevice, len(registered))
	for i, d := range registered {
		own[i] = d.MobileDevice
	}
	return listed(own, err)
}

type mobileIn struct {
	ID home.MobileID `path:"id" doc:"Id of the mobile device" example:"12"`
}

func (a *App) deleteMobile(ctx context.Context, u auth.User, in *mobileIn) (*struct{}, error) {
	return nil, a.Household.RemoveMobile(ctx, u.ID, in.ID)
}
