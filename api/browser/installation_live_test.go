package browser_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"sensegate/api/apitest"
	"sensegate/api/browser"
)

// watchInstallation opens the stream of the first home, with a ticket of its own.
func (p *tab) watchInstallation() (*websocket.Conn, *http.Response, error) {
	p.box.T.Helper()
	dialer := websocket.Dialer{Subprotocols: []string{"sensegate.v1", "ticket." + p.ticket()}}
	at := fmt.Sprintf("ws://%s/web/v1/installation?network_id=%d", p.box.Address, p.box.home)
	return dialer.DialContext(p.box.T.Context(), at, http.Header{"Origin": {"http://" + p.box.Address}})
}

// until reads messages until one is as wanted, a minute at most, and returns it.
func until(t *testing.T, ws *websocket.Conn, wanted func(browser.Installation) bool) browser.Installation {
	t.Helper()
	if err := ws.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	for {
		_, raw, err := ws.ReadMessage()
		if err != nil {
			t.Fatalf("the message that is wanted does not come: %v", err)
		}
		var m browser.Installation
		if err := json.Unmarshal(raw, &m); err != nil {
			t.Fatal(err)
		}
		if wanted(m) {
			return m
		}
	}
}

func TestInstallationIsToldLive(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.install(b.nobody, 3600)
	for who, c := range map[string]struct {
		*tab
		status int
	}{"a member": {b.member, 403}, "a stranger": {b.neighbour, 404}} {
		if _, answer, err := c.watchInstallation(); err == nil || answer.StatusCode != c.status {
			t.Errorf("%s: %v, want %d", who, err, c.status)
		}
	}
	ws, _, err := b.nobody.watchInstallation()
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	first := until(t, ws, func(browser.Installation) bool { return true })
	if first.Devices == nil || len(first.Devices.Devices) != 1 || first.Links == nil || first.Walk == nil || len(first.Live) != 0 {
		t.Errorf("first %+v, want everything", first)
	}
	id := b.leaf(b.network, 0x31, "speaker")
	if a := b.owner.ask(http.MethodPut, fmt.Sprintf("/devices/%d", id), `{"kind":"leaf","room":"Kitchen"}`); a.Status != 204 {
		t.Fatal(a.Status)
	}
	until(t, ws, func(m browser.Installation) bool { return m.Devices != nil && len(m.Devices.Devices) == 2 })
	b.hear(100, func(int) float64 { return 0.02 })
	heard := until(t, ws, func(m browser.Installation) bool { return m.Links != nil && len(*m.Links) == 1 })
	if len(heard.Live) != 0 {
		t.Errorf("links are told live without a walk test: %+v", heard.Live)
	}
	apitest.Want[any](t, b.nobody.walk(http.MethodPost, "Kitchen"), 201)
	until(t, ws, func(m browser.Installation) bool { return m.Walk != nil && m.Walk.Running })
	b.hear(2, func(int) float64 { return 0.02 })
	walked := until(t, ws, func(m browser.Installation) bool { return len(m.Live) == 1 })
	if l := walked.Live[0]; l.Room != "Kitchen" || l.Scale != "power" || l.Threshold == 0 || l.ID != (*heard.Links)[0].ID {
		t.Errorf("live %+v", l)
	}
	apitest.Want[any](t, b.nobody.walk(http.MethodDelete, ""), 200)
	until(t, ws, func(m browser.Installation) bool { return m.Walk != nil && !m.Walk.Running && len(m.Live) == 0 })
	b.install(b.nobody, -1)
	for err == nil {
		_, _, err = ws.ReadMessage()
	}
	if !websocket.IsCloseError(err, 4404) {
		t.Errorf("the installation is over: %v, want 4404", err)
	}
}
