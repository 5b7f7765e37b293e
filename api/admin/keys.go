package admin

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"sensegate/api/auth"
	"sensegate/api/box"
	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store"
)

// apiKey is a new key: its secret is shown this once.
type apiKey struct {
	store.APIKey
	Secret string `json:"secret,omitempty"`
	Core   string `json:"core,omitempty"` // where it opens something, such as http://127.0.0.1:8080/core; "": nothing runs
}

// newKey is the body of a command that creates a key.
type newKey struct {
	Name        string           `json:"name"`
	Scopes      []string         `json:"scopes"`
	NetworkID   motion.NetworkID `json:"network_id"`   // 0: the only one there is
	AllNetworks bool             `json:"all_networks"` // instead
	ExpiresIn   motion.Seconds   `json:"expires_in_s"` // 0 = never
}

func (s *Server) serveKeys(r *http.Request) (any, error) { return s.box.Keys(r.Context()) }

func (s *Server) serveCreateKey(r *http.Request, body newKey) (any, error) {
	key, secret, err := s.box.CreateKey(r.Context(), actor(r), box.NewKey(body))
	return apiKey{APIKey: key, Secret: secret, Core: s.box.CoreAddress()}, err
}

func (s *Server) serveRevokeKey(r *http.Request) (any, error) {
	id, err := strconv.ParseUint(r.PathValue("id"), 10, 32)
	if err != nil {
		return nil, fault.New(fault.Invalid, "key id %q: want the number that apikey list shows", r.PathValue("id"))
	}
	return struct{}{}, s.box.RevokeKey(r.Context(), actor(r), uint32(id))
}

func createKey(flags *flag.FlagSet) action {
	scope := flags.String("scope", auth.ScopeRead, "what the key may do, comma-separated")
	write := flags.Bool("write", false, "the key may change things too: adds "+auth.ScopeWrite)
	network := flags.Uint("network", 0, "bind the key to this network; without it the only one there is")
	everywhere := flags.Bool("all-networks", false, "the key opens all networks, also those to come")
	expires := flags.Duration("expires", 0, "how long it is valid, such as 2160h; 0 = for ever")
	return withArgument("a name for the key", func(ctx context.Context, c command, name string) error {
		body := newKey{Name: name, Scopes: strings.Split(*scope, ","), NetworkID: motion.NetworkID(*network), AllNetworks: *everywhere, ExpiresIn: expires.Seconds()}
		if *write && !slices.Contains(body.Scopes, auth.ScopeWrite) {
			body.Scopes = append(body.Scopes, auth.ScopeWrite)
		}
		return ask(ctx, c, http.MethodPost, "/apikeys", body, func(w io.Writer, key apiKey) {
			fmt.Fprintf(w, "%s\n", key.Secret)
			fmt.Fprintf(w, "\nKey %d (%s; %s): keep it, it is not shown again.", key.ID, key.Name, reach(key.APIKey))
			if key.Core == "" {
				fmt.Fprintln(w, " It opens something when the appliance runs.")
				return
			}
			fmt.Fprintf(w, " Try:\n  curl -H 'Authorization: Bearer %s' %s/networks\n", key.Secret, key.Core)
		})
	})
}

// reach returns in words which networks a key opens.
func reach(k store.APIKey) string {
	network, end := "all networks", "for ever"
	if k.NetworkID != 0 {
		network = fmt.Sprintf("network %d", k.NetworkID)
	}
	if k.ExpiresAt != 0 {
		end = "until " + when(k.ExpiresAt)
	}
	return strings.Join(k.Scopes, ", ") + "; " + network + "; " + end
}

func showKeys(w io.Writer, keys []store.APIKey) {
	fmt.Fprintln(w, "ID\tNAME\tSCOPES\tNETWORK\tCREATED\tEXPIRES\tLAST USED")
	for _, k := range keys {
		network := "all"
		if k.NetworkID != 0 {
			network = fmt.Sprint(k.NetworkID)
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\t%s\n", k.ID, k.Name, strings.Join(k.Scopes, ","), network, when(k.CreatedAt), when(k.ExpiresAt), when(k.LastUsed))
	}
}
