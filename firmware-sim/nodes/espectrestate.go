package nodes

import (
	"encoding/json"
	"net/http"
	"time"
)

// What an answer of a node of ESPectre is.
type answer map[string]any

// serveState answers what the node tells of itself.
func (n *ESPectre) serveState(w http.ResponseWriter, r *http.Request) {
	n.mu.Lock()
	rssi, moves, raw, listeners := n.rssi, n.moves, n.session != nil, len(n.listeners)
	n.mu.Unlock()
	state := "idle"
	if moves {
		state = "motion"
	}
	answers := map[string]answer{
		"/espectre/v1/capabilities": {"protocol": "1.0", "capabilities": []string{"sensing", "events", "raw_csi"}},
		"/espectre/v1/device": {
			"device_id": n.DeviceID(), "name": n.config.Name, "frontend": "native", "chip": "esp32c6", "firmware": "3.0.0",
		},
		"/espectre/v1/sensing": {
			"enabled": true, "detector": "lightweight", "threshold": scoreThreshold, "state": state, "traffic_generator_mode": "ping",
		},
		"/espectre/v1/wifi": {
			"ssid": "home", "bssid": n.config.Router.String(), "band": "2.4GHz", "channel": routerChannel, "rssi_dbm": rssi,
		},
		"/espectre/v1/health":      {"status": "online", "uptime_ms": time.Since(n.began).Milliseconds()},
		"/espectre/v1/diagnostics": {"event_clients": listeners, "raw_csi_active": raw},
	}
	found, ok := answers[r.URL.Path]
	switch {
	case !ok:
		n.refuse(w, http.StatusNotFound, "Not found")
	case r.Method != http.MethodGet:
		n.refuse(w, http.StatusMethodNotAllowed, "Method not allowed")
	default:
		write(w, http.StatusOK, found)
	}
}

// refuse answers with an error.
func (n *ESPectre) refuse(w http.ResponseWriter, status int, why string) {
	write(w, status, answer{"error": why})
}

func write(w http.ResponseWriter, status int, a answer) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(a) // the reader may have gone
}
