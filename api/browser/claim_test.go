package browser_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"sensegate/api/apitest"
	"sensegate/motion/home"
	"sensegate/store"
)

const setupCode = "7K2M-Q9XA-04TZ"

// shownSetup is what these tests read of GET /setup.
type shownSetup struct {
	Code      bool
	Address   string
	Claimable []struct {
		ID     home.ID
		Nodes  int
		Names  []string
		Online int
		Heard  *float64
	}
	Homes []struct {
		ID         home.ID
		Name, Role string
		Until      *float64
		Step       string
	}
}

func (p *tab) setup() shownSetup {
	p.box.T.Helper()
	return apitest.Want[shownSetup](p.box.T, p.ask(http.MethodGet, "/setup", ""), 200)
}

// from asks as a device on the network does: not from the appliance itself.
func (p *tab) from(address, method, path, body string) apitest.Answer {
	p.box.T.Helper()
	r := p.request(p.box.Client, method, path, body)
	r.Header.Set("X-Forwarded-For", address)
	return p.box.Do(r)
}

// newcomer makes an account that has shown no setup code, and is signed in.
func (b *box) newcomer(address string) *tab {
	b.T.Helper()
	a := b.As("", http.MethodPost, "/join-account", `{"code":"`+b.owner.code(`{"role":"installer"}`)+`","email":"`+address+`","password":"`+password+`"}`)
	p := &tab{box: b, cookie: (&http.Response{Header: a.Header}).Cookies()[0]}
	made := apitest.Want[struct {
		Proof string
		User  home.User
	}](b.T, a, 200)
	p.proof, p.User = made.Proof, made.User
	p.done(http.MethodDelete, fmt.Sprintf("/installers/%d?network_id=1", p.ID), "")
	return p
}

// vacant adds a network that nobody owns, and a setup code.
func (b *box) vacant() {
	b.T.Helper()
	b.admit("c63f00c2d97b4e5580136c2e", "csi-c-02aa00000310", 0x30)
	b.update(func(tx *store.Tx) error { return tx.PutSetupCode(setupCode) })
}

// TestFirstRunOnTwoPhones: from the setup code to the step that a second phone goes on with.
func TestFirstRunOnTwoPhones(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.vacant()
	robin := b.newcomer("new@example.org")
	if s := robin.setup(); s.Code || len(s.Claimable) != 0 || len(s.Homes) != 0 {
		t.Errorf("without the code: %+v", s)
	}
	robin.done(http.MethodPost, "/setup/code", `{"code":"`+strings.ToLower(setupCode)+`"}`)
	robin.done(http.MethodPost, "/setup/code", `{"code":"`+setupCode+`"}`) // the answer was lost
	apitest.WantProblem(t, b.neighbour.ask(http.MethodPost, "/setup/code", `{"code":"`+setupCode+`"}`), 422, "setup_code")
	s := robin.setup()
	if s.Address != "http://192.168.1.20:8080" {
		t.Errorf("devices are told the address %q", s.Address)
	}
	if !s.Code || len(s.Claimable) != 1 || s.Claimable[0].Nodes != 1 || len(s.Claimable[0].Names) != 1 || s.Claimable[0].Online != 0 {
		t.Fatalf("with the code: %+v", s)
	}
	claim := func(zone string) string {
		return fmt.Sprintf(`{"network_id":%d,"name":" Home ","timezone":%q}`, s.Claimable[0].ID, zone)
	}
	for range 2 { // the answer was lost again, and the phone has travelled
		apitest.WantJSON(t, robin.from("192.168.1.7", http.MethodPost, "/setup/claim", claim("Europe/Berlin")), fmt.Sprintf(`{"network_id":%d}`, s.Claimable[0].ID))
	}
	apitest.Want[any](t, robin.ask(http.MethodPost, "/setup/claim", claim("America/Toronto")), 200)
	robin.done(http.MethodPut, "/setup/step", fmt.Sprintf(`{"network_id":%d,"step":"walk"}`, s.Claimable[0].ID))
	other := robin.again().setup()
	if other.Code || len(other.Claimable) != 0 || len(other.Homes) != 1 {
		t.Fatalf("the other phone: %+v", other)
	}
	if h := other.Homes[0]; h.Name != "Home" || h.Role != "owner" || h.Until != nil || h.Step != "walk" {
		t.Errorf("the other phone: %+v", h)
	}
	zone := apitest.Want[struct{ Home struct{ Timezone string } }](t, robin.ask(http.MethodGet, "/overview", ""), 200)
	if zone.Home.Timezone != "Europe/Berlin" {
		t.Errorf("zone %s", zone.Home.Timezone)
	}
}

func TestLadderOfClaims(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.vacant()
	for body, says := range map[string]string{
		`{"network_id":3,"name":"Home"}`:                                                     "timezone",
		`{"network_id":3,"name":"Home","timezone":"Mars/Olympus"}`:                           "body.timezone",
		`{"network_id":3,"name":"Home","timezone":"Local"}`:                                  "body.timezone",
		`{"network_id":3,"name":"Home","timezone":"Factory"}`:                                "body.timezone",
		`{"network_id":3,"name":"Ho\u0000me","timezone":"UTC"}`:                              "body.name",
		`{"network_id":3,"name":"\u202eHome","timezone":"UTC"}`:                              "body.name",
		`{"network_id":3,"name":"Ho\u200bme","timezone":"UTC"}`:                              "body.name",
		`{"network_id":3,"name":"","timezone":"UTC"}`:                                        "body.name",
		`{"network_id":3,"name":"  ","timezone":"UTC"}`:                                      "body.name",
		`{"network_id":0,"name":"Home","timezone":"UTC"}`:                                    "network_id",
		`{"network_id":3,"name":"` + strings.Repeat("x", 101) + `","timezone":"UTC"}`:        "name",
		`{"network_id":3,"name":"Home","timezone":"UTC","setup_code":"7K2M","step":"rooms"}`: "setup_code",
	} {
		apitest.WantProblem(t, b.nobody.ask(http.MethodPost, "/setup/claim", body), 422, says)
	}
	apitest.WantProblem(t, b.nobody.ask(http.MethodPost, "/setup/claim", `{"network_id"`), 400, "")
	for _, network := range []int{1, 999} { // owned by others, and none: the same words
		apitest.WantProblem(t, b.nobody.ask(http.MethodPost, "/setup/claim", fmt.Sprintf(`{"network_id":%d,"name":"Home","timezone":"UTC"}`, network)), 409, "owned")
	}
	var vacated home.ID // owned before: nobody claims it without the code
	b.update(func(tx *store.Tx) error {
		list, err := tx.Networks()
		if err != nil {
			return err
		}
		house := home.New(list[2].ID)
		house.OwnedBefore = true
		house, err = tx.CreateHome(house)
		vacated = house.ID
		return err
	})
	body := fmt.Sprintf(`{"network_id":%d,"name":"Home","timezone":"UTC"}`, vacated)
	robin := b.newcomer("new@example.org")
	apitest.WantProblem(t, robin.from("192.168.1.7", http.MethodPost, "/setup/claim", body), 403, "setup_code")
	robin.done(http.MethodPost, "/setup/code", `{"code":"`+setupCode+`"}`)
	apitest.Want[any](t, robin.from("192.168.1.7", http.MethodPost, "/setup/claim", body), 200)
	apitest.WantProblem(t, b.neighbour.ask(http.MethodPost, "/setup/claim", body), 409, "owned")
}

func TestWrongSetupCodeFiveTimes(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.vacant()
	robin := b.newcomer("new@example.org")
	for _, code := range []string{"0000-0000-0000", "x", "7K2M-Q9XA-04T", "7K2M-Q9XA-04TY", "'"} {
		apitest.WantProblem(t, robin.ask(http.MethodPost, "/setup/code", `{"code":"`+code+`"}`), 422, "setup_code")
	}
	apitest.WantProblem(t, robin.ask(http.MethodPost, "/setup/code", `{"code":"`+setupCode+`"}`), 429, "wait")
	apitest.WantProblem(t, b.neighbour.ask(http.MethodPost, "/join", `{"code":"`+b.owner.joinCode()+`"}`), 429, "wait")
	if robin.setup().Code {
		t.Error("the code counts as shown")
	}
}

// TestCodeIsCheckedBeforeAnAccount: the right one as often as one likes, and it still works once; wrong
// ones count together with those that are shown.
func TestCodeIsCheckedBeforeAnAccount(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.vacant()
	robin, stranger := b.newcomer("new@example.org"), &tab{box: b}
	check := func(code string) apitest.Answer {
		return stranger.ask(http.MethodPost, "/setup/code-check", `{"code":"`+code+`"}`)
	}
	for range 7 {
		if a := check(" " + strings.ToLower(setupCode)); a.Status != 204 {
			t.Fatalf("the right code: %d %s", a.Status, a.Body)
		}
	}
	robin.done(http.MethodPost, "/setup/code", `{"code":"`+setupCode+`"}`)
	apitest.WantProblem(t, check(setupCode), 422, "wrong_setup_code") // it was used
	apitest.WantProblem(t, stranger.ask(http.MethodPost, "/setup/code-check", `{"code":""}`), 422, "body.code")
	for range 3 {
		apitest.WantProblem(t, check("0000-0000-0000"), 422, "wrong_setup_code")
	}
	apitest.WantProblem(t, b.neighbour.ask(http.MethodPost, "/setup/code", `{"code":"0000-0000-0000"}`), 422, "setup_code")
	apitest.WantProblem(t, check("0000-0000-0000"), 429, "wait")
}

func TestStepOfASetupIsOneOfFew(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	for _, wrong := range []string{`{"network_id":1}`, `{"network_id":1,"step":"party"}`, `{"network_id":1,"step":7}`} {
		b.owner.refused(http.StatusUnprocessableEntity, http.MethodPut, "/setup/step", wrong)
	}
	b.owner.refused(http.StatusNotFound, http.MethodPut, "/setup/step", `{"network_id":2,"step":"rooms"}`)
	for _, step := range []string{"devices", "rooms", "walk", "handover", ""} {
		b.owner.done(http.MethodPut, "/setup/step", `{"network_id":1,"step":"`+step+`"}`)
		if got := b.owner.setup().Homes[0].Step; got != step {
			t.Errorf("step %q, want %q", got, step)
		}
	}
}
