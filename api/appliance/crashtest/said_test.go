package crashtest

import (
	"encoding/json"
	"fmt"
	"io"

	"sensegate/motion/home"
	"sensegate/store"
	"sensegate/store/storetest"
)

// tell writes a line for each record that people own, or that says what they did, but for
// what changes by itself.
func tell(tx *store.Tx, out io.Writer) error {
	var failed error
	line := func(kind string, record any, err error) {
		raw, also := json.Marshal(record)
		if err == nil {
			err = also
		}
		if err != nil && failed == nil {
			failed = fmt.Errorf("read %s: %w", kind, err)
		}
		fmt.Fprintf(out, "%s %s\n", kind, raw)
	}
	networks, err := tx.Networks()
	line("networks", len(networks), err)
	for _, n := range networks {
		n.LastHeard = 0
		if n.UpdatedAt > eldest { // by a migration
			n.UpdatedAt = 0
		}
		line("network", n, nil)
		leafs, err := tx.Leafs(n.ID)
		line("leafs", leafs, err)
		rules, err := tx.Alerts(n.ID)
		for _, a := range rules {
			line("alert", a.Rule, nil)
		}
		line("alerts", len(rules), err)
		events, err := storetest.Events(tx, n.ID)
		for _, e := range events {
			if e.TS < eldest {
				line("event", e, nil)
			}
		}
		line("events", nil, err)
	}
	keys, err := tx.APIKeys()
	for _, k := range keys {
		k.LastUsed = 0
		line("key", k, nil)
	}
	line("keys", len(keys), err)
	users, err := tx.Users()
	line("users", len(users), err)
	for _, u := range users {
		line("user", u, nil)
		password, err := tx.Password(u.ID)
		line("password", password, err)
		meta, err := tx.UserMeta(u.ID)
		line("user meta", meta, err)
		phones, err := tx.MobilesOfUser(u.ID)
		line("phones", phones, err)
	}
	homes, err := tx.Homes()
	line("homes", len(homes), err)
	for _, h := range homes {
		tellHome(tx, h, line)
	}
	return failed
}

func tellHome(tx *store.Tx, h home.Home, line func(string, any, error)) {
	h.UpdatedAt, h.OwnerUntold = 0, false // an owner whom a migration has made is told by the start
	if h.CreatedAt > eldest.Stamp() {
		h.CreatedAt = 0
	}
	line("home", h, nil)
	members, err := tx.MembershipsOfHome(h.ID)
	for i := range members {
		members[i].UpdatedAt, members[i].OwnerSince = 0, 0
	}
	line("members", members, err)
	invitations, err := tx.InvitationsOfHome(h.ID)
	line("invitations", invitations, err)
	meta, err := tx.HomeMeta(h.ID)
	line("home meta", meta, err)
}
