package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"sensegate/firmware-sim/sim"
	"sensegate/motion"
)

// teller writes events as text, or as JSON for scripts.
type teller struct {
	out      io.Writer
	json     bool
	stateDir string // of the appliance
	asked    Config
}

// begin writes the addresses, the key and the setup code.
func (t teller) begin(ctx context.Context, appliance Appliance, home *sim.Sim) error {
	key, err := appliance.Key(ctx)
	if err != nil {
		return err
	}
	http, mqtt := here(appliance.HTTP()), here(appliance.MQTT())
	var code, page string
	if t.asked.Vacant {
		code, err = appliance.SetupCode(ctx)
	} else {
		code, err = appliance.Settle(ctx, home.Network(), motion.TimeOf(time.Now().Add(-claimed)))
		if err == nil {
			err = appliance.Befriend(ctx, home.Network())
		}
		page, code = "http://"+http+"/#demo="+code, ""
	}
	if err != nil {
		return err
	}
	if t.json {
		t.object(struct {
			Type    string           `json:"type"`
			Network motion.NetworkID `json:"network_id"`
			HTTP    string           `json:"http"`
			MQTT    string           `json:"mqtt"`
			Key     string           `json:"key"`
			Page    string           `json:"page,omitempty"`
			Setup   string           `json:"setup_code,omitempty"`
			State   string           `json:"state_dir"`
		}{"start", home.Network(), http, mqtt, key, page, code, t.stateDir})
		return nil
	}
	if page != "" {
		fmt.Fprintf(t.out, "Open  %s  (signs you in, once)\n\n", page)
	}
	fmt.Fprintf(t.out, `sensegate demo: network %d with %d nodes and %d leafs, %.0f days of history
  API    http://%s/docs/
  key    %s
  MQTT   %s
  state  SENSEGATE_STATE_DIR=%s (for commands such as sensegate device list)
  try    curl -H 'Authorization: Bearer %s' 'http://%s/core/network/%d/events/history?last=3'
         curl -H 'Authorization: Bearer %s' 'http://%s/core/network/%d/topology'
`, home.Network(), len(home.Home().Nodes), len(home.Home().Leafs), backfill.Hours()/24, http, key, mqtt, t.stateDir, key, http, home.Network(), key, http, home.Network())
	if code != "" {
		fmt.Fprintf(t.out, "  setup  code %s to register with, for the household's own interface\n", code)
	}
	if t.asked.HTTP == "" && http != usualHTTP || t.asked.MQTT == "" && mqtt != usualMQTT {
		fmt.Fprintln(t.out, "  (the usual ports 8080 and 1883 are taken, so others were chosen)")
	}
	fmt.Fprintln(t.out, "Somebody is about to walk. Ctrl-C ends the demo; nothing is kept.")
	return nil
}

func (t teller) tell(e motion.Event) {
	if t.json {
		t.object(struct {
			Type string `json:"type"`
			motion.Event
		}{"event", e})
		return
	}
	at := e.TS.Std().Local().Format(time.TimeOnly)
	switch e.Event {
	case motion.LinkCreatedEvent: // a dozen at the start
	case motion.MotionDetectedEvent:
		fmt.Fprintf(t.out, "%s  MOTION   %-14s link %s\n", at, e.LocName, e.LinkID)
	case motion.MotionStoppedEvent:
		fmt.Fprintf(t.out, "%s  quiet    %-14s after %.0f s\n", at, e.LocName, e.TS.Since(e.DetectedTS))
	default:
		fmt.Fprintf(t.out, "%s  %-8s %-14s %s\n", at, e.Category, e.Event, e.LinkID)
	}
}

func (t teller) sum(s summary) {
	if t.json {
		t.object(s)
		return
	}
	fmt.Fprintf(t.out, "%d events, %d of them motion detected, from %d CSI frames in %.0f s\n", s.Events, s.Detections, s.Frames, s.Seconds)
}

func (t teller) object(v any) { _ = json.NewEncoder(t.out).Encode(v) }
