package admin

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"sensegate/api/box"
	"sensegate/motion/notify"
)

// showReach writes the lines of the status command.
func showReach(r box.Reach, line func(name, format string, values ...any)) {
	switch {
	case r.Alone:
		line("address", "%s, for this box alone", r.Page("127.0.0.1"))
	case len(r.Addresses) > 0:
		line("address", "%s", r.Page(r.Addresses[0]))
	default:
		line("address", "none in a private network")
	}
	if len(r.Names) > 0 {
		line("names", "%s (on %s)", strings.Join(r.Names, ", "), strings.Join(r.Interfaces, ", "))
	} else {
		line("names", "none: %s", r.Nameless)
	}
}

// ShowSetup writes how to begin, below the code itself; drawn: with a QR code for a phone's camera.
func ShowSetup(w io.Writer, s box.Setup, drawn bool) error {
	s = s.Linked()
	switch {
	case s.Port == 0:
		fmt.Fprintln(w, "The appliance does not run: start it, and sensegate setup-code shows where to use a code.")
		return nil
	case s.Alone:
		fmt.Fprintf(w, "Open %s on this box. A phone cannot reach it: the appliance listens on loopback alone.\n"+
			"To change that, set http.listen to \":%[2]d\" in the configuration, or SENSEGATE_HTTP_LISTEN=:%[2]d.\n", s.Page("127.0.0.1")+"#setup="+s.Code, s.Port)
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
		others = append(others, s.Page(host))
	}
	if len(others) > 0 {
		fmt.Fprintf(w, "The box is also at %s\n", strings.Join(others, ", "))
	}
	return nil
}

func (s *Server) serveSetupCode(r *http.Request) (any, error) {
	return s.box.SetupCode(r.Context(), actor(r))
}

// makeSetupCode always draws the QR code: whoever runs the command wants to scan it, over a
// connection without a terminal too.
func makeSetupCode(ctx context.Context, c command, _ []string) error {
	var made box.Setup
	if err := c.client.do(ctx, http.MethodPost, "/setup-code", nil, &made); err != nil {
		return err
	}
	var shown error
	err := c.print(made, func(w io.Writer) {
		fmt.Fprintf(w, "%s\n\n", made.Code)
		shown = ShowSetup(w, made, true)
		fmt.Fprint(w, "\nWhoever registers with this code can claim the first network. It works once; earlier codes stop working.\n")
	})
	if err != nil {
		return err
	}
	return shown
}
