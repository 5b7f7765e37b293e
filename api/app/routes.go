package app

import (
	"slices"

	"sensegate/api"
)

// routes is the interface, in the order of the interface document.
func (a *App) routes() []api.Route {
	return slices.Concat(
		api.Group("Overview",
			api.Get("/version", anyone(a.version), "App Cloud version"),
		),
	)
}
