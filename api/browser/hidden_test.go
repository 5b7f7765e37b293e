package browser_test

import (
	"fmt"
	"net/http"
	"testing"

	"sensegate/api/apitest"
	"sensegate/api/browser"
	"sensegate/motion"
	"sensegate/store"
)

// place puts a leaf of the first home into a room, as its owner does.
func (b *box) place(id motion.NodeID, room string) {
	b.T.Helper()
	b.owner.done(http.MethodPut, fmt.Sprintf("/devices/%d", id), fmt.Sprintf(`{"kind":"leaf","room":%q}`, room))
}

// flag marks the speaker as one that moves about.
func (b *box) flag() {
	b.T.Helper()
	b.update(func(tx *store.Tx) error {
		l, err := tx.LeafByMAC(b.network, speaker)
		if err != nil {
			return err
		}
		l.Mobile = true
		_, err = tx.PutLeaf(l)
		return err
	})
	if err := b.engine.State.Reload(b.T.Context(), b.network); err != nil {
		b.T.Fatal(err)
	}
}

// TestHiddenLeafIsUnknownToInstallers: in every row, as one that there is not. It is so for one that
// nobody has placed, one that was placed nowhere, and one that is flagged as moving about.
func TestHiddenLeafIsUnknownToInstallers(t *testing.T) {
	t.Parallel()
	for name, hide := range map[string]func(*box, motion.NodeID){
		"never placed":   func(*box, motion.NodeID) {},
		"placed nowhere": func(b *box, id motion.NodeID) { b.place(id, "Hall"); b.place(id, "") },
		"flagged":        func(b *box, id motion.NodeID) { b.place(id, "Hall"); b.flag() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			b.install(b.nobody, 3600)
			id := b.leaf(b.network, 0x31, "phone")
			hide(b, id)
			b.hear(100, func(int) float64 { return 0.02 })
			b.look()
			path := fmt.Sprintf("/devices/%d", id)
			b.nobody.refused(404, http.MethodPut, path, `{"network_id":1,"kind":"leaf","room":"Hall","name":"x14"}`)
			b.nobody.refused(404, http.MethodDelete, path+"?network_id=1&kind=leaf", "")
			link := b.owner.links()[0].ID
			b.nobody.refused(404, http.MethodGet, "/links/"+link+"/history?network_id=1", "")
			hidden := b.nobody.setUp(http.MethodPost, "/calibrations", fmt.Sprintf(`{"network_id":1,"link":%q}`, link))
			apitest.WantProblem(t, hidden, 404, "not sensed")
			b.nobody.refused(404, http.MethodDelete, "/calibrations?network_id=1&link="+link, "")
			if list := b.nobody.links(); len(list) != 0 {
				t.Errorf("links %+v", list)
			}
			if list := apitest.Want[struct{ Calibrations []any }](t, b.nobody.setUp(http.MethodGet, "/calibrations", ""), 200).Calibrations; len(list) != 0 {
				t.Errorf("calibrations %v", list)
			}
			list := b.nobody.setupDevices()
			if d := list.of(speaker.String()); d.DeviceID != "" || list.of(master).Rate != nil {
				t.Errorf("devices %+v", list)
			}
			if own := b.owner.setupDevices(); own.of(speaker.String()).ID == nil || own.of(master).Rate == nil {
				t.Errorf("the owner sees %+v", own)
			}
			b.wantNoPhoneInstalling(t)
			b.owner.done(http.MethodDelete, path+"?kind=leaf", "") // it comes back as a new one
			b.leaf(b.network, 0x31, "phone")
			if d := b.nobody.setupDevices().of(speaker.String()); d.DeviceID != "" {
				t.Errorf("after its removal %+v", d)
			}
		})
	}
}

// wantNoPhoneInstalling looks at the installer's stream and walk test, which show no link.
func (b *box) wantNoPhoneInstalling(t *testing.T) {
	t.Helper()
	test := apitest.Want[browser.WalkTest](t, b.nobody.walk(http.MethodPost, "Hall"), 201)
	b.hear(2, func(int) float64 { return 0.4 })
	ws, _, err := b.nobody.watchInstallation()
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	until(t, ws, func(m browser.Installation) bool {
		if len(m.Live) > 0 || m.Links != nil && len(*m.Links) > 0 {
			t.Errorf("the stream shows %+v", m)
		}
		return m.Walk != nil
	})
	test = apitest.Want[browser.WalkTest](t, b.nobody.walk(http.MethodGet, ""), 200)
	if len(test.Rooms[0].Links) != 0 {
		t.Errorf("the walk test shows %+v", test.Rooms)
	}
	if own := apitest.Want[browser.WalkTest](t, b.owner.walk(http.MethodGet, ""), 200); len(own.Rooms) == 0 {
		t.Errorf("the owner sees %+v", own)
	}
	apitest.Want[any](t, b.nobody.walk(http.MethodDelete, ""), 200)
}
