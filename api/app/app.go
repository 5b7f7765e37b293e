package app

import (
	"context"
	"embed"
	"io/fs"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion/engine"
	"sensegate/motion/household"
	"sensegate/motion/integration"
	"sensegate/store"
)

// Parts are what the interface stands on.
type Parts struct {
	DB        *store.DB
	Engine    *engine.Engine
	Sessions  *auth.Sessions
	Accounts  *auth.Accounts
	Providers *auth.Providers

	Household *household.Household
	Sensors   *integration.Service

	// LoadTestToken is the push token that any number of users register; "": there is none.
	LoadTestToken string

	// Ready says why the appliance cannot do its work, nil when it can.
	Ready func() error
}

// App serves the App Cloud interface.
type App struct{ Parts }

// New returns the interface over its parts.
func New(p Parts) *App { return &App{p} }

// description heads the interface's document.
const description = `The household's own interface: accounts, membership, scenes, history, insights, sensors.

**Units.** Times of records are RFC 3339 UTC with milliseconds; times of events and history points are seconds since the Unix
epoch. History points are ` + "`[value, ts]`" + `, value first. Densities are percent 0 to 100, intensities 0 to 1; ` + "`null`" + ` is "no data".

**Tokens.** ` + "`Authorization: Bearer <token>`" + ` or the bare token of POST /sessions; on a websocket also ` + "`?token=`" + `.

**Network of a call.** ` + "`network_id`" + `, in the query or the body, is the App Cloud id. Without it the caller's only network is meant.
Unknown and foreign ids answer the same 404.

**Bodies** are JSON; flat ones also ` + "`application/x-www-form-urlencoded`" + `, or inside a top-level ` + "`data`" + `.

**Limits.** 50 requests a second of one token, after a burst of 100, and as many without a valid one of one address (IPv6: one /64): then 429 with
` + "`Retry-After`" + `. Of a user's requests those other than GET also count for a burst of 200, then one in two seconds. A body has at most 1 MiB,
16 KiB where no token is asked for, and 32,768 values: else 413. A refusal tells at most 20 mistakes. A network has 64 live
connections, of which one user holds at most 16: then 429 with ` + "`too_many_connections`" + ` or ` + "`too_many_own_connections`" + `.

**Web pages** of another origin (scheme, host and port) may neither write without the header Authorization nor open a websocket:
403 with ` + "`origin`" + `, unless the appliance lists it in ` + "`http.origins`" + `.`

// texts holds the descriptions and examples of the rows.
//
//go:embed text/*.md
var texts embed.FS

// Interface returns the interface with its route table.
func (a *App) Interface() api.Interface {
	written, err := fs.Sub(texts, "text")
	if err != nil {
		panic(err) // the name is a valid one
	}
	const scheme, note = "session", "Session token in the header Authorization, with or without the word Bearer"
	return api.Interface{
		Base: "/api/v1", Title: "App Cloud", Version: "1-5-0", Description: description,
		Routes: a.routes(), Texts: written, Forms: true, DataWrapper: true, Paced: true,
		Principals: a.callers().Principals(scheme, note),
	}
}

// The kinds of operations, by who may call them.

func anyone[In, Out any](fn func(context.Context, auth.Anyone, In) (Out, error)) api.Operation {
	return api.Guarded("anyone", fn)
}

func user[In, Out any](fn func(context.Context, auth.User, In) (Out, error)) api.Operation {
	return api.Guarded("user", fn)
}

func member[In, Out any](fn func(context.Context, auth.Member, In) (Out, error)) api.Operation {
	return api.Guarded("member", fn)
}

func owner[In, Out any](fn func(context.Context, auth.Owner, In) (Out, error)) api.Operation {
	return api.Guarded("owner", fn)
}
