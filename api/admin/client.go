package admin

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"sensegate/api/box"
	"sensegate/api/update"
	"sensegate/motion"
	"sensegate/motion/engine"
	"sensegate/store"
)

// Client sends commands to the appliance of a state directory: to the running
// one over its socket, otherwise to the database itself.
type Client struct {
	transport *http.Transport
	stop      func() error
}

// newClient returns a client of the socket; stop is called by Close.
func newClient(socket string, stop func() error) *Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}
	return &Client{transport: &http.Transport{DialContext: dial}, stop: stop}
}

// Open returns a client for a state directory. Where no appliance runs it opens the database
// itself, and writes to said when that migrates or restores the database. The caller closes
// the client.
func Open(ctx context.Context, stateDir string, said io.Writer) (*Client, error) {
	if c, err := openRunning(ctx, stateDir); c != nil || err != nil {
		return c, err
	}
	return openOffline(ctx, stateDir, said, box.Parts{})
}

// openRunning returns a client of the appliance that runs on a state directory, nil when none does.
func openRunning(ctx context.Context, stateDir string) (*Client, error) {
	socket := Socket(stateDir)
	probe, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
	switch {
	case err == nil:
		return newClient(socket, func() error { return nil }), probe.Close()
	case errors.Is(err, os.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		return nil, nil
	}
	return nil, fmt.Errorf("the appliance of %s cannot be reached: %w", stateDir, err)
}

// openOffline returns a client that opens the database of an appliance that does not run. of are the
// parts of its box that need no database.
func openOffline(ctx context.Context, stateDir string, said io.Writer, of box.Parts) (*Client, error) {
	if err := cmp.Or(lived(stateDir), asOwner(stateDir), update.Offline(stateDir)); err != nil {
		return nil, err
	}
	db, err := store.Open(store.Options{
		Path: Database(stateDir), Beside: Beside(stateDir), Logger: slog.New(slog.NewTextHandler(said, nil)),
		Keep: func() string { return update.KeptBackup(stateDir) },
	})
	if err != nil {
		return nil, err
	}
	e, err := engine.New(ctx, db, engine.Options{})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	e.Introduce(nobody{})
	log := slog.New(slog.DiscardHandler)
	accounts, err := offlineAccounts(stateDir, db, log)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	of.Engine, of.DB, of.Accounts, of.Log = e, db, accounts, log
	server := NewServer(box.New(of))
	if err := server.Listen(stateDir); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	serving, cancel := context.WithCancel(ctx)
	served := make(chan error, 1)
	go func() { served <- server.Run(serving) }()
	return newClient(Socket(stateDir), func() error {
		cancel()
		return errors.Join(<-served, db.Close())
	}), nil
}

// lived returns an error, in words, unless an appliance has its state in the directory.
func lived(stateDir string) error {
	if slices.ContainsFunc(append(Beside(stateDir), Database(stateDir)), func(path string) bool {
		_, err := os.Stat(path)
		return err == nil
	}) {
		return nil
	}
	return fmt.Errorf("no appliance in %s: start it once with sensegate serve, or name its state directory with -state-dir or %sSTATE_DIR", stateDir, EnvPrefix)
}

// Close closes the client, and the database if it opened that.
func (c *Client) Close() error {
	c.transport.CloseIdleConnections()
	return c.stop()
}

// Limits of an answer, which the user of the state directory gives, who may be another one than who asks: of
// its size in bytes, more than any has, and of its time.
const (
	maxAnswer  = 4 << 20
	answerTime = 15 * time.Minute
)

// controls takes what speaks to a terminal out of JSON, where control characters are escaped but for those after
// ASCII; line breaks stay.
var controls = sync.OnceValue(func() *strings.Replacer {
	pairs := []string{`\\`, `\\`, `\b`, ``, `\f`, ``, `\r`, ``}
	for r := range rune(0xa0) {
		switch {
		case r == '\t', r == '\n', r >= ' ' && r < 0x7f:
			continue
		case r >= 0x7f:
			pairs = append(pairs, string(r), "")
		}
		pairs = append(pairs, fmt.Sprintf(`\u%04x`, r), "", fmt.Sprintf(`\u%04X`, r), "")
	}
	return strings.NewReplacer(pairs...)
})

// decode reads an answer of JSON, without control characters in its texts.
func decode(from io.Reader, answer any) error {
	raw, err := io.ReadAll(io.LimitReader(from, maxAnswer+1))
	if err != nil {
		return err
	}
	if len(raw) > maxAnswer {
		return errors.New("the answer of the appliance has no end")
	}
	return json.Unmarshal([]byte(controls().Replace(string(raw))), answer)
}

// do sends a command and reads its answer.
func (c *Client) do(ctx context.Context, method, path string, body, answer any) error {
	var content io.Reader = http.NoBody
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return err
		}
		content = bytes.NewReader(raw)
	}
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	response, err := c.send(ctx, method, path, content)
	if err != nil {
		return err
	}
	defer response.Close()
	return decode(response, answer)
}

// stream sends a command with a long answer; the caller closes it.
func (c *Client) stream(ctx context.Context, path string) (io.ReadCloser, error) {
	return c.send(ctx, http.MethodGet, path, http.NoBody)
}

// send sends a command and returns the body of a successful answer.
func (c *Client) send(ctx context.Context, method, path string, content io.Reader) (io.ReadCloser, error) {
	response, err := c.exchange(ctx, method, path, content)
	if err != nil {
		return nil, err
	}
	return response.Body, nil
}

// exchange sends a command and returns a successful answer, whose body the caller closes.
func (c *Client) exchange(ctx context.Context, method, path string, content io.Reader) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, "http://appliance"+path, content)
	if err != nil {
		return nil, err
	}
	request.Header.Set(userHeader, systemUser())
	response, err := c.transport.RoundTrip(request)
	if err != nil {
		return nil, fmt.Errorf("ask the appliance: %w", err)
	}
	if response.StatusCode == http.StatusOK {
		return response, nil
	}
	defer response.Body.Close()
	var failed failure
	if err := decode(response.Body, &failed); err != nil || failed.Error == "" {
		return nil, fmt.Errorf("the appliance answered %s", response.Status)
	}
	return nil, errors.New(failed.Error)
}

// nobody stands for the broker of an appliance that does not run.
type nobody struct{}

func (nobody) Send(motion.DeviceKey, string, []byte, bool) error { return nil }
func (nobody) Disconnect(motion.DeviceKey, string)               {}
func (nobody) DisconnectUser(string, string)                     {}
