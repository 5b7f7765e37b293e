package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gorilla/websocket"
)

const (
	accessToken = "soak-with-all-networks"
	patience    = 30 * time.Second // of a start
)

// process is a started program.
type process struct{ *exec.Cmd }

// start starts a program of dir; its output goes to standard error.
func start(dir, name string, environment []string, arguments ...string) (process, error) {
	p := process{exec.Command(filepath.Join(dir, name), arguments...)}
	p.Env = append(os.Environ(), environment...)
	p.Stdout, p.Stderr = os.Stderr, os.Stderr
	return p, p.Start()
}

// stop ends the process with SIGTERM and waits for it.
func (p process) stop() {
	_ = p.Process.Signal(syscall.SIGTERM) // fails if it has ended
	_ = p.Wait()
}

func run(ctx context.Context, name string, arguments ...string) error {
	c := exec.CommandContext(ctx, name, arguments...)
	c.Stderr = os.Stderr
	return c.Run()
}

// appliance is the running product.
type appliance struct {
	process
	dir, address, mqtt, state, key string
}

// startAppliance starts the product; environment may change its settings.
func startAppliance(ctx context.Context, dir string, environment ...string) (*appliance, error) {
	web, err := freePort()
	if err != nil {
		return nil, err
	}
	mqtt, err := freePort()
	if err != nil {
		return nil, err
	}
	b := &appliance{dir: dir, address: web, mqtt: mqtt, state: filepath.Join(dir, "state")}
	b.process, err = start(dir, "sensegate", append([]string{
		"SENSEGATE_STATE_DIR=" + b.state, "SENSEGATE_HTTP_LISTEN=" + web, "SENSEGATE_MQTT_LISTEN=" + mqtt,
		"SENSEGATE_HTTP_TLS_LISTEN=off", "SENSEGATE_MQTT_TLS_LISTEN=off",
		"SENSEGATE_GATEKEEPER_ACCESS_TOKEN=" + accessToken, "SENSEGATE_LOG_LEVEL=warn",
	}, environment...), "serve")
	if err != nil {
		return nil, err
	}
	for began := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		if answer, err := http.Get("http://" + web + "/readyz"); err == nil {
			answer.Body.Close()
			break
		}
		if time.Since(began) > patience {
			b.stop()
			return nil, fmt.Errorf("the appliance is not ready after %s", patience)
		}
	}
	made := exec.CommandContext(ctx, filepath.Join(dir, "sensegate"), "apikey", "create", "soak", "-write")
	made.Env = append(os.Environ(), "SENSEGATE_STATE_DIR="+b.state)
	key, err := made.Output()
	if err != nil {
		b.stop()
		return nil, fmt.Errorf("make a key: %w", err)
	}
	first, _, _ := bytes.Cut(key, []byte("\n"))
	b.key = string(bytes.TrimSpace(first))
	return b, nil
}

// startDevices starts the networks and waits for them; they report until stopped.
func (b *appliance) startDevices(ctx context.Context, o options) (process, error) {
	simulated := 2 * o.duration * time.Duration(o.speed)
	p, err := start(b.dir, "firmware-sim", nil, "load", "-appliance", b.address, "-token", accessToken, "-kind", "matrix",
		"-networks", strconv.Itoa(o.networks), "-rate", "1", "-duration", simulated.String(), "-every", (time.Duration(o.speed) * 10 * time.Minute).String())
	if err != nil {
		return p, err
	}
	for began := time.Now(); ; time.Sleep(time.Second) {
		_, err := b.call(ctx, http.MethodGet, fmt.Sprintf("/core/network/find/id/%d", o.networks), "")
		if err == nil {
			return p, nil
		}
		if time.Since(began) > 4*patience {
			p.stop()
			return p, fmt.Errorf("not all networks are adopted after %s: %w", 4*patience, err)
		}
	}
}

// call makes a request of the Core interface and returns the answer's body.
func (b *appliance) call(ctx context.Context, method, path, body string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, method, "http://"+b.address+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+b.key)
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	read, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode >= 400 {
		err = fmt.Errorf("%s %s: %s: %s", method, path, answer.Status, read)
	}
	return read, err
}

// watch keeps viewers of live motion connected until ctx ends.
func (b *appliance) watch(ctx context.Context, viewers int) {
	header := http.Header{"Authorization": {"Bearer " + b.key}}
	for i := range viewers {
		go func() {
			for ctx.Err() == nil {
				ws, _, err := websocket.DefaultDialer.DialContext(ctx, fmt.Sprintf("ws://%s/core/network/%d/motion/live", b.address, i+1), header)
				if err != nil {
					time.Sleep(time.Second)
					continue
				}
				stop := context.AfterFunc(ctx, func() { ws.Close() })
				for err == nil {
					_, _, err = ws.ReadMessage()
				}
				stop()
				ws.Close()
			}
		}()
	}
}

// ask reads and writes like an integrator's program, once an interval, until ctx ends,
// and prints errors.
func (b *appliance) ask(ctx context.Context, interval time.Duration) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		network := n%10 + 1
		for _, request := range [][3]string{
			{http.MethodGet, fmt.Sprintf("/core/network/%d/motion/history/state", network), ""},
			{http.MethodGet, fmt.Sprintf("/core/network/%d/events/history", network), ""},
			{http.MethodPatch, fmt.Sprintf("/core/network/%d/meta", network), fmt.Sprintf(`{"installer":"visit %d"}`, n)},
		} {
			if _, err := b.call(ctx, request[0], request[1], request[2]); err != nil && ctx.Err() == nil {
				fmt.Fprintln(os.Stderr, "soak:", err)
			}
		}
	}
}
