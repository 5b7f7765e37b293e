package admin

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"sensegate/api/box"
	"sensegate/motion"
	"sensegate/motion/engine/state"
)

func (s *Server) serveDevices(r *http.Request) (any, error) { return s.box.Devices(r.Context()) }

func (s *Server) serveAdoptDevice(r *http.Request) (any, error) {
	return s.box.Adopt(r.Context(), actor(r), r.PathValue("id"))
}

func (s *Server) serveRemoveDevice(r *http.Request) (any, error) {
	return struct{}{}, s.box.RemoveDevice(r.Context(), actor(r), r.PathValue("id"))
}

// connected is the answer of pointing a node at this box.
type connected struct {
	User string `json:"user"` // of the broker, that was made for it
}

func (s *Server) serveConnectNode(r *http.Request) (any, error) {
	user, err := s.box.ConnectNode(r.Context(), actor(r), r.PathValue("id"))
	return connected{user}, err
}

// connectNode is the command device connect.
func connectNode(ctx context.Context, c command, id string) error {
	return ask(ctx, c, http.MethodPost, "/devices/"+url.PathEscape(id)+"/connect", nil, func(w io.Writer, made connected) {
		fmt.Fprintf(w, "The node publishes to this box from now on, as the MQTT user %s. It comes as node:mqtt:%s and waits\nto be let in; then sensegate device remove %s.\n", made.User, made.User, id)
	})
}

// window is the body and the answer of opening an adoption window.
type window struct {
	NetworkID motion.NetworkID `json:"network_id,omitempty"` // 0: of networks without an owner
	Seconds   motion.Seconds   `json:"seconds,omitempty"`
	Until     motion.Time      `json:"until"`
}

func (s *Server) serveOpenAdoption(r *http.Request, body window) (any, error) {
	until, err := s.box.OpenAdoption(r.Context(), actor(r), body.NetworkID, body.Seconds)
	return window{NetworkID: body.NetworkID, Until: until}, err
}

func showDevices(w io.Writer, list box.DeviceList) {
	fmt.Fprintln(w, "DEVICE\tKIND\tSTATE\tNETWORK\tNODE\tADDRESS\tLAST HEARD\tWHY")
	for _, d := range list.Devices {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", d.ID, d.Kind, d.State, number(d.NetworkID), d.NodeName, d.Address, when(d.LastHeard), d.Why)
		if d.Entry != nil {
			if d.Entry.LocationID != "" {
				fmt.Fprintf(w, "  entry %s: %s of location_id %s\n", d.Entry.ID, d.Entry.Role, d.Entry.LocationID)
			} else {
				fmt.Fprintf(w, "  entry %s\n", d.Entry.ID)
			}
		}
		showNode(w, d.Node)
		refusals(w, d.Refused)
	}
	fmt.Fprintln(w)
	for _, i := range list.Intakes {
		fmt.Fprintf(w, "Nodes of kind %s, %s: %d messages, %d frames; %d without channel state, %d of no known form, %d from other networks, %d beyond the limits.\n",
			i.Kind, i.At, i.Arrived, i.Frames, i.Other, i.Wrong, i.Foreign, i.Limited)
		if i.State != "" {
			fmt.Fprintf(w, "  %s\n", i.State)
		}
	}
	if list.Open {
		fmt.Fprintf(w, "New devices of networks without an owner are adopted by themselves until %s.\n", when(list.AdoptionUntil))
	} else {
		fmt.Fprintln(w, "New devices wait for adoption: sensegate device adopt ID, or device adopt -window 10m [-network ID].")
	}
	for _, open := range list.Windows {
		fmt.Fprintf(w, "New devices of network %d are adopted by themselves until %s.\n", open.NetworkID, when(open.Until))
	}
}

// showNode lists under a node of another maker what arrives of it; nil: it is none.
func showNode(w io.Writer, n *motion.NodeFigures) {
	if n == nil {
		return
	}
	fmt.Fprintf(w, "  %.1f frames/s arrive, %.1f are used", n.Rate, n.Used)
	for i, l := range n.Lengths {
		fmt.Fprintf(w, "%s%d bytes %.0f %%", separator(i, "; lengths: "), l.Bytes, 100*l.Share)
	}
	for i, t := range n.Transmitters {
		used := ""
		if t.Used {
			used = " (used)"
		}
		fmt.Fprintf(w, "%s%s %.0f %%%s", separator(i, "; transmitters: "), t.MAC, 100*t.Share, used)
	}
	fmt.Fprintln(w)
	if n.Duplicates+n.Backwards+n.Restarts+n.Identical+n.TooFast > 0 {
		fmt.Fprintf(w, "  since the start: %d doubles, %d out of order, %d restarts, %d the same as before, %d beyond the rate\n",
			n.Duplicates, n.Backwards, n.Restarts, n.Identical, n.TooFast)
	}
	for _, a := range n.Advice {
		fmt.Fprintf(w, "  %s\n", a.Text())
	}
}

// separator returns what comes before an item of a list with a heading.
func separator(i int, heading string) string {
	if i == 0 {
		return heading
	}
	return ", "
}

// refusals lists under a device which of its messages were refused.
func refusals(w io.Writer, refused []state.Refused) {
	for _, r := range refused {
		fmt.Fprintf(w, "  %d x %s (last %s)\n", r.Count, r.Reason, when(r.Last))
		if r.Sample != "" {
			fmt.Fprintf(w, "    last message: %.100s\n", r.Sample)
		}
	}
}

func adoptDevice(flags *flag.FlagSet) action {
	open := flags.Duration("window", 0, "adopt every new device that asks within this time, such as 10m, to join a network without an owner or to form a new one")
	network := flags.Uint("network", 0, "with -window: adopt those that ask to join this network instead")
	return func(ctx context.Context, c command, arguments []string) error {
		if *open > 0 {
			return openWindow(ctx, c, window{NetworkID: motion.NetworkID(*network), Seconds: open.Seconds()})
		}
		id, err := single(arguments, "the id of a pending device or of its entry, as device list shows them, or -window 10m")
		if err != nil {
			return err
		}
		return ask(ctx, c, http.MethodPost, "/devices/"+url.PathEscape(id)+"/adopt", nil, func(w io.Writer, pending motion.PendingDevice) {
			as := ""
			if pending.LocationID != "" {
				as = fmt.Sprintf(" as %s of location_id %s", pending.Role(), pending.LocationID)
			}
			fmt.Fprintf(w, "%s is let in when it is heard next (devices repeat within a minute)%s from %s.\n", pending.DeviceID, as, pending.Address)
		})
	}
}

// openWindow opens an adoption window.
func openWindow(ctx context.Context, c command, wanted window) error {
	return ask(ctx, c, http.MethodPost, "/adoption", wanted, func(w io.Writer, opened window) {
		where := "a network without an owner, or to form a new one,"
		if opened.NetworkID != 0 {
			where = fmt.Sprintf("network %d", opened.NetworkID)
		}
		fmt.Fprintf(w, "New devices that ask to join %s are adopted until %s.\n", where, when(opened.Until))
	})
}

// number returns a network's number, "-" for none.
func number(id motion.NetworkID) string {
	if id == 0 {
		return "-"
	}
	return fmt.Sprint(id)
}
