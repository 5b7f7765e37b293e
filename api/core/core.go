package core

import (
	"context"
	"embed"
	"io/fs"
	"net/http"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/engine"
	"sensegate/motion/fault"
	"sensegate/store"
)

// Core serves the Core interface.
type Core struct {
	engine *engine.Engine
	db     *store.DB
	keys   *auth.Keys
}

// New returns the Core interface over an engine and its database.
func New(e *engine.Engine, db *store.DB, keys *auth.Keys) *Core {
	return &Core{engine: e, db: db, keys: keys}
}

// description heads the interface's document.
const description = `Motion-sensing networks: topology, events, live and stored motion, nodes.
It refers to no user; an API key opens all networks, or the one it is bound to.

**Units.** Times are seconds since the Unix epoch, UTC, with decimals. History points are ` + "`[value, ts]`" + `, value first.
Intensities and confidences are 0 to 1, densities percent 0 to 100. ` + "`null`" + ` is "no data", never 0; a time of 0 is "never". Switches are 0 or 1.

**Keys.** ` + "`Authorization: Bearer <key>`" + ` or the bare key; on a websocket also ` + "`?token=`" + `.
Scope ` + "`core:read`" + ` opens GET and websockets, ` + "`core:write`" + ` everything else. Unknown and foreign ids answer the same 404.

**Live motion** (` + "`/network/{network_id}/motion/live`" + `), one frame each 500 ms; values by the position of the link in ` + "`links`" + `:
` + "```json" + `
{"ts": 1764000000.5, "interval": 500, "count": 1, "links": ["GWA1000133.02bb00000031"],
 "data": {"mkai": [0.35], "lraw": [0.35], "throughput": [0.98], "mconf": [84.85], "msad": [132.7]},
 "loc": ["02:bb:00:00:00:31", 0.82], "loc_name": "Kitchen", "last_motion": 1764000000.5, "motion_tripped": 1, "motion_enabled": 1}
` + "```" + `
` + "`interval`" + ` is ms; without motion ` + "`loc`" + ` is ` + "`[\"nomotion\"]`" + `.
**Live events** (` + "`/network/{network_id}/events/live`" + `): one event record each, as events/history returns it.
A reader that falls behind is closed with 1013 and catches up from the history.

**Limits.** 50 requests a second of one key, after a burst of 100, and as many without a valid one of one address (IPv6: one /64): then 429 with
` + "`Retry-After`" + `. A body has at most 1 MiB and 32,768 values: else 413. A refusal tells at most 20 mistakes. A network has 64 live
connections, of which one key holds at most 16: then 429 with ` + "`too_many_connections`" + ` or ` + "`too_many_own_connections`" + `.

**Web pages** of another origin (scheme, host and port) may neither write without the header Authorization nor open a websocket:
403 with ` + "`origin`" + `, unless the appliance lists it in ` + "`http.origins`" + `.`

// texts holds the descriptions and examples of the rows.
//
//go:embed text/*.md
var texts embed.FS

// Interface returns the interface with its route table.
func (c *Core) Interface() api.Interface {
	written, err := fs.Sub(texts, "text")
	if err != nil {
		panic(err) // the name is a valid one
	}
	return api.Interface{
		Base: "/core", Title: "Core", Version: "1", Description: description,
		Routes: c.routes(), Texts: written,
		Principals: []api.Principal{
			api.Authenticate("key", "Core API key in the header Authorization, with or without the word Bearer", c.authenticate),
		},
	}
}

// key makes an operation for whoever shows an API key.
func key[In, Out any](fn func(context.Context, auth.Key, In) (Out, error)) api.Operation {
	return api.Guarded("core key", fn)
}

// keyTo makes an operation for whoever shows an API key that opens the network of the input;
// to others the network is unknown.
func keyTo[In interface{ network() motion.NetworkID }, Out any](fn func(context.Context, auth.Key, In) (Out, error)) api.Operation {
	return key(func(ctx context.Context, who auth.Key, in In) (out Out, err error) {
		if err := who.Open(in.network()); err != nil {
			return out, err
		}
		return fn(ctx, who, in)
	})
}

// authenticate returns the API key of a request: GET and websockets read,
// everything else writes. A key that is bound to another network than the one in
// the path gets the 404 of an unknown network here, before its input is looked
// at; operations that name a network in another way ask the key themselves.
func (c *Core) authenticate(ctx context.Context, r *api.Request) (auth.Key, error) {
	scope := auth.ScopeWrite
	if r.Method() == http.MethodGet || r.Method() == http.MethodHead {
		scope = auth.ScopeRead
	}
	who, err := c.keys.Check(ctx, r.Token(), scope)
	if err != nil {
		return auth.Key{}, err
	}
	id, malformed := motion.ParseNetworkID(r.Path("network_id"))
	if malformed != nil { // or none in the path; the validation of the input says so
		return who, nil
	}
	return who, who.Open(id)
}

// MetricsGuard admits to the metrics, which tell of all networks: an API key that
// reads and is not bound to one.
func MetricsGuard(keys *auth.Keys) func(context.Context, *api.Request) error {
	return func(ctx context.Context, r *api.Request) error {
		who, err := keys.Check(ctx, r.Token(), auth.ScopeRead)
		if err != nil {
			return err
		}
		if who.Network != 0 {
			return fault.New(fault.Forbidden, "API key: metrics tell of all networks, and this key is bound to one")
		}
		return nil
	}
}
