package app

import (
	"context"

	"sensegate/api/auth"
	"sensegate/motion/fault"
)

type versionOut struct {
	Body struct {
		Version string `json:"version" example:"v1-5-0"`
		Product string `json:"product" example:"app-cloud" doc:"Tells it from the legacy home product"`
	}
}

func (a *App) version(context.Context, auth.Anyone, *struct{}) (*versionOut, error) {
	var out versionOut
	out.Body.Version, out.Body.Product = "v1-5-0", "app-cloud"
	return &out, nil
}

type healthOut struct {
	Body struct {
		Status string `json:"status" enum:"ok"`
	}
}

// health is 503 while the store or the broker does not work; why is for the log alone.
func (a *App) health(context.Context, auth.Anyone, *struct{}) (*healthOut, error) {
	if a.Ready() != nil {
		return nil, fault.New(fault.Unavailable, "not ready")
	}
	var out healthOut
	out.Body.Status = "ok"
	return &out, nil
}
