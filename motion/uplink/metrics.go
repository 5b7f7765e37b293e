package uplink

import (
	"io"

	"github.com/VictoriaMetrics/metrics"
)

// Metrics writes the figures of all uplinks in the Prometheus text format.
func (s *Set) Metrics(w io.Writer) {
	for _, one := range s.List() {
		label := `{uplink="` + one.Config.Name + `"}`
		connected := uint64(0)
		if one.Phase == Connected {
			connected = 1
		}
		metrics.WriteGaugeUint64(w, "sensegate_uplink_connected"+label, connected)
		metrics.WriteGaugeUint64(w, "sensegate_uplink_queue"+label, uint64(max(one.Queue, 0)))
		metrics.WriteCounterUint64(w, "sensegate_uplink_sent_total"+label, one.Sent)
		metrics.WriteCounterUint64(w, "sensegate_uplink_events_total"+label, one.Events)
		metrics.WriteCounterUint64(w, "sensegate_uplink_events_missing_total"+label, one.Missing)
		metrics.WriteCounterUint64(w, "sensegate_uplink_dropped_total"+label, one.Dropped)
		metrics.WriteCounterUint64(w, "sensegate_uplink_refused_total"+label, one.Refused)
		metrics.WriteCounterUint64(w, "sensegate_uplink_failures_total"+label, one.Failures)
	}
	s.relayMetrics(w)
}
