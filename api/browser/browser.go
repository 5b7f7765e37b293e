// Package browser serves what the web app alone calls, below /web/v1: sessions of a browser,
// tickets for websockets, and answers in the shape of a screen. Everything else the web app
// does by the App interface.
//
// It knows HTTP cookies and what a screen shows. It must not hold a rule of the product.
package browser

import (
	"context"
	"embed"
	"io/fs"
	"net/http"
	"slices"
	"sync"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/api/box"
	"sensegate/api/caller"
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
	Household *household.Household
	Sensors   *integration.Service
	Box       *box.Box

	Admin string // from where administrators may look after the appliance, such as caller.AdminPrivate

	Version string // of the program
	Guest   *Guest // signs in with a code, as the demo's link does
	Play    *Play  // the demo, nil where there is none

	// Address returns the address of the appliance for other devices: http://192.168.1.20:8080.
	Address func() string
	// Broker returns the address of the appliance's broker for other devices:
	// mqtt://192.168.1.20:1883; "" when it listens nowhere.
	Broker func() string
}

// Browser serves the interface of the web app.
type Browser struct {
	Parts
	exporting sync.Map // home.UserID: whose export is being written
}

// New returns the interface over its parts.
func New(p Parts) *Browser { return &Browser{Parts: p} }

// description heads the interface's document.
const description = `What the appliance's own web app calls. It may change with each version: programs use App Cloud or Core.

**Sessions have two halves.** POST /session sets a cookie that scripts cannot read, and returns a ` + "`proof`" + ` that the page keeps. Each request
shows both: the cookie, and the proof in the header ` + "`X-Sensegate`" + `. Either alone opens nothing: browsers send a cookie to every port of a
host. A session ends 30 days after its last use and 90 days after it began. App Cloud takes the pair in place of a token.

**Websockets** take a ticket in place of both: POST /live-tickets returns one, for one connection within 30 s. The page offers the
subprotocols ` + "`sensegate.v1`" + ` and ` + "`ticket.<ticket>`" + `.

**Times** are seconds since the Unix epoch; ` + "`null`" + ` is "not known".`

//go:embed text/*.md
var texts embed.FS

// Interface returns the interface with its route table.
func (b *Browser) Interface() api.Interface {
	written, err := fs.Sub(texts, "text")
	if err != nil {
		panic(err) // the name is a valid one
	}
	find := &caller.Finder{DB: b.DB, Sessions: b.Sessions, Household: b.Household, FirstHome: true, Motion: []string{"/web/v1/motions"}, Admin: b.Admin}
	scheme, note := "halves", "Both halves of a session: the cookie, and the proof in the header X-Sensegate; or a token of App Cloud"
	return api.Interface{
		Base: "/web/v1", Title: "Web app", Version: "1-0-0", Description: description,
		Routes: b.routes(), Texts: written, Paced: true,
		Principals: append(find.Principals(scheme, note), find.Administrator(scheme, note)),
	}
}

// routes is the interface.
func (b *Browser) routes() []api.Route {
	return slices.Concat(
		api.Group("Sessions",
			api.Get("/boot", anyone(b.boot), "What the page has to know before anybody signs in"),
			api.Post("/session", anyone(b.signIn), "Sign in"),
			api.Get("/session", user(b.session), "Who is signed in"),
			api.Delete("/session", user(b.signOut), "Sign out"),
			api.Get("/sessions", user(b.sessions), "The caller's sessions"),
			api.Delete("/sessions/{id}", user(b.endSession), "End one of the caller's sessions"),
			api.Post("/step-up", user(b.stepUp), "Show the password again"),
			api.Post("/demo-login", anyone(b.guestSignIn), "Sign in with the link of the demo"),
			unpaced(api.Post("/live-tickets", user(b.ticket), "A ticket for one websocket")),
		),
		api.Group("People",
			api.Post("/join-codes", owner(b.newJoinCode), "A code that lets somebody join the home"),
			api.Delete("/join-codes", owner(b.endJoinCodes), "End the codes of the home"),
			api.Post("/join", user(b.join), "Join a home with a code"),
			api.Post("/join-account", anyone(b.joinAnew), "Make an account with a code, join the home and sign in"),
			api.Get("/export", user(b.export), "What the appliance keeps of the caller"),
		),
		b.settingUp(),
		api.Group("Devices and links",
			api.Get("/devices", installer(b.setupDevices), "The devices of the home, and those that wait"),
			api.Post("/devices/adoption", installer(b.openAdoption), "Let new devices in for ten minutes"),
			api.Delete("/devices/adoption", installer(b.closeAdoption), "Let none in any more"),
			api.Post("/devices/{entry}/adopt", installer(b.adoptDevice), "Let in one device that waits"),
			api.Put("/devices/{id}", installer(b.placeDevice), "Name and place a device"),
			api.Delete("/devices/{id}", installer(b.removeDevice), "Remove a device"),
			api.Live("/installation", installer(b.installation), "Live: devices, links and walk test while a home is set up"),
			api.Get("/links", installer(b.links), "How each link senses, and why it cannot"),
			api.Get("/links/{id}/history", installer(b.linkHistory), "What a link could do in the last 24 hours"),
			api.Get("/calibrations", installer(b.calibrations), "How far calibrations are, and what came of them"),
			api.Post("/calibrations", installer(b.calibrate), "Calibrate a link, or all"),
			api.Delete("/calibrations", installer(b.endCalibrations), "End calibrations under way"),
			api.Get("/walk-tests", installer(b.walkTest), "The walk test, and what it has found"),
			api.Post("/walk-tests", installer(b.startWalk), "Begin a walk test in a room").Answering(http.StatusCreated),
			api.Put("/walk-tests", installer(b.nextWalk), "Go on to the next room"),
			api.Delete("/walk-tests", installer(b.endWalk), "End the walk test"),
			api.Get("/what-if", owner(b.whatIf), "How many moments other settings would have had"),
		),
		api.Group("Tuning and sensors",
			api.Get("/tuning", installer(b.tuning), "How sensitive the home is"),
			api.Put("/tuning", installer(b.tune), "Change how sensitive the home is"),
			api.Get("/sensor-providers", member(b.sensorProviders), "Who may serve the sensors of the home"),
			api.Post("/bridge-user", owner(b.newBridgeUser), "A user by which a bridge of sensors connects"),
		),
		api.Group("Screens",
			api.Get("/overview", member(b.overview), "The home at a glance"),
			api.Live("/motions", member(b.motions), "Live motion, and how near each link is to its threshold"),
			api.Get("/days", member(b.days), "How active the last days were"),
			api.Get("/nights", member(b.nights), "When the household rested in the last nights"),
		),
		api.Group("The home",
			api.Post("/pause", member(b.pause), "Pause sensing for a time, or end the pause"),
			api.Post("/away", member(b.leave), "Change to away in half a minute"),
			api.Delete("/away", member(b.stay), "Undo that"),
			api.Put("/rooms", owner(b.orderRooms), "Order the rooms"),
			api.Put("/rooms/{name}", member(b.renameRoom), "Rename a room"),
			api.Post("/demo", member(b.demo), "Set the simulated home of the demo in motion"),
		),
		api.Group("History",
			api.Get("/rooms/history", member(b.history), "Motion per room over a day, a week or a month"),
			api.Get("/moments", member(b.moments), "Motion from its beginning to its end"),
			api.Get("/moments/{id}", member(b.why), "Why a moment was noticed"),
		),
		api.Group("Alerts",
			api.Get("/alerts", member(b.alerts), "The home's alerts, with what App Cloud does not say of them"),
			api.Post("/alerts/preview", member(b.previewAlert), "What a rule would do"),
			api.Post("/alerts/{id}/try", member(b.tryAlert), "Send an alert to oneself"),
			api.Post("/alerts/{id}/snooze", member(b.snoozeAlert), "Silence an alert for a while"),
		),
		api.Group("Inbox",
			api.Get("/notices", member(b.notices), "What concerned the home and the caller"),
			api.Patch("/notices", member(b.readNotices), "Mark notices as read"),
		),
		b.administering(),
	)
}

// unpaced returns a row that stores nothing.
func unpaced(r api.Route) api.Route {
	r.Unpaced = true
	return r
}

// The kinds of operations, by who may call them.

func anyone[In, Out any](fn func(context.Context, auth.Anyone, In) (Out, error)) api.Operation {
	return api.Guarded("anyone", fn)
}

func user[In, Out any](fn func(context.Context, auth.User, In) (Out, error)) api.Operation {
	return api.Guarded("user", fn)
}

func owner[In, Out any](fn func(context.Context, auth.Owner, In) (Out, error)) api.Operation {
	return api.Guarded("owner", fn)
}

// installer is for whoever sets the home up: its owner, and the installers.
func installer[In, Out any](fn func(context.Context, auth.Installer, In) (Out, error)) api.Operation {
	return api.Guarded("installer", fn)
}

func member[In, Out any](fn func(context.Context, auth.Member, In) (Out, error)) api.Operation {
	return api.Guarded("member", fn)
}
