package browser_test

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"sensegate/api/apitest"
	"sensegate/api/browser"
	"sensegate/motion"
	"sensegate/motion/home"
	"sensegate/store"
)

// TestAuthorizationMatrix calls every operation as every kind of caller.
func TestAuthorizationMatrix(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	const forAnyone, forUsers, forMember, forViewers = "++++++++", "111+++++", "111444++", "11144466"
	verdicts := map[string]string{
		"GET /boot": forAnyone, "POST /session": forAnyone, "POST /demo-login": "44444444", // nobody was invited
		"GET /session": forUsers, "DELETE /session": forUsers, "GET /sessions": forUsers, "DELETE /sessions/{id}": "11144444",
		"POST /step-up": forUsers, "POST /live-tickets": forUsers,
		"GET /overview": forMember, "GET /rooms/history": forMember, "GET /moments": forMember, "GET /moments/{id}": forMember,
		"GET /motions": forViewers, "GET /days": forMember, "GET /nights": forMember, "POST /pause": forMember, "POST /away": forMember, "DELETE /away": forMember,
		"PUT /rooms": "1114443+", "PUT /rooms/{name}": "11144444", "POST /demo": "11144444", // no device is anywhere, and nothing is played
		"GET /alerts": forMember, "POST /alerts/preview": forMember, "POST /alerts/{id}/try": forMember, "POST /alerts/{id}/snooze": forMember,
		"GET /notices": forMember, "PATCH /notices": forMember, "GET /sensor-providers": forMember,
		"POST /join-codes": "1114443+", "DELETE /join-codes": "1114443+",
		"POST /join": "11122222", "POST /join-account": "22222222", // a wrong code, and a body without one
		"GET /export": forUsers,
		"GET /setup":  forUsers, "POST /setup/code-check": "22222222", "POST /setup/code": "11122222", "POST /setup/claim": "1119999+", // the home has an owner
		"PUT /setup/step": "1114493+", "GET /installers": forMember, "DELETE /installers/{user}": "11144334", // of nobody
	}
	bodies := map[string]string{
		"POST /session": `{"email":"passer@example.net","password":"` + password + `"}`, "POST /demo-login": `{"code":"x"}`, "POST /join": `{"code":"x"}`, "POST /join-account": `{}`, "POST /step-up": `{"password":"` + password + `"}`,
		"POST /pause": `{"network_id":1,"paused":true,"minutes":15}`, "POST /away": `{"network_id":1}`, "PUT /rooms": `{"network_id":1,"rooms":["Kitchen"]}`,
		"PUT /rooms/{name}": `{"network_id":1,"name":"Larder"}`, "POST /demo": `{"network_id":1,"action":"walk"}`,
		"POST /alerts/preview": night, "POST /alerts/{id}/snooze": `{"until":0}`, "PATCH /notices": `{"read_to":0}`,
		"POST /setup/code-check": `{}`, "POST /setup/code": `{}`, "POST /setup/claim": `{"network_id":1,"name":"Home","timezone":"UTC"}`, "PUT /setup/step": `{"network_id":1,"step":"walk"}`,
	}
	maps.Copy(verdicts, installationVerdicts())
	maps.Copy(bodies, installationBodies())
	rule := b.addAlert(night)
	moment := b.event(motion.MotionDetectedEvent, b.engine.State.Now()-60, 0).ID
	installer := b.installer("robin@example.org")
	ended := b.owner.again()
	ended.done(http.MethodDelete, "/session", "")
	for _, route := range table().Routes {
		row := route.Method + " " + route.Path
		if strings.HasPrefix(route.Path, "/admin/") {
			continue // TestAdministratorsAlone
		}
		verdict, ok := verdicts[row]
		delete(verdicts, row)
		if !ok {
			t.Errorf("%s is not in the matrix: say who may call it", row)
			continue
		}
		id := "4184f2a1-c6ef-40f6-83c2-6e29e6bc1730"
		switch {
		case strings.HasPrefix(route.Path, "/alerts"):
			id = rule
		case strings.HasPrefix(route.Path, "/moments"):
			id = moment
		}
		path := strings.NewReplacer("{id}", id, "{user}", "999").Replace(route.Path)
		named := strings.HasSuffix(row, " /join-codes") || strings.HasPrefix(row, "DELETE /installers")
		if (verdict == forMember || verdict == forViewers || named) && !strings.Contains(bodies[row], "network_id") {
			path += "?network_id=1"
		}
		if row == "GET /moments" {
			path += "&from=0"
		}
		path = installationPath(row, path)
		for i, caller := range []*tab{
			{box: b, cookie: b.owner.cookie}, {box: b, proof: b.owner.proof}, ended,
			b.nobody, b.neighbour, installer, b.member, b.owner,
		} {
			if row == "POST /session" { // ends the session of who signs in again
				caller = &tab{box: b}
			}
			if row == "DELETE /session" && caller.proof != "" && caller != ended && caller.cookie != nil {
				caller = caller.again()
			}
			body := bodies[row]
			if row == "POST /session" { // of several accounts: each may log in ten times a minute
				body = strings.Replace(body, "passer@example.net", []string{"passer@example.net", "next@example.org", "mum@example.com"}[i%3], 1)
			}
			status := caller.ask(route.Method, path, body).Status
			want := map[byte]int{'1': 401, '2': 422, '3': 403, '4': 404, '6': 426, '9': 409}[verdict[i]]
			if verdict[i] == '+' && status >= 300 || verdict[i] != '+' && status != want {
				t.Errorf("%s as caller %d: %d, want %c", row, i, status, verdict[i])
			}
		}
	}
	for row := range verdicts {
		t.Errorf("%s is in the matrix and not served", row)
	}
}

// again is another tab of the same user, with a session of its own.
func (p *tab) again() *tab {
	other := &tab{User: p.User, box: p.box}
	other.signIn()
	return other
}

// done calls an operation that answers without a body.
func (p *tab) done(method, path, body string) {
	p.box.T.Helper()
	if a := p.ask(method, path, body); a.Status != http.StatusNoContent {
		p.box.T.Fatalf("%s %s: %d %s", method, path, a.Status, a.Body)
	}
}

func TestCookieIsOutOfReachOfScriptsAndOtherSites(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	c := b.owner.cookie
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/" || c.Domain != "" || c.MaxAge != 0 || !strings.HasPrefix(c.Name, "sensegate-") {
		t.Errorf("cookie %+v", c)
	}
	a := b.As("", http.MethodPost, "/session", `{"email":"jdoe@example.com","password":"`+password+`","stay":true}`)
	if got := a.Header.Get("Set-Cookie"); !strings.Contains(got, "Max-Age=7776000") {
		t.Errorf("who stays signed in: %s", got)
	}
	if gone := b.owner.again().ask(http.MethodDelete, "/session", "").Header.Get("Set-Cookie"); !strings.Contains(gone, "Max-Age=0") {
		t.Errorf("signing out leaves the cookie: %s", gone)
	}
}

// TestAppTakesBothHalves: App Cloud takes the pair in place of a token, and a cookie alone
// opens nothing there.
func TestAppTakesBothHalves(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	for name, c := range map[string]struct {
		who    *tab
		status int
	}{
		"both":                   {b.owner, 200},
		"the cookie alone":       {&tab{box: b, cookie: b.owner.cookie}, 401},
		"the proof alone":        {&tab{box: b, proof: b.owner.proof}, 401},
		"halves of two sessions": {&tab{box: b, cookie: b.owner.cookie, proof: b.member.proof}, 401},
	} {
		if a := c.who.askApp(http.MethodGet, "/networks", ""); a.Status != c.status {
			t.Errorf("%s: %d %s, want %d", name, a.Status, a.Body, c.status)
		}
	}
	apitest.Want[any](t, b.owner.askApp(http.MethodPut, "/scenes", `{"scene_id":1}`), 200)
}

// TestOtherOriginsAreRefused: a page on another port of the same host is another origin,
// although its browser sends the cookie.
func TestOtherOriginsAreRefused(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	host, _, _ := strings.Cut(b.Address, ":")
	for origin, status := range map[string]int{
		"http://" + b.Address:   200,
		"":                      200,
		"http://" + host + ":1": 403,
		"https://" + b.Address:  403,
		"http://localhost:9999": 403,
		"http://evil.example":   403,
		"null":                  403,
	} {
		from := &tab{box: b, cookie: b.owner.cookie, proof: b.owner.proof, origin: origin}
		for _, read := range []bool{true, false} {
			a := from.ask(http.MethodGet, "/session", "")
			if !read {
				a = from.ask(http.MethodPost, "/live-tickets", "")
			}
			if a.Status != status {
				t.Errorf("from %q, read %v: %d %s, want %d", origin, read, a.Status, a.Body, status)
			}
		}
	}
	r := b.owner.request(b.Client, http.MethodGet, "/session", "")
	r.Header.Set("Sec-Fetch-Site", "same-site") // a neighbour on another port
	if a := b.Do(r); a.Status != 403 {
		t.Errorf("from the same site: %d", a.Status)
	}
}

// watch opens live motion with a ticket.
func (b *box) watch(ticket string) (*websocket.Conn, *http.Response, error) {
	return b.watchAt("/api/v1/motions", ticket)
}

// watchAt opens a websocket with a ticket.
func (b *box) watchAt(path, ticket string) (*websocket.Conn, *http.Response, error) {
	dialer := websocket.Dialer{Subprotocols: []string{"sensegate.v1", "ticket." + ticket}}
	return dialer.DialContext(b.T.Context(), "ws://"+b.Address+path, http.Header{"Origin": {"http://" + b.Address}})
}

func (p *tab) ticket() string {
	p.box.T.Helper()
	return apitest.Want[struct{ Ticket string }](p.box.T, p.ask(http.MethodPost, "/live-tickets", ""), 200).Ticket
}

func TestTicketOpensOneWebsocketOfItsSession(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	viewer := b.member.again()
	ticket := viewer.ticket()
	ws, answer, err := b.watch(ticket)
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	if got := answer.Header.Get("Sec-WebSocket-Protocol"); got != "sensegate.v1" {
		t.Errorf("subprotocol %q", got)
	}
	unused := viewer.ticket()
	for name, other := range map[string]string{"the same again": ticket, "a made-up one": "x", "none": ""} {
		if _, answer, err := b.watch(other); err == nil || answer.StatusCode != 401 {
			t.Errorf("%s: %v", name, err)
		}
	}
	viewer.done(http.MethodDelete, "/session", "")
	for {
		if _, _, err = ws.ReadMessage(); err != nil {
			break
		}
	}
	if !websocket.IsCloseError(err, 4401) {
		t.Errorf("signing out ended it with %v, want 4401", err)
	}
	if _, answer, err := b.watch(unused); err == nil || answer.StatusCode != 401 {
		t.Errorf("a ticket of an ended session: %v", err)
	}
}

func TestLinkOfTheDemoSignsInOnceAndFromHere(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.guest.Invite(b.nobody.ID)
	code := b.guest.Invite(b.owner.ID)
	use := func(code, through string) apitest.Answer {
		r := (&tab{box: b}).request(b.Client, http.MethodPost, "/demo-login", `{"code":"`+code+`"}`)
		if through != "" {
			r.Header.Set("X-Forwarded-For", through)
		}
		return b.Do(r)
	}
	apitest.WantProblem(t, use(code, "192.168.1.7"), 404, "no such address")
	apitest.WantProblem(t, use("x", ""), 401, "never was one")
	if a := use(code, ""); a.Status != 200 || !strings.Contains(string(a.Body), "jdoe@example.com") || a.Header.Get("Set-Cookie") == "" {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	apitest.WantProblem(t, use(code, ""), 401, "it was used")
}

func TestStepUpStandsForARecentLogin(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	apitest.WantProblem(t, b.owner.ask(http.MethodPost, "/step-up", `{"password":"wrong"}`), 403, "wrong_password")
	b.owner.done(http.MethodPost, "/step-up", `{"password":"`+password+`"}`)
}

func TestOverviewOfAHome(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	o := apitest.Want[browser.Overview](t, b.member.ask(http.MethodGet, "/overview", ""), 200)
	if o.Home.ID != b.home || o.User.Name != "mum" || o.Home.Role != home.MemberRole || o.Home.Scene != "home" || o.State != "unknown" {
		t.Errorf("overview %+v", o)
	}
	if len(o.People) != 2 || !o.People[0].Self || o.People[1].Name != "jdoe" {
		t.Errorf("people %+v, want the caller first", o.People)
	}
	apitest.WantProblem(t, b.nobody.ask(http.MethodGet, "/overview", ""), 404, "you belong to none")
	b.update(func(tx *store.Tx) error {
		_, err := tx.CreateMembership(home.Membership{Role: home.MemberRole, User: b.member.ID, Home: b.other, Unasked: true})
		return err
	})
	both := apitest.Want[browser.Overview](t, b.member.ask(http.MethodGet, "/overview", ""), 200)
	if both.Home.ID != b.home || !both.Home.Asked || len(both.Homes) != 2 {
		t.Errorf("of two homes %+v, want the one that was asked", both.Home)
	}
	apitest.Want[browser.Overview](t, b.member.ask(http.MethodGet, fmt.Sprintf("/overview?network_id=%d", b.other), ""), 200)
	chosen := apitest.Want[browser.Overview](t, b.member.ask(http.MethodGet, fmt.Sprintf("/overview?network_id=%d", b.other), ""), 200)
	if chosen.Home.ID != b.other || !chosen.Home.Asked {
		t.Errorf("the chosen home %+v, want it joined", chosen.Home)
	}
}

// TestSignInEndsTheSessionBefore: of the same browser.
func TestSignInEndsTheSessionBefore(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	before := *b.owner
	credentials := `{"email":"jdoe@example.com","password":"` + password + `"}`
	apitest.Want[any](t, b.owner.ask(http.MethodPost, "/session", credentials), 200)
	if status := before.ask(http.MethodGet, "/session", "").Status; status != 401 {
		t.Errorf("the session before: %d, want 401", status)
	}
}

// TestOneOfSeveralCookiesIsEnough: a neighbour of the host's name can set a cookie of the same name.
func TestOneOfSeveralCookiesIsEnough(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	r := b.owner.request(b.Client, http.MethodGet, "/session", "")
	r.AddCookie(&http.Cookie{Name: b.owner.cookie.Name, Value: "tossed"})
	apitest.Want[any](t, b.Do(r), 200)
}
