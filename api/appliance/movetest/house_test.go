package movetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"sensegate/api/appliance/box"
	"sensegate/firmware-sim/sim"
	"sensegate/motion"
)

const (
	owner    = "olga@example.com"
	password = "correct horse"
)

// product is a running product with its administrator.
type product struct {
	*box.Process
	t      *testing.T
	binary string
	dir    string
	key    string // of Core
}

// open starts a product on a new state directory, or one that is there. Nobody lets devices in but
// their own tokens, and their addresses.
func open(t *testing.T, binary, dir string, environment ...string) *product {
	t.Helper()
	p := &product{t: t, binary: binary, dir: dir}
	p.Process = box.Start(t, box.Setup{Dir: dir, Line: []string{binary, "serve"}, Environment: environment})
	return p
}

// run gives a command, with a file on its standard input unless that is nil, and returns what it
// says on standard output and beside it.
func (p *product) run(stdin []byte, words ...string) (out []byte, said string, err error) {
	var outBuffer, saidBuffer bytes.Buffer
	cmd := exec.CommandContext(p.t.Context(), p.binary, words...)
	cmd.Env, cmd.Stdout, cmd.Stderr, cmd.Stdin = box.Environment(p.dir), &outBuffer, &saidBuffer, bytes.NewReader(stdin)
	err = cmd.Run()
	return outBuffer.Bytes(), saidBuffer.String(), err
}

// must is run of a command that must succeed.
func (p *product) must(stdin []byte, words ...string) (out []byte, said string) {
	p.t.Helper()
	out, said, err := p.run(stdin, words...)
	if err != nil {
		p.t.Fatalf("%v: %v\n%s%s", words, err, said, p.Log())
	}
	return out, said
}

// makeKey makes a key of Core for all networks.
func (p *product) makeKey() {
	p.t.Helper()
	out, _ := p.must(nil, "apikey", "create", "move", "-write", "-all-networks")
	p.key, _, _ = strings.Cut(string(out), "\n")
}

// call makes a request and returns the status; a 2xx is decoded into answer unless that is nil.
func (p *product) call(method, path, authorization, body string, answer any) int {
	p.t.Helper()
	request, err := http.NewRequestWithContext(p.t.Context(), method, "http://"+p.HTTP+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	if authorization != "" {
		request.Header.Set("Authorization", "Bearer "+authorization)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		p.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode < 300 && answer != nil {
		err = json.Unmarshal(text, answer)
	}
	if err != nil {
		p.t.Fatalf("%s %s: %v in %.300s", method, path, err, text)
	}
	return response.StatusCode
}

// signIn signs the owner in and returns the token of the session, "" when they are not let in.
func (p *product) signIn() string {
	p.t.Helper()
	var session struct{ Token string }
	p.call("POST", "/api/v1/sessions", "", fmt.Sprintf(`{"email": %q, "password": %q}`, owner, password), &session)
	return session.Token
}

// claim makes an owner for the home of a guardian.
func (p *product) claim(guardian string) {
	p.t.Helper()
	p.must([]byte(password+"\n"), "user", "create", owner, "-password-file", "-")
	session := p.signIn()
	var found struct{ ID int }
	p.call("POST", "/api/v1/find", session, fmt.Sprintf(`{"guardian_id": %q}`, guardian), &found)
	if status := p.call("POST", "/api/v1/network_memberships", session, fmt.Sprintf(`{"role": "owner", "network_id": %d}`, found.ID), nil); status >= 300 {
		p.t.Fatalf("claiming is answered with %d", status)
	}
	p.call("PUT", fmt.Sprint("/api/v1/networks/", found.ID), session, `{"name": "Maple Street"}`, nil)
}

// events returns all events of a network, the newest first.
func (p *product) events(network motion.NetworkID) (all []motion.Event) {
	p.t.Helper()
	path := fmt.Sprintf("/core/network/%d/events/history?last=1000", network)
	for after := ""; ; {
		var page []motion.Event
		if status := p.call("GET", path+after, p.key, "", &page); status != http.StatusOK {
			p.t.Fatalf("events are answered with %d", status)
		}
		if len(page) == 0 {
			return all
		}
		all = append(all, page...)
		after = "&after=" + page[len(page)-1].ID
	}
}

// home is a simulated home whose devices are on until the test ends.
func home(t *testing.T, p *product, mode sim.Mode) *sim.Sim {
	t.Helper()
	s, err := sim.New(sim.Config{Seed: 7, Mode: mode, Gatekeeper: "http://" + p.HTTP + "/gatekeeper", Steady: true})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Run(t.Context()) }()
	t.Cleanup(func() {
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	<-s.Ready()
	return s
}
