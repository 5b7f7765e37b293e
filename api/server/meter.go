package server

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/VictoriaMetrics/metrics"
)

// meter counts requests by row, method and class of status. Its labels come from
// the tables and the configuration alone, so that their number is bounded and they hold
// no secret.
type meter struct {
	set      *metrics.Set
	part     string // of the configuration, as all servers of an appliance are written together
	panics   *metrics.Counter
	took     *metrics.FloatCounter // seconds of all answered requests
	answered *metrics.Counter
	counters sync.Map // meterKey → *metrics.Counter
}

type meterKey struct {
	route, method string
	class         int
}

func newMeter(set *metrics.Set, part string, live func() int, turnedAway, gaveWay func() uint64) *meter {
	named := func(name string) string { return fmt.Sprintf("sensegate_http_%s{door=%q}", name, part) }
	set.NewGauge(named("live_connections"), func() float64 { return float64(live()) })
	set.NewGauge(named("turned_away_total"), func() float64 { return float64(turnedAway()) })
	set.NewGauge(named("gave_way_total"), func() float64 { return float64(gaveWay()) })
	return &meter{
		set: set, part: part,
		panics:   set.NewCounter(named("panics_total")),
		took:     set.NewFloatCounter(named("request_duration_seconds_sum")),
		answered: set.NewCounter(named("request_duration_seconds_count")),
	}
}

func (m *meter) count(route, method string, status int, took time.Duration) {
	if status != http.StatusSwitchingProtocols {
		m.took.Add(took.Seconds())
		m.answered.Inc()
	}
	key := meterKey{route, knownMethod(method), status / 100}
	c, ok := m.counters.Load(key)
	if !ok {
		name := fmt.Sprintf(`sensegate_http_requests_total{door=%q,route=%q,method=%q,status="%dxx"}`, m.part, key.route, key.method, key.class)
		c, _ = m.counters.LoadOrStore(key, m.set.GetOrCreateCounter(name))
	}
	c.(*metrics.Counter).Inc()
}

// knownMethod keeps invented methods out of the labels.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	}
	return "other"
}
