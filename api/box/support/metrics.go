package support

import (
	"regexp"
	"strconv"
	"strings"
)

// metric is a line of the Prometheus text format.
var metric = regexp.MustCompile(`^([a-z_]+)(?:\{(.*)\})? (\S+)$`)

// metricsKept begin the names of the metrics that a bundle holds: none tells of motion, or what people
// ask for, in finer steps than two digits.
var metricsKept = []string{
	"go_goroutines", "go_info", "go_gomaxprocs", "go_memstats_heap_", "go_memstats_sys_bytes", "process_cpu_seconds_total", "process_max_fds", "process_num_threads",
	"process_open_fds", "process_resident_", "process_start_time_seconds", "process_virtual_", "sensegate_engine_panics_total", "sensegate_http_", "sensegate_mails_", "sensegate_mqtt_", "sensegate_store_", "sensegate_uplink_",
}

// Metrics returns the lines of a text in the Prometheus format that may be shown: which requests there were
// is told of those that failed alone.
func (n *Names) Metrics(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		m := metric.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil || !begins(m[1], metricsKept) {
			continue
		}
		if m[1] == "sensegate_http_requests_total" && !strings.Contains(m[2], `status="5xx"`) {
			continue
		}
		out.WriteString(m[1])
		if m[2] != "" {
			out.WriteString("{" + n.labels(m[2]) + "}")
		}
		out.WriteString(" " + figure(m[1], m[3]) + "\n")
	}
	return out.String()
}

func begins(name string, with []string) bool {
	for _, prefix := range with {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

var (
	label      = regexp.MustCompile(`([a-z_]+)="([^"]*)"`)
	plainLabel = regexp.MustCompile(`^[A-Za-z0-9/{}._+-]{0,80}$`)
)

// labels returns labels whose values may be shown; an uplink has its stand-in.
func (n *Names) labels(text string) string {
	return label.ReplaceAllStringFunc(text, func(one string) string {
		m := label.FindStringSubmatch(one)
		switch {
		case m[1] == "uplink":
			m[2] = n.Add("uplink", m[2])
		case m[1] != "door" && m[1] != "route" && m[1] != "method" && m[1] != "status" && m[1] != "result" && m[1] != "le" && m[1] != "version" || !plainLabel.MatchString(m[2]):
			m[2] = dropped
		}
		return m[1] + `="` + m[2] + `"`
	})
}

// metricsRounded begin the names of those that grow with what happens at home.
var metricsRounded = []string{"go_memstats_", "process_cpu_", "process_resident_", "sensegate_http_request", "sensegate_mails_", "sensegate_mqtt_messages", "sensegate_uplink_dropped", "sensegate_uplink_events", "sensegate_uplink_queue", "sensegate_uplink_refused", "sensegate_uplink_sent"}

// figure returns the value of a metric, by two digits if it grows with what happens at home.
func figure(name, value string) string {
	if !begins(name, metricsRounded) {
		return value
	}
	v, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return dropped
	}
	return strconv.FormatInt(Round(int64(v)), 10)
}
