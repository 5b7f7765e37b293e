package browser_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"sensegate/api/apitest"
	"sensegate/motion"
	"sensegate/store"
)

// code makes a join code of the first home.
func (p *tab) code(body string) string {
	p.box.T.Helper()
	return apitest.Want[struct{ Code string }](p.box.T, p.ask(http.MethodPost, "/join-codes?network_id=1", body), 200).Code
}

// longAgo lets the log-ins of a user be an hour old.
func (p *tab) longAgo() {
	p.box.T.Helper()
	p.box.update(func(tx *store.Tx) error {
		all, err := tx.SessionsOfUser(p.ID)
		for _, s := range all {
			s.CreatedAt = s.CreatedAt.Add(-motion.Seconds(time.Hour.Seconds()))
			if _, err := tx.PutSession(s); err != nil {
				return err
			}
		}
		return err
	})
}

func TestCodeSaysWhatItIsFor(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	for body, says := range map[string]string{
		`{"role":"boss"}`: "role", `{"days":3}`: "days", `{"role":"member","days":0}`: "days", `{"role":"installer","days":0}`: "days",
		`{"role":"installer","days":31}`: "days", `{"role":"owner","days":-1}`: "days", `{"role":"owner","days":1.5}`: "days",
	} {
		apitest.WantProblem(t, b.owner.ask(http.MethodPost, "/join-codes", body), 422, says)
	}
	for body, role := range map[string]string{"": "member", `{}`: "member", `{"role":"member","network_id":1}`: "member", `{"role":"installer"}`: "installer"} {
		guest := b.nobody
		joined := apitest.Want[struct{ Role string }](t, guest.ask(http.MethodPost, "/join", `{"code":"`+b.owner.code(body)+`"}`), 200)
		if joined.Role != role {
			t.Errorf("%s: %s", body, joined.Role)
		}
		b.update(func(tx *store.Tx) error { // out again
			m, found, err := tx.MembershipOf(b.home, guest.ID)
			if err != nil || !found {
				return err
			}
			return tx.DeleteMembership(m.ID)
		})
	}
	if days := b.nobody.setup().Homes; len(days) > 0 && (*days[0].Until < float64(b.engine.State.Now())+6.9*86400 || *days[0].Until > float64(b.engine.State.Now())+7*86400) {
		t.Errorf("an installer for %+v, want a week", days)
	}
	b.owner.longAgo()
	for _, body := range []string{`{"role":"owner"}`, `{"role":"owner","days":30}`, `{"role":"installer","days":1}`} {
		apitest.WantProblem(t, b.owner.ask(http.MethodPost, "/join-codes", body), 403, "step_up")
	}
	b.owner.code("")
	b.owner.done(http.MethodPost, "/step-up", `{"password":"`+password+`"}`)
	b.owner.code(`{"role":"owner"}`)
}

// TestInstallerLooksAfterDevicesAlone: from the code to the end, with what the household sees.
func TestInstallerLooksAfterDevicesAlone(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	robin := b.nobody
	apitest.Want[any](t, robin.ask(http.MethodPost, "/join", `{"code":"`+b.owner.code(`{"role":"installer","days":2}`)+`"}`), 200)
	homes := robin.setup().Homes
	if len(homes) != 1 || homes[0].Role != "installer" || homes[0].Until == nil {
		t.Fatalf("homes %+v", homes)
	}
	robin.refused(409, http.MethodPut, "/setup/step", `{"network_id":1,"step":"rooms"}`) // it is set up
	b.owner.done(http.MethodPut, "/setup/step", `{"network_id":1,"step":"devices"}`)
	robin.done(http.MethodPut, "/setup/step", `{"network_id":1,"step":"rooms"}`)
	robin.refused(404, http.MethodPut, "/setup/step", `{"network_id":2,"step":"rooms"}`)
	for _, path := range []string{"/overview", "/overview?network_id=1", "/notices?network_id=1", "/rooms/history?network_id=1", "/installers?network_id=1", "/days?network_id=1"} {
		robin.refused(404, http.MethodGet, path, "")
	}
	robin.refused(404, http.MethodPost, "/join-codes?network_id=1", `{"role":"owner"}`)
	for _, path := range []string{"/networks?id=1", "/networks/1", "/events?network_id=1", "/network_memberships?network_id=1", "/adoption?network_id=1", "/topologies?network_id=1"} {
		if a := robin.askApp(http.MethodGet, path, ""); a.Status != 404 {
			t.Errorf("App %s: %d %s", path, a.Status, a.Body)
		}
	}
	if _, answer, err := b.watch(robin.ticket()); err == nil || answer.StatusCode != 404 {
		t.Errorf("live motion: %v", err)
	}
	list := apitest.Want[struct{ Installers []map[string]any }](t, b.member.ask(http.MethodGet, "/installers", ""), 200).Installers
	if len(list) != 1 || list[0]["name"] != "passer" || list[0]["by"] != "jdoe" || list[0]["user"] != float64(robin.ID) || list[0]["until"] != *homes[0].Until {
		t.Errorf("installers %v", list)
	}
	if inbox := b.member.inbox("?last=1"); len(inbox.Notices) != 1 || inbox.Notices[0].Kind != motion.InstallerJoinedEvent || inbox.Notices[0].Values["member"] != "passer" {
		t.Errorf("inbox %+v", inbox)
	}
	theirs, own := robin.exported(), b.owner.exported()
	if !strings.Contains(theirs["account.json"], `"installs": [`) || !strings.Contains(theirs["account.json"], `"network_id": 1`) || theirs["home-1/home.json"] != "" {
		t.Errorf("export of the installer: %v", theirs)
	}
	if !strings.Contains(own["home-1/home.json"], `"name": "passer"`) || strings.Contains(own["home-1/home.json"], "passer@") {
		t.Errorf("export of the owner: %s", own["home-1/home.json"])
	}
}

func TestInstallationIsEndedByFew(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	robin := b.installer("robin@example.org")
	path := fmt.Sprintf("/installers/%d?network_id=1", robin.ID)
	b.member.refused(403, http.MethodDelete, path, "")
	b.neighbour.refused(404, http.MethodDelete, path, "")
	robin.refused(403, http.MethodDelete, fmt.Sprintf("/installers/%d?network_id=1", b.owner.ID), "")
	b.owner.refused(404, http.MethodDelete, fmt.Sprintf("/installers/%d?network_id=1", b.member.ID), "")
	b.owner.refused(422, http.MethodDelete, "/installers/x?network_id=1", "")
	b.owner.done(http.MethodDelete, path, "")
	robin.refused(404, http.MethodPut, "/setup/step", `{"network_id":1,"step":"walk"}`)
	robin.refused(404, http.MethodDelete, path, "")
	if left := robin.setup().Homes; len(left) != 0 {
		t.Errorf("afterwards %+v", left)
	}
	if again := b.installer("robin@example.org"); again.ask(http.MethodDelete, fmt.Sprintf("/installers/%d?network_id=1", again.ID), "").Status != 204 {
		t.Error("an installer cannot leave")
	}
}

// TestHouseholdTakesOver: somebody without an account becomes the owner, and what the owner before
// has open closes.
func TestHouseholdTakesOver(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	robin := b.owner
	ws, _, err := b.watch(robin.ticket())
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	a := b.As("", http.MethodPost, "/join-account", `{"code":"`+robin.code(`{"role":"owner","days":3}`)+`","email":"dad@example.com","password":"`+password+`","first_name":"Dad"}`)
	made := apitest.Want[struct{ Proof string }](t, a, 200)
	dad := &tab{box: b, cookie: (&http.Response{Header: a.Header}).Cookies()[0], proof: made.Proof}
	for {
		if _, _, err = ws.ReadMessage(); err != nil {
			break
		}
	}
	if !websocket.IsCloseError(err, 4404) {
		t.Errorf("live motion of the owner before ended with %v, want 4404", err)
	}
	if homes := dad.setup().Homes; len(homes) != 1 || homes[0].Role != "owner" {
		t.Errorf("homes of the household %+v", homes)
	}
	robin.refused(404, http.MethodGet, "/overview?network_id=1", "")
	robin.refused(404, http.MethodPost, "/join-codes?network_id=1", "")
	robin.refused(409, http.MethodPut, "/setup/step", `{"network_id":1,"step":"walk"}`) // it is set up
	b.member.refused(403, http.MethodPost, "/join-codes?network_id=1", "")
	dad.done(http.MethodDelete, fmt.Sprintf("/installers/%d?network_id=1", robin.ID), "")
	robin.refused(404, http.MethodPut, "/setup/step", `{"network_id":1,"step":""}`)
}
