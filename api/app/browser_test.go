package app_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"sensegate/api/web"
)

// browser is a page in a real browser, spoken to by the DevTools protocol.
type browser struct {
	t    *testing.T
	conn *websocket.Conn
	id   int
}

// profileDirectory returns a directory for a browser. Its removal is tried again for as long
// as processes of the browser write there after its end.
func profileDirectory(t *testing.T) string {
	t.Helper()
	directory, err := os.MkdirTemp("", "browser-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for deadline := time.Now().Add(time.Minute); os.RemoveAll(directory) != nil && time.Now().Before(deadline); {
			time.Sleep(50 * time.Millisecond)
		}
	})
	return directory
}

// openBrowser opens a blank page; it ends with the test.
func openBrowser(t *testing.T) *browser {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("no chromium: install it")
		}
		t.Skip("no chromium on this machine")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	profile := profileDirectory(t)
	cmd := exec.CommandContext(ctx, path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
		"--no-first-run", "--user-data-dir="+profile, "--remote-debugging-port=0", "--remote-allow-origins=*", "about:blank")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // it was ended
	})
	b := &browser{t: t}
	var port string
	b.until("the browser runs", func() bool {
		data, err := os.ReadFile(filepath.Join(profile, "DevToolsActivePort"))
		port, _, _ = strings.Cut(string(data), "\n")
		return err == nil && port != ""
	})
	response, err := http.Get("http://127.0.0.1:" + port + "/json/list")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var targets []struct {
		Type string
		URL  string `json:"webSocketDebuggerUrl"`
	}
	if err := json.NewDecoder(response.Body).Decode(&targets); err != nil {
		t.Fatal(err)
	}
	for _, target := range targets {
		if target.Type == "page" {
			if b.conn, _, err = websocket.DefaultDialer.DialContext(ctx, target.URL, nil); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				_ = b.conn.WriteJSON(map[string]any{"id": 0, "method": "Browser.close"})
				_, _ = cmd.Process.Wait() // it takes its helpers along
				b.conn.Close()
			})
			return b
		}
	}
	t.Fatalf("no page in %+v", targets)
	return nil
}

// call sends a command and returns what it answers.
func (b *browser) call(method string, params any) (result struct{ Result struct{ Value any } }) {
	b.t.Helper()
	b.id++
	if err := b.conn.WriteJSON(map[string]any{"id": b.id, "method": method, "params": params}); err != nil {
		b.t.Fatal(err)
	}
	for {
		var answer struct {
			ID     int
			Error  *struct{ Message string }
			Result struct{ Result struct{ Value any } }
		}
		if err := b.conn.ReadJSON(&answer); err != nil {
			b.t.Fatal(err)
		}
		if answer.ID != b.id {
			continue // an event
		}
		if answer.Error != nil {
			b.t.Fatalf("%s: %s", method, answer.Error.Message)
		}
		return answer.Result
	}
}

// run evaluates a script in the page.
func (b *browser) run(script string) any {
	b.t.Helper()
	return b.call("Runtime.evaluate", map[string]any{"expression": script, "awaitPromise": true}).Result.Value
}

// visit opens an address, as if for the first time.
func (b *browser) visit(address string) {
	b.t.Helper()
	b.call("Page.navigate", map[string]any{"url": "about:blank"})
	b.call("Page.navigate", map[string]any{"url": address})
	b.until("the page is there", func() bool {
		return b.run(`document.readyState === "complete" && location.href !== "about:blank"`) == true
	})
}

// shows waits for words in the page's answer.
func (b *browser) shows(words string) {
	b.t.Helper()
	b.until("the page shows "+words, func() bool {
		text, _ := b.run(`document.getElementById("answer").textContent`).(string)
		return strings.Contains(text, words)
	})
}

// until waits for what the browser does.
func (b *browser) until(what string, holds func() bool) {
	b.t.Helper()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	limit := time.After(5 * time.Minute)
	for !holds() {
		select {
		case <-ticker.C:
		case <-limit:
			b.t.Fatalf("never: %s", what)
		}
	}
}

// TestPageConfirmsAnAddressWhenItsButtonIsPressed opens the link of a mail in a browser.
func TestPageConfirmsAnAddressWhenItsButtonIsPressed(t *testing.T) {
	t.Parallel()
	b := openBrowser(t)
	h := newHousehold(t)
	front := http.NewServeMux()
	for path, page := range web.Pages() {
		front.Handle(path, page)
	}
	front.Handle("/", h.server)
	server := httptest.NewServer(front)
	t.Cleanup(server.Close)
	link := server.URL + "/confirm#token=" + h.unconfirmed("new@example.com")
	press := func(password string) {
		quoted, err := json.Marshal(password)
		if err != nil {
			t.Fatal(err)
		}
		b.run(`document.getElementById("password").value = ` + string(quoted) + `; document.getElementById("confirm").click()`)
	}
	b.visit(link)
	if left := b.run("location.href"); left != server.URL+"/confirm" {
		t.Errorf("the address bar keeps %v", left)
	}
	h.climb("POST", step{name: "only opened", path: "/sessions", body: credentials("new@example.com", secretWord), status: 403, says: "unconfirmed"})
	press("wrong")
	b.shows("This is not the password of the account.")
	press(secretWord)
	b.shows("Your address is confirmed.")
	h.loginAs("new@example.com", "")
	b.visit(link)
	press(secretWord)
	b.shows("This link was used already")
}
