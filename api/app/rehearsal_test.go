package app_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sensegate/api/apitest"
	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/engine"
	"sensegate/motion/home"
	"sensegate/store"
)

// rehearsal is a household with one of everything that the examples name.
type rehearsal struct {
	apitest.Rehearsal
	h                               *household
	expired, revoked, wrongAudience string
}

// examplePassword is the one of the examples.
const examplePassword = "correct horse battery"

func newRehearsal(t *testing.T) *rehearsal {
	t.Helper()
	var ago atomic.Int64
	h := newHousehold(t, func(o *store.Options, _ *engine.Options) {
		o.Now = func() time.Time { return time.Now().Add(-time.Duration(ago.Load())) }
	})
	h.reportStatus()
	r := &rehearsal{h: h, Rehearsal: apitest.Rehearsal{
		Client: h.Client, Interface: table(), Token: func(string) string { return h.owner.token },
		Refused: map[string]int{
			"POST /sessions/sso/{provider}": http.StatusNotFound, // none is configured
			"POST /users/{id}/identities":   http.StatusNotFound,
			"POST /network_memberships":     http.StatusConflict, // it has an owner
		},
	}}
	r.furnish()
	r.makeTokens(&ago)
	return r
}

// makeTokens makes tokens that must not be let in.
func (r *rehearsal) makeTokens(ago *atomic.Int64) {
	r.T.Helper()
	ago.Store(int64(2 * time.Hour))
	r.expired, _ = r.tokens()
	ago.Store(0)
	r.revoked, _ = r.tokens()
	if a := r.As(r.revoked, http.MethodPost, "/logout", ""); a.Status != http.StatusNoContent {
		r.T.Fatalf("logout: %d %s", a.Status, a.Body)
	}
	_, r.wrongAudience = r.tokens()
}

// furnish makes what the examples name and says under which id.
func (r *rehearsal) furnish() {
	r.T.Helper()
	h := r.h
	if _, err := h.accounts.SetPassword(r.T.Context(), h.owner.Email, examplePassword); err != nil {
		r.T.Fatal(err)
	}
	h.owner.token, _ = r.tokens() // setting a password ended the sessions
	h.integrate()
	h.invite("guest@example.com")
	phone := h.register(h.owner, `{"token":"a token of a phone","platform":"ios"}`)
	apitest.Want[home.Location](r.T, h.as(h.owner, http.MethodPost, "/default_locations", `{"name":"Attic"}`), 200)
	event, alert := h.detect(0), h.createAlert()
	identity := store.Identity{Issuer: "https://id.example.com", Subject: "jdoe"}
	h.update(func(tx *store.Tx) error { return tx.AddIdentity(h.owner.ID, identity) })
	h.ask("unknown", "csi-a-02aa00000310") // waits for its master
	for _, call := range [][2]string{
		{"/users", `{"email":"new@example.com","password":"correct horse battery"}`}, {"/password_resets", `{"email":"mum@example.com"}`},
	} {
		if a := r.As("", http.MethodPost, call[0], call[1]); a.Status >= 300 {
			r.T.Fatalf("%s: %d %s", call[0], a.Status, a.Body)
		}
	}
	second := auth.Registration{Email: "second@example.com", Password: examplePassword, From: netip.MustParseAddr("192.0.2.1")}
	if _, err := h.accounts.Register(r.T.Context(), second); err != nil {
		r.T.Fatal(err)
	}
	_, refresh := r.tokens()
	_, config, _ := strings.Cut(strings.TrimPrefix(h.configPath(), "/"), "/")
	config, _, _ = strings.Cut(config, "?")
	master := fmt.Sprint(r.master())
	r.IDs = map[string]string{
		"17": fmt.Sprint(h.home), "1042": fmt.Sprint(h.network), "9": fmt.Sprint(h.owner.ID), "133": master, "134": master,
		"31": fmt.Sprint(h.membershipOf(h.member, h.home).ID), "12": fmt.Sprint(phone.ID), "23": config,
		"01976b3d-1c44-7a0e-9d0b-5f0e8a77c301": event.ID, "01976b40-0d4e-7c11-9f02-77aa10c2e0b1": alert.UUID,
		"7d1f0c6a4b9e2d835f60c1a7b8e94d20": identity.ID(),
	}
	own := fmt.Sprint(h.membershipOf(h.owner, h.home).ID) // handed over to themselves, it stays theirs
	member := map[string]string{"5": fmt.Sprint(h.member.ID)}
	linked := h.mails()[slices.IndexFunc(h.mails(), func(m store.Mail) bool { return m.Kind == "invite" })]
	r.RowIDs = map[string]map[string]string{
		"PATCH /network_memberships/{id}": {"31": own},
		"DELETE /users/{id}":              {"10": fmt.Sprint(h.member.ID)},
		"POST /universal-alert":           member,
		"PATCH /universal-alert/{uuid}":   member,
		"DELETE /invitations/{id}":        {"5": fmt.Sprint(h.open()[0].ID)},
		"GET /outbox/{id}/qr":             {"7": fmt.Sprint(linked.ID)},
		"PATCH /sessions":                 tokenParts(refresh),
		"GET /confirmations":              tokenParts(h.mailedToken("confirm", "new@example.com")),
		"PUT /confirmations":              tokenParts(h.mailedToken("confirm", "second@example.com")),
		"PUT /password_resets":            tokenParts(h.mailedToken("reset", "mum@example.com")),
	}
}

// tokenParts maps the words of the examples' token to those of a real one.
func tokenParts(token string) map[string]string {
	parts := strings.Split(token, ".")
	return map[string]string{"eyJhbGciOiJIUzI1NiJ9": parts[0], "e30": parts[1], "c2lnbmF0dXJl": parts[2]}
}

// tokens starts a session of the owner.
func (r *rehearsal) tokens() (token, refresh string) {
	r.T.Helper()
	tokens, err := r.h.sessions.Start(r.T.Context(), r.h.owner.ID, true)
	if err != nil {
		r.T.Fatal(err)
	}
	return tokens.Token, tokens.RefreshToken
}

// master returns the id of the first home's master node.
func (r *rehearsal) master() motion.NodeID {
	r.T.Helper()
	var info struct {
		Nodes []struct{ ID motion.NodeID }
	}
	a := r.As(r.h.owner.token, http.MethodGet, "/networks/info", "")
	if err := json.Unmarshal(a.Body, &info); err != nil || len(info.Nodes) == 0 {
		r.T.Fatalf("%d %s", a.Status, a.Body)
	}
	return info.Nodes[0].ID
}

func (r *rehearsal) tokenOf(caller string) string {
	switch caller {
	case "anyone":
		return ""
	case "expired":
		return r.expired
	case "revoked":
		return r.revoked
	case "wrong audience":
		return r.wrongAudience
	case "user":
		return r.h.nobody.token
	case "installer":
		return r.installer()
	case "member":
		return r.h.member.token
	case "owner":
		return r.h.owner.token
	}
	return r.h.neighbour.token
}

// installer returns the token of an installer of the first home.
func (r *rehearsal) installer() string {
	r.T.Helper()
	robin := r.h.person("robin@example.org")
	r.h.update(func(tx *store.Tx) error {
		house, err := tx.Home(r.h.home)
		if err != nil {
			return err
		}
		let := home.Installer{User: robin.ID, By: r.h.owner.ID, Since: tx.Now(), Until: tx.Now().Add(3600)}
		return errors.Join(house.AddInstaller(let), tx.PutHome(house))
	})
	return robin.token
}

func TestExamplesAreAccepted(t *testing.T) {
	t.Parallel()
	r := newRehearsal(t)
	last := ""
	r.Token = func(row string) string { // a new one, since some rows end sessions
		if row != "DELETE /users/{id}" {
			last, _ = r.tokens()
		}
		return last
	}
	r.Creates = []apitest.Creation{{Row: "PATCH /sessions"}}           // before a login ends its session
	r.Refused["POST /confirmation_mails"] = http.StatusTooManyRequests // after the other mails of this minute
	ends := []string{"DELETE /sensors/integrations", "DELETE /networks/{id}", "DELETE /users/{id}"}
	for _, route := range table().Routes {
		if row := route.Method + " " + route.Path; route.Method == http.MethodDelete && !slices.Contains(ends, row) {
			r.Last = append(r.Last, row)
		}
	}
	r.Last = append(r.Last, ends...)
	r.Refused["DELETE /users/{id}"] = http.StatusUnauthorized // gone with their only network
	r.Check()
}
