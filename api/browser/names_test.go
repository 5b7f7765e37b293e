package browser_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"sensegate/api/apitest"
	"sensegate/motion"
	"sensegate/motion/home"
	"sensegate/store"
)

// unreadable are names that nobody can read as they are.
var unreadable = map[string]string{
	"blanks": " \u00a0 ", "control": "a\x00b", "line": "a\nb", "direction": "\u202eabc", "isolate": "a\u2066b", "zero width": "a\u200bb", "filler": "\u3164",
}

// quoted returns a name as JSON.
func quoted(name string) string {
	text, _ := json.Marshal(name)
	return string(text)
}

// TestNamesThatNobodyCanReadAreRefused: wherever a person types one.
func TestNamesThatNobodyCanReadAreRefused(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	node, leaf := b.nodeOf(master), b.leaf(b.network, 0x31, "speaker")
	b.owner.done(http.MethodPut, fmt.Sprintf("/devices/%d", leaf), `{"network_id":1,"kind":"leaf","room":"Kitchen"}`)
	for what, raw := range unreadable {
		name := quoted(raw)
		for _, try := range []struct{ says, method, path, body string }{
			{"body.name", http.MethodPost, "/setup/claim", `{"network_id":2,"timezone":"UTC","name":` + name + `}`},
			{"body.name", http.MethodPut, fmt.Sprintf("/devices/%d", node), `{"network_id":1,"kind":"node","name":` + name + `}`},
			{"body.room", http.MethodPut, fmt.Sprintf("/devices/%d", leaf), `{"network_id":1,"kind":"leaf","room":` + name + `}`},
			{"body.name", http.MethodPut, "/rooms/Kitchen", `{"name":` + name + `}`},
			{"body.room", http.MethodPost, "/walk-tests", `{"network_id":1,"room":` + name + `}`},
			{"body.first_name", http.MethodPost, "/join-account", `{"code":"` + b.owner.code("") + `","email":"new@example.org","password":"` + password + `","first_name":` + name + `}`},
		} {
			a := b.owner.ask(try.method, try.path, try.body)
			if apitest.WantProblem(t, a, 422, try.says); !strings.Contains(string(a.Body), `"name"`) {
				t.Errorf("%s: %s %s: %s", what, try.method, try.path, a.Body)
			}
		}
		for _, try := range []struct{ says, method, path, body string }{
			{"body.name", http.MethodPut, "/networks/1", `{"name":` + name + `}`},
			{"body.first_name", http.MethodPut, fmt.Sprintf("/users/%d", b.owner.ID), `{"first_name":` + name + `}`},
			{"body.last_name", http.MethodPost, "/users", `{"email":"new@example.org","password":"` + password + `","last_name":` + name + `}`},
			{"friendly_name", http.MethodPut, "/leaf?network_id=1", `{"mac_address":"02:bb:00:00:00:31","friendly_name":` + name + `}`},
			{"location", http.MethodPatch, "/devices?network_id=1", fmt.Sprintf(`[{"node_id":%d,"location":%s,"friendly_name":"Gateway"}]`, node, name)},
			{"name", http.MethodPost, "/default_locations?network_id=1", `{"name":` + name + `}`},
		} {
			if a := b.owner.askApp(try.method, try.path, try.body); a.Status != 422 || !strings.Contains(string(a.Body), try.says) {
				t.Errorf("%s: App %s %s: %d %s", what, try.method, try.path, a.Status, a.Body)
			}
		}
	}
}

// TestOlderNamesStay: what was stored before names were looked at is shown, and is no obstacle.
func TestOlderNamesStay(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	leaf := b.leaf(b.network, 0x31, "speaker")
	old, filler := "\u202eabc\x00", "\u3164"
	b.update(func(tx *store.Tx) error {
		house, err := tx.Home(b.home)
		if err != nil {
			return err
		}
		house.Name = old
		u := b.owner.User
		u.FirstName = old
		l, err := tx.LeafByMAC(b.network, motion.MAC{2, 0xbb, 0, 0, 0, 0x31})
		if err != nil {
			return err
		}
		l.FriendlyName = filler
		if _, err := tx.PutLeaf(l); err != nil {
			return err
		}
		if err := tx.PutUser(u); err != nil {
			return err
		}
		return tx.PutHome(house)
	})
	own := fmt.Sprintf("/users/%d", b.owner.ID)
	apitest.Want[any](t, b.owner.askApp(http.MethodPut, own, `{"first_name":`+quoted(old)+`,"last_name":"Doe"}`), 200)
	apitest.Want[any](t, b.owner.askApp(http.MethodPut, "/networks/1", `{"name":`+quoted(old)+`,"address":"1 Main St"}`), 200)
	b.owner.done(http.MethodPut, fmt.Sprintf("/devices/%d", leaf), `{"network_id":1,"kind":"leaf","room":"Kitchen","name":`+quoted(filler)+`}`)
	u := apitest.Want[home.User](t, b.owner.askApp(http.MethodGet, own, ""), 200)
	if homes := b.owner.setup().Homes; u.FirstName != old || u.LastName != "Doe" || homes[0].Name != old {
		t.Errorf("user %+q %q, home %+q", u.FirstName, u.LastName, homes[0].Name)
	}
	if d := b.owner.setupDevices().of("02:bb:00:00:00:31"); d.Name != filler || d.Room != "Kitchen" {
		t.Errorf("leaf %+v", d)
	}
}
