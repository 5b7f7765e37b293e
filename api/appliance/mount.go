package appliance

import (
	"cmp"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/VictoriaMetrics/metrics"

	"sensegate/api/app"
	"sensegate/api/auth"
	"sensegate/api/box"
	"sensegate/api/browser"
	"sensegate/api/core"
	"sensegate/api/server"
	"sensegate/api/web"
	"sensegate/broker"
	"sensegate/motion/engine/sensing"
	"sensegate/motion/fault"
)

// mount makes the HTTP servers and mounts what they serve.
func (a *Appliance) mount() {
	a.http = server.New(a.config.HTTP, a.log)
	private := a.http
	if a.config.Core.Listen != "" {
		own := a.config.HTTP
		own.Part, own.Listen, own.TLSListen = "core", a.config.Core.Listen, a.config.Core.TLSListen
		a.core = server.New(own, a.log)
		private = a.core
	}
	keys := auth.NewKeys(a.db)
	devices, household := core.New(a.engine, a.db, keys).Interface(), app.New(a.parts).Interface()
	page := browser.New(browser.Parts{
		DB: a.db, Engine: a.engine, Sessions: a.parts.Sessions, Accounts: a.parts.Accounts, Household: a.parts.Household, Sensors: a.sensors, Version: box.Version(), Box: a.box, Admin: a.config.Web.Admin, Guest: &a.guest, Play: &a.play,
		Address: func() string { return a.base }, Broker: a.brokerHere,
	}).Interface()
	private.Mount(devices)
	a.http.Mount(household)
	a.http.Mount(page)
	private.Metrics(core.MetricsGuard(keys), a.metrics)
	if a.core == nil {
		a.http.Handle("/docs/", web.Reference(devices, household, page))
	} else {
		a.http.Handle("/docs/", web.Reference(household, page))
		a.core.Handle("/docs/", web.Reference(devices))
	}
	a.http.Health(a.ready)
	a.http.HandleAnyHost("/gatekeeper", a.gatekeeper())
	a.http.Handle("/ca.pem", a.authority())
	a.http.Handle("/", web.App(nothing))
}

// nothing says why there is nothing at a path.
func nothing(r *http.Request) error {
	if strings.HasPrefix(r.URL.Path, "/core/") { // served by the other server, and not found here
		return fault.New(fault.NotFound, "Core is served on a listener of its own here: core.listen in the configuration")
	}
	return fault.New(fault.NotFound, "nothing is served at this address: / is the app, /docs/ shows the interfaces")
}

// relays returns the outside services of now as the engine sees them.
func (a *Appliance) relays() map[string]sensing.Relay {
	relays := map[string]sensing.Relay{}
	for name, provider := range a.uplinks.Providers() {
		relays[name] = provider
	}
	return relays
}

// gatekeeper returns the handler of POST /gatekeeper, where devices ask to join.
func (a *Appliance) gatekeeper() http.Handler {
	where := broker.GatekeeperConfig{
		MQServer: a.config.Gatekeeper.MQTTServer,
		MQPort:   portOf(a.broker.Addr()), MQSecurePort: portOf(a.broker.TLSAddr()),
		Body:      a.http.ReadBody,
		Neighbour: broker.Neighbour,
		TurnedAway: func(address netip.Addr, reason string, err error) {
			text := "gatekeeper: " + reason
			if err != nil {
				text += ": " + err.Error()
			}
			a.engine.State.BadInput("address/"+address.String(), text, nil)
		},
	}
	return broker.NewGatekeeper(where, a.engine, a.log)
}

// portOf returns the port of an address, 0 when there is none.
func portOf(address net.Addr) int {
	tcp, ok := address.(*net.TCPAddr)
	if !ok {
		return 0
	}
	return tcp.Port
}

// ready returns why the appliance cannot work, nil when it can.
func (a *Appliance) ready() error { return errors.Join(a.db.Writable(), a.broker.Ready()) }

// allMetrics writes all that /metrics answers.
func (a *Appliance) allMetrics(w io.Writer) {
	metrics.WriteProcessMetrics(w)
	cmp.Or(a.core, a.http).WriteMetrics(w)
	a.metrics(w)
}

// metrics writes the figures of the broker, the engine, the store, the uplinks and the notifier,
// and of the public server when Core has one of its own.
func (a *Appliance) metrics(w io.Writer) {
	if a.core != nil {
		a.http.WriteMetrics(w)
	}
	counters := a.broker.Counters()
	metrics.WriteGaugeUint64(w, "sensegate_mqtt_sessions", uint64(counters.Sessions))
	metrics.WriteCounterUint64(w, `sensegate_mqtt_messages_total{result="taken"}`, counters.Ingested)
	metrics.WriteCounterUint64(w, `sensegate_mqtt_messages_total{result="not_stored"}`, counters.NotStored)
	metrics.WriteCounterUint64(w, "sensegate_mqtt_refused_total", counters.Refused)
	metrics.WriteCounterUint64(w, "sensegate_mqtt_turned_away_total", counters.OverTotal+counters.OverAddress)
	metrics.WriteCounterUint64(w, "sensegate_mqtt_gave_way_total", counters.GaveWay)
	metrics.WriteCounterUint64(w, "sensegate_mqtt_panics_total", counters.Panics)
	a.engine.State.Metrics(w)
	a.db.Metrics(w)
	a.uplinks.Metrics(w)
	a.notify.Metrics(w)
}
