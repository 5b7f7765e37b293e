package admin

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"

	"sensegate/api/auth"
	"sensegate/motion/notify"
)

// Reach says how the household reaches the web server of a running appliance.
type Reach struct {
	Port       int      `json:"port,omitempty"`           // 0: it does not run
	Addresses  []string `json:"addresses,omitempty"`      // IP addresses, the best first
	Names      []string `json:"names,omitempty"`          // on the local network, the best first
	Interfaces []string `json:"interfaces,omitempty"`     // where they are announced
	Nameless   string   `json:"without_names,omitempty"`  // why there are no names
	Alone      bool     `json:"this_box_alone,omitempty"` // it listens on loopback
}

// page returns the address of the app at a name or an IP address.
func (r Reach) page(host string) string {
	return "http://" + net.JoinHostPort(host, strconv.Itoa(r.Port)) + "/"
}

// show writes the lines of the status command.
func (r Reach) show(line func(name, format string, values ...any)) {
	switch {
	case r.Alone:
		line("address", "%s, for this box alone", r.page("127.0.0.1"))
	case len(r.Addresses) > 0:
		line("address", "%s", r.page(r.Addresses[0]))
	default:
		line("address", "none in a private network")
	}
	if len(r.Names) > 0 {
		line("names", "%s (on %s)", strings.Join(r.Names, ", "), strings.Join(r.Interfaces, ", "))
	} else {
		line("names", "none: %s", r.Nameless)
	}
}

// Setup is a new setup code, which is shown once, and where it is used.
type Setup struct {
	Code string `json:"setup_code"`
	Reach
	Link string `json:"link,omitempty"` // opens the app and fills the code in
}

// linked returns a setup with its link. The code stands in the fragment, which a browser does
// not send; the host is an IP address, because some phones cannot resolve names of the local
// network.
func (s Setup) linked() Setup {
	if len(s.Addresses) > 0 {
		s.Link = s.page(s.Addresses[0]) + "#setup=" + s.Code
	}
	return s
}

// Show writes how to begin, below the code itself; drawn: with a QR code for a phone's camera.
func (s Setup) Show(w io.Writer, drawn bool) error {
	s = s.linked()
	switch {
	case s.Port == 0:
		fmt.Fprintln(w, "The appliance does not run: start it, and sensegate setup-code shows where to use a code.")
		return nil
	case s.Alone:
		fmt.Fprintf(w, "Open %s on this box. A phone cannot reach it: the appliance listens on loopback alone.\n"+
			"To change that, set http.listen to \":%[2]d\" in the configuration, or SENSEGATE_HTTP_LISTEN=:%[2]d.\n", s.page("127.0.0.1")+"#setup="+s.Code, s.Port)
		return nil
	case s.Link == "":
		fmt.Fprintln(w, "This box has no address in a private network yet: connect it, and sensegate setup-code shows where to use a code.")
		return nil
	}
	if drawn {
		code, err := notify.QRText(s.Link)
		if err != nil {
			return fmt.Errorf("draw the setup code: %w", err)
		}
		fmt.Fprintf(w, "%s\nScan this with the camera of a phone in the same network, or open\n", code)
	} else {
		fmt.Fprintln(w, "On a phone or computer in the same network, open")
	}
	fmt.Fprintf(w, "  %s\n", s.Link)
	var others []string
	for _, host := range append(s.Names[:len(s.Names):len(s.Names)], s.Addresses[1:]...) {
		others = append(others, s.page(host))
	}
	if len(others) > 0 {
		fmt.Fprintf(w, "The box is also at %s\n", strings.Join(others, ", "))
	}
	return nil
}

func (s *Server) serveSetupCode(r *http.Request) (any, error) {
	code, err := auth.NewSetupCode(r.Context(), s.DB)
	made := Setup{Code: code}
	if s.Reach != nil {
		made.Reach = s.Reach()
	}
	return made.linked(), err
}

// makeSetupCode always draws the QR code: whoever runs the command wants to scan it, over a
// connection without a terminal too.
func makeSetupCode(ctx context.Context, c command, _ []string) error {
	var made Setup
	if err := c.client.do(ctx, http.MethodPost, "/setup-code", nil, &made); err != nil {
		return err
	}
	var shown error
	err := c.print(made, func(w io.Writer) {
		fmt.Fprintf(w, "%s\n\n", made.Code)
		shown = made.Show(w, true)
		fmt.Fprint(w, "\nWhoever registers with this code can claim the first network. It works once; earlier codes stop working.\n")
	})
	if err != nil {
		return err
	}
	return shown
}
