package app

import (
	"context"

	"sensegate/api/auth"
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
