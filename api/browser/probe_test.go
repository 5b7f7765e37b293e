package browser_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/gorilla/websocket"

	"sensegate/api"
	"sensegate/api/apitest"
	"sensegate/api/auth"
	"sensegate/api/browser"
	"sensegate/api/caller"
	"sensegate/api/live"
	"sensegate/motion/engine/state"
	"sensegate/store"
)

// probe is an interface with a websocket for those who set up a home.
func (b *box) probe() api.Interface {
	find := &caller.Finder{DB: b.db, Sessions: b.sessions, Household: b.people}
	watch := func(_ context.Context, who auth.Installer, _ *browser.HomeQuery) (*live.Stream, error) {
		frames, err := b.engine.Sensing.Live(who.Network)
		if err != nil {
			return nil, err
		}
		return live.NewStream(live.NetworkKey(who.Network), frames, func(state.Message) (*live.Frame, error) {
			return live.Prepare([]byte("{}")).Frame, nil
		}).UntilGone(), nil
	}
	return api.Interface{
		Base: "/probe", Title: "Probe", Version: "1-0-0", Principals: find.Principals("halves", "Both halves of a session"),
		Routes: api.Group("Probe", api.Live("/installation", api.Guarded("installer", watch), "What somebody who sets up a home watches")),
	}
}

// opened opens the websocket of the probe.
func (p *tab) opened() *websocket.Conn {
	p.box.T.Helper()
	ws, _, err := p.box.watchAt("/probe/installation?network_id=1", p.ticket())
	if err != nil {
		p.box.T.Fatal(err)
	}
	p.box.T.Cleanup(func() { ws.Close() })
	return ws
}

// closes reads a websocket to its end and wants a code.
func (b *box) closes(what string, ws *websocket.Conn, code int) {
	b.T.Helper()
	for {
		_, _, err := ws.ReadMessage()
		if err == nil {
			continue
		}
		if !websocket.IsCloseError(err, code) {
			b.T.Errorf("%s: it ended with %v, want %d", what, err, code)
		}
		return
	}
}

func TestWhatAnInstallerHasOpenClosesAtOnce(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	for name, stranger := range map[string]*tab{"a member": b.member, "a neighbour": b.neighbour, "nobody": b.nobody} {
		want := map[bool]int{true: 403, false: 404}[stranger == b.member]
		if _, answer, err := b.watchAt("/probe/installation?network_id=1", stranger.ticket()); err == nil || answer.StatusCode != want {
			t.Errorf("%s watches: %v", name, err)
		}
	}
	robin := b.installer("robin@example.org")
	path := fmt.Sprintf("/installers/%d?network_id=1", robin.ID)
	ws := robin.opened()
	b.owner.done(http.MethodDelete, path, "")
	b.closes("removed by the owner", ws, 4404)

	robin = b.installer("robin@example.org")
	ws = robin.opened()
	b.update(func(tx *store.Tx) error {
		house, err := tx.Home(b.home)
		house.Installers[0].Until = tx.Now()
		return errors.Join(err, tx.PutHome(house))
	})
	if err := b.people.EndInstallations(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.closes("its time is over", ws, 4404)

	robin = b.installer("robin@example.org")
	ws = robin.opened()
	apitest.Want[any](t, robin.ask(http.MethodPost, "/join", `{"code":"`+b.owner.joinCode()+`"}`), 200)
	b.closes("a member from now on", ws, 4403)

	ws = b.owner.opened()
	apitest.Want[any](t, b.nobody.ask(http.MethodPost, "/join", `{"code":"`+b.owner.code(`{"role":"owner"}`)+`"}`), 200)
	b.closes("the owner before, who leaves", ws, 4404)
}
