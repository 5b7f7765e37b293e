package browser_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"sensegate/api/apitest"
	"sensegate/motion"
	"sensegate/motion/home"
	"sensegate/store"
)

// installationVerdicts are the rows of TestAuthorizationMatrix about setting a home up. An installer is
// not among its callers: see TestInstallersSetHomesUp.
func installationVerdicts() map[string]string {
	const strangers = "11144"
	const mine, unknown = strangers + "+3+", strangers + "434"
	return map[string]string{
		"GET /devices": mine, "POST /devices/adoption": mine, "DELETE /devices/adoption": mine,
		"POST /devices/{entry}/adopt": unknown, "PUT /devices/{id}": unknown, "DELETE /devices/{id}": unknown, // no such device
		"GET /installation": strangers + "w3w", // wants a websocket
		"GET /links":        mine, "GET /links/{id}/history": unknown,
		"GET /calibrations": mine, "POST /calibrations": unknown, "DELETE /calibrations": unknown, // nothing is sensed
		"GET /what-if":    strangers + "43+",                           // an installer is refused: TestOwnerTriesSettings
		"GET /walk-tests": mine, "POST /walk-tests": strangers + "+39", // one at a time
		"PUT /walk-tests": mine, "DELETE /walk-tests": mine,
		"GET /tuning": mine, "PUT /tuning": mine, "POST /bridge-user": unknown, // no sensors are integrated
	}
}

func installationBodies() map[string]string {
	const home = `{"network_id":1}`
	return map[string]string{
		"POST /devices/adoption": home, "POST /devices/{entry}/adopt": home, "PUT /devices/{id}": `{"network_id":1,"kind":"leaf"}`,
		"POST /calibrations": home, "POST /walk-tests": `{"network_id":1,"room":"Kitchen"}`, "PUT /walk-tests": `{"network_id":1,"room":"Hall"}`,
		"PUT /tuning": `{"network_id":1,"cooldown":60}`, "POST /bridge-user": home,
	}
}

// installationPath returns the path of a row with what it needs besides a body.
func installationPath(row, path string) string {
	if installationVerdicts()[row] == "" {
		return path
	}
	path = strings.Replace(path, "4184f2a1-c6ef-40f6-83c2-6e29e6bc1730", "1000", 1)
	if installationBodies()[row] != "" {
		return path
	}
	path += "?network_id=1"
	if row == "DELETE /devices/{id}" {
		path += "&kind=leaf"
	}
	return path
}

// install lets a user set the home up until so many seconds from now.
func (b *box) install(p *tab, left motion.Seconds) {
	b.T.Helper()
	b.update(func(tx *store.Tx) error {
		h, err := tx.Home(b.home)
		if err != nil {
			return err
		}
		h.Forget(p.ID)
		h.Installers = append(h.Installers, home.Installer{User: p.ID, By: b.owner.ID, Since: tx.Now().Add(-7200), Until: tx.Now().Add(left)})
		return tx.PutHome(h)
	})
}

// setUp calls an operation about the first home.
func (p *tab) setUp(method, path, body string) apitest.Answer {
	p.box.T.Helper()
	if body == "" {
		separator := "?"
		if strings.Contains(path, "?") {
			separator = "&"
		}
		path += fmt.Sprintf("%snetwork_id=%d", separator, p.box.home)
	}
	return p.ask(method, path, body)
}

// TestInstallersSetHomesUp: what an installer may is refused to everybody else but the owner.
func TestInstallersSetHomesUp(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	rows := []struct {
		method, path, body string
		status             int // for those who may
	}{
		{http.MethodGet, "/links", "", 200},
		{http.MethodGet, "/installation", "", 426},
		{http.MethodGet, "/links/nobody.knows/history", "", 404},
		{http.MethodGet, "/devices", "", 200},
		{http.MethodGet, "/calibrations", "", 200},
		{http.MethodGet, "/walk-tests", "", 200},
		{http.MethodPost, "/walk-tests", `{"network_id":1,"room":"Kitchen"}`, 201},
		{http.MethodPost, "/walk-tests", `{"network_id":1,"room":"Kitchen"}`, 409}, // it runs
		{http.MethodPut, "/walk-tests", `{"network_id":1,"room":"Hall"}`, 200},
		{http.MethodDelete, "/walk-tests", "", 200},
		{http.MethodPost, "/calibrations", `{"network_id":1}`, 404}, // nothing is sensed
		{http.MethodDelete, "/calibrations", "", 404},
		{http.MethodPost, "/devices/adoption", `{"network_id":1}`, 200},
		{http.MethodDelete, "/devices/adoption", "", 204},
		{http.MethodPost, "/devices/unknown/adopt", `{"network_id":1}`, 404},
		{http.MethodPut, "/devices/1000", `{"network_id":1,"kind":"node"}`, 404},
		{http.MethodDelete, "/devices/1000?kind=leaf", "", 404},
		{http.MethodGet, "/tuning", "", 200},
		{http.MethodPut, "/tuning", `{"network_id":1,"cooldown":60}`, 200},
	}
	installer := b.nobody.again()
	for _, row := range rows {
		name := row.method + " " + row.path
		if status := (&tab{box: b}).setUp(row.method, row.path, row.body).Status; status != 401 {
			t.Errorf("%s without credentials: %d", name, status)
		}
		for who, c := range map[string]struct {
			*tab
			status int
		}{"a stranger": {b.nobody, 404}, "the owner of another home": {b.neighbour, 404}, "a member": {b.member, 403}} {
			if a := c.setUp(row.method, row.path, row.body); a.Status != c.status {
				t.Errorf("%s as %s: %d %s, want %d", name, who, a.Status, a.Body, c.status)
			}
		}
		b.install(installer, 3600)
		if a := installer.setUp(row.method, row.path, row.body); a.Status != row.status {
			t.Errorf("%s as installer: %d %s, want %d", name, a.Status, a.Body, row.status)
		}
		elsewhere := row.path
		if row.body == "" {
			separator := map[bool]string{false: "?", true: "&"}[strings.Contains(row.path, "?")]
			elsewhere += fmt.Sprintf("%snetwork_id=%d", separator, b.other)
		}
		if a := installer.ask(row.method, elsewhere, strings.Replace(row.body, fmt.Sprintf(`"network_id":%d`, b.home), fmt.Sprintf(`"network_id":%d`, b.other), 1)); a.Status != 404 {
			t.Errorf("%s as installer of another home: %d %s", name, a.Status, a.Body)
		}
		b.install(installer, -1)
		if a := installer.setUp(row.method, row.path, row.body); a.Status != 404 {
			t.Errorf("%s as one whose time is over: %d %s", name, a.Status, a.Body)
		}
	}
}
