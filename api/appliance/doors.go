package appliance

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"

	"sensegate/api"
	"sensegate/api/app"
	"sensegate/api/auth"
	"sensegate/api/core"
	"sensegate/broker"
	"sensegate/motion/engine"
	"sensegate/motion/fault"
)

// mount puts every door in its place.
func (a *Appliance) mount() {
	a.http = api.New(a.config.HTTP, a.log)
	private := a.http
	if a.config.Core.Listen != "" {
		own := a.config.HTTP
		own.Part, own.Listen, own.TLSListen = "core", a.config.Core.Listen, a.config.Core.TLSListen
		a.core = api.New(own, a.log)
		private = a.core
	}
	keys := auth.NewKeys(a.db)
	private.Mount(core.New(a.engine, a.db, keys).Interface())
	a.http.Mount(app.New(a.parts).Interface())
	private.Metrics(core.MetricsGuard(keys), a.metrics)
	a.http.Docs()
	if a.core != nil {
		a.core.Docs()
	}
	a.http.Health(a.ready)
	a.http.HandleAnyHost("/gatekeeper", a.gatekeeper())
	a.http.Handle("/ca.pem", a.authority())
	for path, page := range app.Pages() {
		a.http.Handle(path, page)
	}
	a.http.Handle("/", http.HandlerFunc(a.front))
}

// front leads people to the documents, and says of any other address that nothing is there.
func (a *Appliance) front(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/":
		http.Redirect(w, r, "/docs/", http.StatusFound)
	case strings.HasPrefix(r.URL.Path, "/core/"): // or else it would not come here
		api.Refuse(w, r, fault.New(fault.NotFound, "Core is served on a listener of its own here: core.listen in the configuration"))
	default:
		api.Refuse(w, r, fault.New(fault.NotFound, "nothing is served at this address: /docs/ shows what there is"))
	}
}

// relays returns the configured outside services as the engine sees them.
func (a *Appliance) relays() map[string]engine.Relay {
	relays := map[string]engine.Relay{}
	for name, provider := range a.relay.Providers() {
		relays[name] = provider
	}
	return relays
}

// gatekeeper returns the door at which devices ask to join.
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
			a.engine.BadInput("address/"+address.String(), text, nil)
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

// ready says why the appliance cannot work, nil when it can.
func (a *Appliance) ready() error { return errors.Join(a.db.Writable(), a.broker.Ready()) }

// metrics writes what the broker, the store, the relay and the notifier count, and the
// public door unless it is the one that shows this.
func (a *Appliance) metrics(w io.Writer) {
	if a.core != nil {
		a.http.WriteMetrics(w)
	}
	counters := a.broker.Counters()
	fmt.Fprintf(w, "sensegate_mqtt_sessions %d\n", counters.Sessions)
	fmt.Fprintf(w, "sensegate_mqtt_messages_total{result=\"taken\"} %d\n", counters.Ingested)
	fmt.Fprintf(w, "sensegate_mqtt_messages_total{result=\"not_stored\"} %d\n", counters.NotStored)
	fmt.Fprintf(w, "sensegate_mqtt_refused_total %d\n", counters.Refused)
	fmt.Fprintf(w, "sensegate_mqtt_turned_away_total %d\n", counters.OverTotal+counters.OverAddress)
	fmt.Fprintf(w, "sensegate_mqtt_gave_way_total %d\n", counters.GaveWay)
	fmt.Fprintf(w, "sensegate_mqtt_panics_total %d\n", counters.Panics)
	a.engine.Metrics(w)
	a.db.Metrics(w)
	a.relay.Metrics(w)
	a.notify.Metrics(w)
}
