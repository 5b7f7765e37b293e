package app

import (
	"context"
	"strings"

	"sensegate/api/auth"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

type registerMobileIn struct {
	Body struct {
		Token      string `json:"token" minLength:"1" maxLength:"4096" doc:"Instance token of the push service" example:"dGhpcyBpcyBhIHRva2Vu:APA91b"`
		Platform   string `json:"platform,omitempty" maxLength:"100" doc:"Such as ios or android" example:"ios"`
		Name       string `json:"name,omitempty" maxLength:"100" doc:"Of the device, for people" example:"J's phone"`
		AppVersion string `json:"app_version,omitempty" maxLength:"100" example:"1.0" doc:"Of the app"`
	}
}

type mobileOut struct{ Body home.MobileDevice }

func (a *App) registerMobile(ctx context.Context, u auth.User, in *registerMobileIn) (*mobileOut, error) {
	var out mobileOut
	device := home.MobileDevice{
		UserID: u.ID, Token: strings.TrimSpace(in.Body.Token), Platform: in.Body.Platform, Name: in.Body.Name, AppVersion: in.Body.AppVersion,
	}
	if device.Token == "" {
		return nil, fault.New(fault.Invalid, "token: want the instance token of the push service")
	}
	err := a.DB.Update(ctx, func(tx *store.Tx) (err error) {
		out.Body, err = tx.RegisterMobile(device, device.Token == a.LoadTestToken)
		return err
	})
	return &out, err
}

type mobileIn struct {
	ID home.MobileID `path:"id" doc:"Id of the mobile device" example:"12"`
}

func (a *App) deleteMobile(ctx context.Context, u auth.User, in *mobileIn) (*struct{}, error) {
	return nil, a.DB.Update(ctx, func(tx *store.Tx) error {
		d, ok, err := tx.FindMobile(in.ID)
		if err != nil {
			return err
		}
		if !ok || d.UserID != u.ID {
			return fault.New(fault.NotFound, "mobile device %d is not known", in.ID)
		}
		return tx.DeleteMobile(in.ID)
	})
}
