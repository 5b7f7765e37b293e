package browser_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"sensegate/api/apitest"
	"sensegate/motion"
	"sensegate/store"
)

func (p *tab) joinCode() string {
	p.box.T.Helper()
	return apitest.Want[struct{ Code string }](p.box.T, p.ask(http.MethodPost, "/join-codes", ""), 200).Code
}

func TestCodeLetsSomebodyWithAnAccountJoin(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	code := b.owner.joinCode()
	body := `{"code":"` + strings.ToLower(code) + `"}`
	apitest.WantProblem(t, b.member.ask(http.MethodPost, "/join", body), 409, `"member"`)
	apitest.WantProblem(t, b.owner.ask(http.MethodPost, "/join", `{}`), 422, "code")
	if joined := apitest.Want[struct {
		Network uint32 `json:"network_id"`
	}](t, b.nobody.ask(http.MethodPost, "/join", body), 200); joined.Network != uint32(b.home) {
		t.Errorf("joined %+v", joined)
	}
	used, wrong := b.neighbour.ask(http.MethodPost, "/join", body), b.neighbour.ask(http.MethodPost, "/join", `{"code":"7K2M-Q9XA"}`)
	apitest.WantProblem(t, used, 422, "join_code")
	if string(used.Body) != string(wrong.Body) {
		t.Errorf("used: %s; wrong: %s; want the same", used.Body, wrong.Body)
	}
	withdrawn := b.owner.joinCode()
	b.owner.done(http.MethodDelete, "/join-codes", "")
	apitest.WantProblem(t, b.neighbour.ask(http.MethodPost, "/join", `{"code":"`+withdrawn+`"}`), 422, "join_code")
	for range 2 {
		b.neighbour.ask(http.MethodPost, "/join", `{"code":"wrong"}`)
	}
	apitest.WantProblem(t, b.neighbour.ask(http.MethodPost, "/join", `{"code":"`+b.owner.joinCode()+`"}`), 429, "wait")
}

func TestCodeMakesAnAccount(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	account := func(code, email string) apitest.Answer {
		return b.As("", http.MethodPost, "/join-account", `{"code":"`+code+`","email":"`+email+`","password":"`+password+`","first_name":"Dad"}`)
	}
	// Who has no right code learns nothing of an address.
	unknown, known := account("7K2M-Q9XA", "dad@example.com"), account("7K2M-Q9XA", "jdoe@example.com")
	apitest.WantProblem(t, unknown, 422, "join_code")
	if string(unknown.Body) != string(known.Body) {
		t.Errorf("%s and %s", unknown.Body, known.Body)
	}
	code := b.owner.joinCode()
	apitest.WantProblem(t, account(code, "jdoe@example.com"), 409, "known_address")
	apitest.WantProblem(t, account(code, "no address"), 422, "email")
	a := account(code, "dad@example.com")
	made := apitest.Want[struct{ Proof string }](t, a, 200)
	dad := &tab{box: b, cookie: (&http.Response{Header: a.Header}).Cookies()[0], proof: made.Proof}
	if got := dad.ask(http.MethodGet, "/overview", ""); got.Status != 200 || !strings.Contains(string(got.Body), `"role":"member"`) {
		t.Errorf("the home: %d %s", got.Status, got.Body)
	}
	apitest.WantProblem(t, account(code, "other@example.com"), 422, "join_code")
	apitest.Want[any](t, b.As("", http.MethodPost, "/session", `{"email":"dad@example.com","password":"`+password+`"}`), 200)
	// The address is not known to be theirs: an invitation of another home wants its token.
	b.update(func(tx *store.Tx) error {
		u, _, err := tx.UserByEmail("dad@example.com")
		if err != nil {
			return err
		}
		proof, err := tx.AddressProof(u.ID)
		if proof.KnownTo(b.other) || proof.KnownTo(b.home) {
			t.Errorf("the address is vouched for: %+v", proof)
		}
		return err
	})
}

// exported returns the files of an export by name.
func (p *tab) exported() map[string]string {
	p.box.T.Helper()
	a := p.ask(http.MethodGet, "/export", "")
	if a.Status != 200 || a.Header.Get("Content-Type") != "application/zip" || !strings.Contains(a.Header.Get("Content-Disposition"), "sensegate-export-") {
		p.box.T.Fatalf("export: %d %s", a.Status, a.Body)
	}
	z, err := zip.NewReader(bytes.NewReader(a.Body), int64(len(a.Body)))
	if err != nil {
		p.box.T.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			p.box.T.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			p.box.T.Fatal(err)
		}
		files[f.Name] = string(content)
	}
	return files
}

func TestExportHasWhatIsTheCallers(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.update(func(tx *store.Tx) error {
		for i, kind := range []string{"before", "since"} {
			at := tx.Now().Add(motion.Seconds(-7200 + 6000*i))
			if _, _, err := tx.AddEvent(motion.Event{Category: motion.CategorySystem, Event: kind, NetworkID: b.network, TS: at, LocName: "=1+1"}, ""); err != nil {
				return err
			}
		}
		return nil
	})
	own := b.owner.exported()
	if !strings.Contains(own["account.json"], "jdoe@example.com") || !json.Valid([]byte(own["sessions.json"])) {
		t.Errorf("of the caller: %s %s", own["account.json"], own["sessions.json"])
	}
	events := own["home-1/events.csv"]
	if !strings.Contains(events, ",since,'=1+1,") || strings.Contains(events, "before") {
		t.Errorf("events: %s", events)
	}
	for _, name := range []string{"home-1/home.json", "home-1/devices.json", "home-1/motion.csv", "home-1/alerts.json", "README.txt"} {
		if own[name] == "" {
			t.Errorf("%s is not there", name)
		}
	}
	theirs := b.member.exported()
	if theirs["home-1/alerts.json"] == "" || theirs["home-1/events.csv"] != "" || theirs["home-1/motion.csv"] != "" {
		t.Errorf("a member has %v", theirs)
	}
	for name, content := range own {
		for _, secret := range []string{"mum@example.com", "next@example.org", "argon2", b.owner.proof, b.owner.cookie.Value} {
			if strings.Contains(content, secret) {
				t.Errorf("%s has %s", name, secret)
			}
		}
	}
	if strings.Contains(theirs["account.json"], "jdoe@example.com") {
		t.Errorf("a member has the owner's address: %s", theirs["account.json"])
	}
}

func TestExportWantsARecentLogin(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.owner.longAgo()
	apitest.WantProblem(t, b.owner.ask(http.MethodGet, "/export", ""), 403, "step_up")
	b.owner.done(http.MethodPost, "/step-up", `{"password":"`+password+`"}`)
	b.owner.exported()
}
