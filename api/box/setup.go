package box

import (
	"context"
	"net"
	"strconv"

	"sensegate/api/auth"
	"sensegate/store"
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

// Page returns the address of the app at a name or an IP address.
func (r Reach) Page(host string) string {
	return "http://" + net.JoinHostPort(host, strconv.Itoa(r.Port)) + "/"
}

// Best returns the address of the app that is best told to somebody, "" when there is none.
func (r Reach) Best() string {
	switch {
	case r.Port == 0:
		return ""
	case r.Alone:
		return r.Page("127.0.0.1")
	case len(r.Addresses) > 0:
		return r.Page(r.Addresses[0])
	}
	return ""
}

// Reachable returns how the household reaches the appliance.
func (b *Box) Reachable() Reach {
	if b.Reach == nil {
		return Reach{}
	}
	return b.Reach()
}

// Setup is a new setup code, which is shown once, and where it is used.
type Setup struct {
	Code string `json:"setup_code"`
	Reach
	Link string `json:"link,omitempty"` // opens the app and fills the code in
}

// Linked returns a setup with its link. The code stands in the fragment, which a browser does
// not send; the host is an IP address, because some phones cannot resolve names of the local
// network.
func (s Setup) Linked() Setup {
	if len(s.Addresses) > 0 {
		s.Link = s.Page(s.Addresses[0]) + "#setup=" + s.Code
	}
	return s
}

// SetupCode makes a setup code, which replaces the earlier one.
func (b *Box) SetupCode(ctx context.Context, by store.Actor) (made Setup, err error) {
	err = b.change(ctx, by, "setup_code_made", "", func(ctx context.Context, _ *store.AuditNote) (err error) {
		made.Code, err = auth.NewSetupCode(ctx, b.DB)
		return err
	})
	made.Reach = b.Reachable()
	return made.Linked(), err
}
