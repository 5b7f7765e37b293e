package app_test

import (
	"flag"
	"fmt"
	"net/http"
	"net/netip"
	"testing"

	"sensegate/api/apitest"
	"sensegate/motion/home"
	"sensegate/store"
)

var (
	requests = flag.Int("requests", 4000, "requests that the generator sends")
	seed     = flag.Uint64("seed", 1, "seed of the generator's first round")
)

// roundLength is how many requests one appliance gets: they change it.
const roundLength = 500

// TestNoInputBreaksTheAppliance sends generated requests, valid and invalid ones,
// to every documented operation. None may end in a 5xx, each must have the status
// class that fits and an answer as documented, and the appliance must be well
// afterwards: it answers and its database is consistent. TestMain sees to it that
// no goroutine is left.
func TestNoInputBreaksTheAppliance(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for round := range uint64(*requests+roundLength-1) / roundLength {
		t.Run(fmt.Sprint("seed ", *seed+round), func(t *testing.T) {
			t.Parallel()
			h := newHousehold(t)
			g := newGenerator(h, *seed+round)
			for range roundLength {
				g.Shoot()
			}
			h.wantWell()
		})
	}
}

// newGenerator returns a generator of requests by the owner of the first home.
func newGenerator(h *household, seed uint64) *apitest.Generator {
	h.reportStatus()
	g := apitest.NewGenerator(h.Client, h.server, seed)
	g.Token, g.Weak = h.standingToken, []string{h.member.token, h.neighbour.token, h.nobody.token}
	judged, throttled := []int{401, 429}, []int{429} // a secret in the body; mails
	g.May = map[string][]int{
		"POST /sessions": judged, "PATCH /sessions": judged, "POST /sessions/sso/{provider}": judged, "GET /confirmations": judged, "PUT /confirmations": judged, "PUT /password_resets": judged,
		"POST /password_resets": throttled, "POST /users": throttled, "POST /confirmations": throttled, "POST /confirmation_mails": throttled,
		"POST /member_invites": throttled, "PUT /users/{id}": judged, "PATCH /network_memberships/{id}": judged,
		"DELETE /users/{id}": judged, "DELETE /networks/{id}": judged,
		"POST /users/{id}/identities": judged, "DELETE /users/{id}/identities/{identity_id}": judged,
	}
	g.Learn("network_id", float64(h.home), float64(h.home), float64(h.home), float64(h.other), 77.0)
	g.Learn("id", float64(h.home), float64(h.owner.ID), float64(h.member.ID))
	g.Learn("guardian_id", guardianID)
	g.Learn("hub_thing_name", hubThing)
	g.Learn("thing_name", hubThing, doorThing, bathThing)
	g.Learn("bssid", "02:aa:00:00:01:12")
	g.Learn("mac_address", kitchen.String())
	g.Learn("mac", kitchen.String())
	g.Learn("email", h.owner.Email, h.member.Email, "new@example.com")
	return g
}

// standingToken returns a token of the owner: a new one when its session has ended, that of
// the successor when the account has, and that of a new owner when nobody lives there.
func (h *household) standingToken() string {
	h.T.Helper()
	if _, err := h.sessions.Check(h.T.Context(), h.owner.token, netip.Addr{}); err == nil {
		return h.owner.token
	}
	h.update(func(tx *store.Tx) error {
		if _, err := tx.User(h.owner.ID); err == nil {
			return nil
		}
		one, found, err := tx.HomeOfNetwork(h.network)
		if err != nil || !found { // disowned
			return err
		}
		h.home = one.ID
		members, err := tx.MembershipsOfHome(h.home)
		for _, m := range members {
			if m.Role == home.OwnerRole {
				h.owner.User, err = tx.User(m.User)
			}
		}
		return err
	})
	tokens, err := h.sessions.Start(h.T.Context(), h.owner.ID, true)
	if err == nil {
		h.owner.token = tokens.Token
		return h.owner.token
	}
	h.owner = h.person(fmt.Sprintf("successor-of-%d@example.com", h.owner.ID))
	h.update(func(tx *store.Tx) error {
		one, err := tx.Home(h.home)
		if err != nil || one.Claimed() { // disowned, or somebody claimed it
			return nil
		}
		one.ClaimedAt = tx.Now()
		if err := tx.PutHome(one); err != nil {
			return err
		}
		_, err = tx.CreateMembership(home.Membership{Role: home.OwnerRole, User: h.owner.ID, Home: h.home})
		return err
	})
	return h.owner.token
}

// wantWell checks the appliance after its requests; its database is checked when
// it is closed.
func (h *household) wantWell() {
	h.T.Helper()
	if a := h.as(person{}, http.MethodGet, "/version", ""); a.Status != http.StatusOK {
		h.T.Errorf("afterwards: %d %s", a.Status, a.Body)
	}
	http.DefaultClient.CloseIdleConnections()
	if err := h.db.Check(h.T.Context()); err != nil {
		h.T.Error(err)
	}
}
