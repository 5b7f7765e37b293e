package admin

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"sensegate/motion"
	"sensegate/motion/engine/sensing"
	"sensegate/motion/fault"
)

// calibration is the body of a command that begins or cancels calibrations.
type calibration struct {
	NetworkID motion.NetworkID `json:"network_id"`
	Link      string           `json:"link"` // empty = all
	Cancel    bool             `json:"cancel"`
}

// calibrations is the answer: how many links' calibrations were begun or cancelled.
type calibrations struct {
	Links int `json:"links"`
}

func (s *Server) serveLinks(r *http.Request) (any, error) {
	id := motion.NetworkID(0)
	if text := r.URL.Query().Get("network"); text != "" {
		var err error
		if id, err = parseNetwork(text); err != nil {
			return nil, err
		}
	}
	return s.box.Links(id)
}

func (s *Server) serveCalibrate(r *http.Request, body calibration) (any, error) {
	links, err := s.box.Calibrate(r.Context(), actor(r), body.NetworkID, body.Link, body.Cancel)
	return calibrations{links}, err
}

// parseNetwork reads a network's id.
func parseNetwork(text string) (motion.NetworkID, error) {
	id, err := strconv.ParseUint(text, 10, 32)
	if err != nil || id == 0 {
		return 0, fault.New(fault.Invalid, "network %q: want its number", text)
	}
	return motion.NetworkID(id), nil
}

func listLinks(ctx context.Context, c command, arguments []string) error {
	query := ""
	switch len(arguments) {
	case 0:
	case 1:
		query = "?" + url.Values{"network": arguments}.Encode()
	default:
		return fmt.Errorf("want one network, or none for all")
	}
	return ask(ctx, c, http.MethodGet, "/links"+query, nil, func(w io.Writer, links []sensing.LinkState) {
		fmt.Fprintln(w, "NETWORK\tLINK\tZONE\tCAN\tSOURCE\tRATE Hz\tMISSING\tRSSI\tCOUNTS\tFLOOR\tCALIBRATED\tLAST MOTION")
		for i := range links {
			linkRow(w, &links[i])
		}
	})
}

// linkRow writes a line about a link, and below it why it cannot sense.
func linkRow(w io.Writer, l *sensing.LinkState) {
	floor, calibrated := "-", l.Calibration
	if l.Floor != nil {
		floor = fmt.Sprintf("%.2f", *l.Floor)
	}
	if l.Calibration == "done" && !l.CalibratedAt.IsZero() {
		calibrated = time.Duration(l.CalibratedFor*float64(time.Second)).Round(time.Second).String() + " ago"
	}
	fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\t%.0f %%\t%s\t%s\t%s\t%s\t%s\n", l.NetworkID, l.Link, dash(l.Zone), l.Can, dash(l.Source),
		figure(l.Rate), 100*l.Missing, figure(l.RSSI), figure(l.Amplitude), floor, calibrated, when(l.LastMotion))
	for _, why := range l.Why {
		fmt.Fprintf(w, "  %s\n", why)
	}
	if l.Unauthenticated {
		fmt.Fprintln(w, "  unauthenticated: one of its nodes does not log in, so anybody on the Wi-Fi can imitate it")
	}
}

// figure returns a figure, "-" for 0: not known.
func figure(v float64) string {
	if v == 0 {
		return "-"
	}
	return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64)
}

// dash returns a text, "-" for none.
func dash(text string) string {
	if strings.TrimSpace(text) == "" {
		return "-"
	}
	return text
}

func calibrateLinks(flags *flag.FlagSet) action {
	cancel := flags.Bool("cancel", false, "end calibrations under way; what was known before is in force again")
	return func(ctx context.Context, c command, arguments []string) error {
		if len(arguments) == 0 || len(arguments) > 2 {
			return fmt.Errorf("want a network, and a link unless all of its links are meant")
		}
		id, err := parseNetwork(arguments[0])
		if err != nil {
			return err
		}
		body := calibration{NetworkID: id, Link: strings.Join(arguments[1:], ""), Cancel: *cancel}
		return ask(ctx, c, http.MethodPost, "/calibration", body, func(w io.Writer, done calibrations) {
			if *cancel {
				fmt.Fprintf(w, "calibration cancelled: %d links\n", done.Links)
				return
			}
			fmt.Fprintf(w, "calibrating %d links: half a minute of their data; the room need not be empty\n", done.Links)
		})
	}
}
