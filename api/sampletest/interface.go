// Package sampletest is a small interface with an operation of each kind, and requests to it, for
// the tests of api and its rooms.
package sampletest

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"

	"sensegate/api"
	"sensegate/api/live"
	"sensegate/motion/fault"
)

// Caller is the principal of the tests: whoever shows the token "secret-NAME".
type Caller struct{ Name string }

// Key is an operation for a [Caller].
func Key[In, Out any](fn func(context.Context, Caller, In) (Out, error)) api.Operation {
	return api.Guarded("core key", fn)
}

// CheckCaller authenticates a [Caller].
func CheckCaller(_ context.Context, r *api.Request) (Caller, error) {
	name, ok := strings.CutPrefix(r.Token(), "secret-")
	if !ok {
		return Caller{}, fault.New(fault.Unauthorized, "authorization: no valid key")
	}
	return Caller{name}, nil
}

// NamedCaller is a caller whose connections are counted.
type NamedCaller struct{ Name string }

// Caller returns the name.
func (c NamedCaller) Caller() string { return c.Name }

// Stranger is the principal of operations that ask for no credentials.
type Stranger struct{}

// WithoutCredentials makes a [Stranger] of any caller.
func WithoutCredentials() api.Principal {
	return api.Authenticate("", "", func(context.Context, *api.Request) (Stranger, error) { return Stranger{}, nil })
}

// Anyone is an operation for a [Stranger].
func Anyone[In, Out any](fn func(context.Context, Stranger, In) (Out, error)) api.Operation {
	return api.Guarded("anyone", fn)
}

type echoOut struct {
	Body struct {
		Route string `json:"route"`
		Value string `json:"value"`
	}
}

// IDIn is the input of a row with an id.
type IDIn struct {
	ID int32 `path:"id" minimum:"1"`
}

type textIn struct {
	Query string `path:"query"`
}

type uuidIn struct {
	UUID string `path:"uuid"`
}

type providerIn struct {
	ID       int32  `path:"id"`
	Provider string `path:"provider"`
}

// NoIn is the input of a row that takes none.
type NoIn struct{}

// Echo answers which row was met.
func Echo[In any](route string) api.Operation {
	return Anyone(func(_ context.Context, _ Stranger, in *In) (*echoOut, error) {
		out := &echoOut{}
		out.Body.Route = route
		if t, ok := any(in).(*textIn); ok {
			out.Body.Value = t.Query
		}
		return out, nil
	})
}

type device struct {
	Name string  `json:"name" minLength:"1" maxLength:"20"`
	Rank int32   `json:"rank,omitempty" maximum:"9"`
	On   bool    `json:"on,omitempty"`
	Gain float64 `json:"gain,omitempty"`
}

type devicesIn struct {
	Network uint32           `path:"id"`
	From    api.Opt[float64] `query:"from"`
	Last    int32            `query:"last" minimum:"1" maximum:"1000" default:"10"`
	Body    []device
}

type deviceIn struct{ Body device }

type deviceOut struct{ Body device }

type failIn struct {
	Kind string `query:"kind"`
}

// failures are what the handler of /fail returns.
var failures = map[string]error{
	"malformed": fault.New(fault.Malformed, "m"), "unauthorized": fault.New(fault.Unauthorized, "m"),
	"forbidden": fault.New(fault.Forbidden, "m"), "notfound": fault.New(fault.NotFound, "m"),
	"conflict": fault.New(fault.Conflict, "m"), "toolarge": fault.New(fault.TooLarge, "m"),
	"unsupported": fault.New(fault.Unsupported, "m"), "invalid": fault.New(fault.Invalid, "m"),
	"throttled": fault.New(fault.Throttled, "m"), "unavailable": fault.New(fault.Unavailable, "m"),
	"internal": errors.New("disk /dev/secret broke"), "deadline": context.DeadlineExceeded,
}

func routes(stream api.Operation) []api.Route {
	return slices.Concat(
		api.Group("Network",
			api.Get("/network/{id}/meta", Echo[IDIn]("meta"), "Meta"),
			api.Get("/network/find/id/{id}", Echo[IDIn]("find-id"), "Find by id"),
			api.Get("/network/find/meta/{query}", Echo[textIn]("find-meta"), "Find by meta"),
			api.Post("/network/{id}/motion/{provider}", Echo[providerIn]("provider"), "Start a provider"),
			api.Post("/network/{id}/motion/refresh", Echo[IDIn]("refresh"), "Refresh"),
			api.Get("/alert/{uuid}", Echo[uuidIn]("alert"), "One alert"),
			api.Get("/alert/status", Echo[NoIn]("status"), "Status"),
			api.Delete("/alert/{uuid}", Key(func(context.Context, Caller, *uuidIn) (*struct{}, error) { return nil, nil }), "Delete an alert"),
		),
		api.Group("Devices",
			api.Patch("/network/{id}/devices", Key(func(_ context.Context, _ Caller, in *devicesIn) (*deviceOut, error) {
				return &deviceOut{Body: device{Name: "ok", Rank: in.Last, Gain: in.From.Or(-1)}}, nil
			}), "Change devices"),
			api.Put("/device", Anyone(func(_ context.Context, _ Stranger, in *deviceIn) (*deviceOut, error) {
				return &deviceOut{Body: in.Body}, nil
			}), "Replace a device"),
			api.Get("/whoami", Key(func(_ context.Context, who Caller, _ *NoIn) (*echoOut, error) {
				out := &echoOut{}
				out.Body.Value = who.Name
				return out, nil
			}), "Who calls"),
		),
		api.Group("Trouble",
			api.Get("/fail", Anyone(func(_ context.Context, _ Stranger, in *failIn) (*NoIn, error) { return nil, failures[in.Kind] }), "Fail"),
			api.Get("/panic", Anyone(func(context.Context, Stranger, *NoIn) (*NoIn, error) { panic("secret-panic") }), "Panic"),
			api.Get("/nan", Anyone(func(context.Context, Stranger, *NoIn) (*deviceOut, error) {
				return &deviceOut{Body: device{Gain: math.NaN()}}, nil
			}), "What JSON cannot say"),
			api.Get("/encoded", Anyone(func(context.Context, Stranger, *NoIn) (*struct{ Body api.Encoded[[]device] }, error) {
				return &struct{ Body api.Encoded[[]device] }{Body: api.Encoded[[]device](`[{"name":"` + strings.Repeat("x", 3000) + `"}]`)}, nil
			}), "Ready JSON"),
			api.Live("/network/{id}/live", stream, "Live data"),
		),
	)
}

// NoLive is a live operation for tests that open none.
func NoLive() api.Operation {
	return Key(func(context.Context, Caller, *IDIn) (*live.Stream, error) {
		return nil, fault.New(fault.NotFound, "no such network")
	})
}

// Interface is the sample, with a live operation.
func Interface(stream api.Operation) api.Interface {
	return api.Interface{
		Base: "/core", Title: "Test", Version: "1", Routes: routes(stream), Forms: true, DataWrapper: true,
		Principals: []api.Principal{api.Authenticate("key", "API key", CheckCaller), WithoutCredentials()},
	}
}
