package browser_test

import (
	"net/http"
	"strings"
	"testing"

	"sensegate/api/apitest"
	"sensegate/motion/uplink"
)

// TestUplinkOfTheApp: one is tried, made, shown without its password, tried again and removed; mistakes
// are told by their key.
func TestUplinkOfTheApp(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	house := `{"name":"house","url":"mqtt://broker.example","username":"box","password":"correct horse","networks":[1],"uses":["home_assistant","events"]}`
	apitest.WantProblem(t, b.keeper.ask(http.MethodPost, "/admin/uplinks", strings.Replace(house, "mqtt:", "ftp:", 1)), http.StatusUnprocessableEntity, "url: ")
	apitest.WantProblem(t, b.keeper.ask(http.MethodPost, "/admin/uplinks", strings.Replace(house, "events", "news", 1)), http.StatusUnprocessableEntity, "use: ")
	type tried struct {
		Steps []struct {
			Code string
			OK   bool
			Why  string
			Text string
		}
	}
	wantRefused := func(got tried) {
		t.Helper()
		if len(got.Steps) != 2 || !got.Steps[0].OK || got.Steps[1].OK || got.Steps[1].Code != "login" || got.Steps[1].Why != "password" {
			t.Errorf("tried: %+v, want a login that is refused", got.Steps)
		}
	}
	wantRefused(apitest.Want[tried](t, b.keeper.ask(http.MethodPost, "/admin/uplinks/test", house), 200))
	b.keeper.done(http.MethodPost, "/admin/uplinks", house)
	apitest.WantProblem(t, b.keeper.ask(http.MethodPost, "/admin/uplinks", house), http.StatusUnprocessableEntity, "name: ")
	wantRefused(apitest.Want[tried](t, b.keeper.ask(http.MethodPost, "/admin/uplinks/house/test", ""), 200))
	type shown struct {
		Uplinks []struct {
			Name, To   string
			Uses       []string
			Networks   []int
			Configured bool
		}
	}
	a := b.keeper.ask(http.MethodGet, "/admin/uplinks", "")
	list := apitest.Want[shown](t, a, 200).Uplinks
	if len(list) != 1 || list[0].Name != "house" || list[0].To != "broker.example:1883" || len(list[0].Uses) != 2 || len(list[0].Networks) != 1 || list[0].Configured {
		t.Errorf("uplinks: %+v", list)
	}
	if strings.Contains(string(a.Body), "correct horse") {
		t.Error("the password is shown")
	}
	for _, u := range b.boxes.Uplinks.List() {
		c := u.Config
		c.ClientID = "a"
		if err := b.boxes.Uplinks.Change(t.Context(), "house", c); err != nil {
			t.Fatal(err)
		}
	}
	b.keeper.done(http.MethodPut, "/admin/uplinks/house", strings.Replace(strings.Replace(house, `"password":"correct horse",`, "", 1), "events", "live", 1))
	changed := b.boxes.Uplinks.List()[0]
	if uses := changed.Config.Use; !changed.HasPassword || changed.Config.ClientID != "a" || len(uses) != 2 || uses[1] != uplink.Live {
		t.Errorf("changed: %+v, want a use more, and the password and the client id of before", changed)
	}
	apitest.WantProblem(t, b.keeper.ask(http.MethodPut, "/admin/uplinks/none", house), http.StatusNotFound, "")
	b.keeper.done(http.MethodDelete, "/admin/uplinks/house", "")
	apitest.WantProblem(t, b.keeper.ask(http.MethodDelete, "/admin/uplinks/house", ""), http.StatusNotFound, "")
}
