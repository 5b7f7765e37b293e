package admin

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"sensegate/api/box"
	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store"
)

func (s *Server) serveNetworks(r *http.Request) (any, error) { return s.box.Networks(r.Context()) }

// pathNetwork returns the network that the path of a request names.
func pathNetwork(r *http.Request) (motion.NetworkID, error) {
	id, err := motion.ParseNetworkID(r.PathValue("id"))
	if err != nil {
		return 0, fault.New(fault.Invalid, "%v", err)
	}
	return id, nil
}

func (s *Server) serveSetAside(r *http.Request) (any, error) {
	id, err := pathNetwork(r)
	if err != nil {
		return nil, err
	}
	return s.box.SetNetworkAside(r.Context(), actor(r), id)
}

// handOver is the body of the command that sends devices to another box.
type handOver struct {
	To      string `json:"to"`
	Receipt string `json:"receipt"`
}

func (s *Server) serveHandOver(r *http.Request, body handOver) (any, error) {
	id, err := pathNetwork(r)
	if err != nil {
		return nil, err
	}
	return s.box.HandOverNetwork(r.Context(), actor(r), id, body.To, body.Receipt)
}

func (s *Server) serveTakeBack(r *http.Request) (any, error) {
	id, err := pathNetwork(r)
	if err != nil {
		return nil, err
	}
	return s.box.TakeBackNetwork(r.Context(), actor(r), id)
}

func (s *Server) serveDeleteNetwork(r *http.Request) (any, error) {
	id, err := pathNetwork(r)
	if err != nil {
		return nil, err
	}
	return struct{}{}, s.box.DeleteNetwork(r.Context(), actor(r), id)
}

// showNetworks is the network list command.
func showNetworks(w io.Writer, list []box.Network) {
	fmt.Fprintln(w, "NETWORK\tGUARDIAN\tDEVICES\tPEOPLE\tSTATE\tSINCE\tTO")
	for _, n := range list {
		fmt.Fprintf(w, "%d\t%s\t%d\t%d\t%s\t%s\t%s\n", n.ID, n.Guardian, n.Devices, n.People, n.State, when(n.Since), dash(n.To))
	}
	for _, n := range list {
		switch {
		case n.State == box.NetworkAside:
			fmt.Fprintf(w, "\nNetwork %d: its devices wait. When the other box has taken it in: sensegate network hand-over %[1]d URL RECEIPT. To go on here: sensegate network take-back %[1]d.\n", n.ID)
		case n.State == box.NetworkMoved && len(n.Left) > 0:
			fmt.Fprintf(w, "\nNetwork %d: not sent over yet: %s. They are when they post to the gatekeeper of this box, as at every start.\n", n.ID, strings.Join(n.Left, ", "))
		case n.State == box.NetworkMoved:
			fmt.Fprintf(w, "\nNetwork %d: every device was sent over at least once. Once the other box lists them all as online (sensegate device list there), its copy here can go: sensegate network delete %[1]d.\n", n.ID)
		case n.State == box.NetworkGone:
			fmt.Fprintf(w, "\nNetwork %d: its copy here was deleted. Its devices are still sent on; sensegate network take-back %[1]d ends that, so that they can join a network here.\n", n.ID)
		}
		if len(n.Others) > 0 {
			fmt.Fprintf(w, "Nodes of other makers do not ask where to send: point them to the other box yourself: %s.\n", strings.Join(n.Others, ", "))
		}
	}
}

// networkPath returns the path of what is asked of a network.
func networkPath(id, below string) string { return "/networks/" + url.PathEscape(id) + below }

// handOverNetwork is the network hand-over command.
func handOverNetwork(ctx context.Context, c command, arguments []string) error {
	if len(arguments) != 3 {
		return errors.New("want the network's ID, the address of the other box's gatekeeper, such as http://192.168.10.3:8080/gatekeeper, and the receipt that network import has shown there")
	}
	id := arguments[0]
	return ask(ctx, c, http.MethodPut, networkPath(id, "/handover"), handOver{arguments[1], strings.ToUpper(arguments[2])}, func(w io.Writer, h store.Handover) {
		fmt.Fprintf(w, "The devices of network %d are sent to %s as soon as they ask, within a minute as a rule: sensegate network list\nshows which were. Those that are off now come here first when they start, so this box has to stay until then.\n", h.Network, h.To)
	})
}

// takeBackNetwork is the network take-back command.
func takeBackNetwork(ctx context.Context, c command, id string) error {
	return ask(ctx, c, http.MethodDelete, networkPath(id, "/handover"), nil, func(w io.Writer, h store.Handover) {
		if h.Copy == "" { // it was deleted here
			fmt.Fprintf(w, "The devices of network %d may join a network here again.\n", h.Network)
			return
		}
		fmt.Fprintf(w, "Network %d goes on here. Where the other box has taken it in, delete it there: sensegate network delete.\n", h.Network)
		if h.To != "" {
			fmt.Fprintf(w, "Since %s devices may have gone to %s: what they have told there is there alone. They come back when they\nstart anew and ask this box; one that has another token meanwhile is let in from its address, or by\nsensegate device adopt.\n", when(h.Since), h.To)
		}
	})
}

// deleteNetwork is the network delete command.
func deleteNetwork(flags *flag.FlagSet) action {
	sure := flags.Bool("yes", false, "delete it: without this the command only says what would go")
	return withArgument("the network's ID, as network list shows it", func(ctx context.Context, c command, id string) error {
		var all []box.Network
		if err := c.client.do(ctx, http.MethodGet, "/networks", nil, &all); err != nil {
			return err
		}
		for _, n := range all {
			if fmt.Sprint(n.ID) != id {
				continue
			}
			if !*sure {
				return fmt.Errorf("network %d (%s) would go with its %d devices, its %d people's rights in it and its whole history: say so by -yes", n.ID, n.State, n.Devices, n.People)
			}
			return ask(ctx, c, http.MethodDelete, networkPath(id, ""), nil, func(w io.Writer, _ struct{}) { fmt.Fprintf(w, "deleted network %s\n", id) })
		}
		return fmt.Errorf("network %s is not known: see network list", id)
	})
}

// writeHeader puts what a file says of itself into the head of an answer.
func writeHeader(w http.ResponseWriter, what any) error {
	text, err := json.Marshal(what)
	if err == nil {
		w.Header().Set(copyHeader, string(text))
	}
	return err
}
