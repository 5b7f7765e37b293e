package support

import (
	"strconv"
	"strings"
)

// metric is a line of the Prometheus text format.
var metric = pattern(`^([a-z_]+)(?:\{(.*)\})? (\S+)$`)

// metricsKept begin the names of the metrics that a bundle holds: none tells of motion, or what people
// ask for, in finer steps than two digits.
var metricsKept = []string{
	"go_goroutines", "go_info", "go_gomaxprocs", "go_memstats_heap_", "go_memstats_sys_bytes", "process_cpu_seconds_total", "process_max_fds", "process_num_threads",
	"process_open_fds", "process_resident_", "process_start_time_seconds", "process_virtual_", "sensegate_engine_panics_total", "sensegate_http_", "sensegate_mails_", "sensegate_mqtt_", "sensegate_store_", "sensegate_uplink_",
}

// metricsLive begin the names of those that tell whether an app is open now.
var metricsLive = []string{"sensegate_http_connections", "sensegate_http_live_"}

// Metrics returns the lines of a text in the Prometheus format that may be shown: which requests there were
// is told of those that failed alone.
func (n *Names) Metrics(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		m := metric().FindStringSubmatch(strings.TrimSpace(line))
		if m == nil || !begins(m[1], metricsKept) || begins(m[1], metricsLive) {
			continue
		}
		if m[1] == "sensegate_http_requests_total" && !strings.Contains(m[2], `status="5xx"`) {
			continue
		}
		out.WriteString(m[1] + n.labels(m[2]) + " " + figure(m[1], m[3]) + "\n")
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
	label      = pattern(`([A-Za-z_][A-Za-z0-9_]*)="((?:\\.|[^"\\])*)"`)
	plainLabel = pattern(`^[A-Za-z0-9/{}._+-]{0,80}$`)
	labelsKept = wordSet(`door route method status result le version`)
)

// labels returns the labels that may be shown, in braces; an uplink has its stand-in.
func (n *Names) labels(text string) string {
	var shown []string
	for _, m := range label().FindAllStringSubmatch(text, -1) {
		name, value := m[1], m[2]
		switch {
		case name == "uplink":
			value = n.Add("uplink", value)
		case !labelsKept[name]:
			continue
		case !plainLabel().MatchString(value):
			value = dropped
		}
		shown = append(shown, name+`="`+value+`"`)
	}
	if len(shown) == 0 {
		return ""
	}
	return "{" + strings.Join(shown, ",") + "}"
}

// metricsRounded begin the names of those that grow with what happens at home, or with each app that is open.
var metricsRounded = []string{"go_goroutines", "go_memstats_", "process_cpu_", "process_open_fds", "process_resident_", "sensegate_http_request", "sensegate_mails_", "sensegate_mqtt_connections", "sensegate_mqtt_messages", "sensegate_mqtt_sessions", "sensegate_uplink_dropped", "sensegate_uplink_events", "sensegate_uplink_failures", "sensegate_uplink_queue", "sensegate_uplink_refused", "sensegate_uplink_sent"}

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
