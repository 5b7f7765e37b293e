package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
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

	"sensegate/broker/wire"
	"sensegate/motion"
)

// patience is the time limit of a start or an answer.
const patience = time.Minute

// appliance is the real binary on a state directory, with its defaults on free ports of
// the loopback interface.
type appliance struct {
	product, dir string
	http, mqtt   string // addresses
	key          string // of Core, set by makeKey
	settings     []string
	cmd          *exec.Cmd
	drained      chan error // receives nil at the end of the log
}

// serve starts the product on a state directory and waits until it is ready; under is a
// command line that runs it, such as a tracer's.
func (b *bench) serve(ctx context.Context, dir string, under ...string) (*appliance, error) {
	if err := b.build(); err != nil {
		return nil, err
	}
	line := append(append([]string(nil), under...), b.product(), "serve")
	a := &appliance{product: b.product(), dir: dir, settings: b.settings, cmd: exec.CommandContext(ctx, line[0], line[1:]...), drained: make(chan error, 1)}
	a.cmd.Env = a.environment()
	out, err := a.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := a.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the product: %w", err)
	}
	ready := make(chan struct{})
	var last string // belongs to follow until drained
	go func() { last = a.follow(out, ready); a.drained <- nil }()
	select {
	case <-ready:
		return a, nil
	case <-a.drained:
		return nil, fmt.Errorf("the product does not start (%w): %s", a.cmd.Wait(), last)
	case <-time.After(patience):
		return nil, errors.Join(errors.New("the product is not ready"), a.cmd.Process.Kill())
	}
}

func (a *appliance) environment() []string {
	return append(append(os.Environ(), a.settings...), "SENSEGATE_STATE_DIR="+a.dir, "SENSEGATE_LOG_FORMAT=json",
		"SENSEGATE_HTTP_LISTEN=127.0.0.1:0", "SENSEGATE_MQTT_LISTEN=127.0.0.1:0",
		"SENSEGATE_HTTP_TLS_LISTEN=127.0.0.1:0", "SENSEGATE_MQTT_TLS_LISTEN=127.0.0.1:0",
		"SENSEGATE_GATEKEEPER_ACCESS_TOKEN="+accessToken)
}

// follow reads the log, stores the addresses and closes ready when it shows them, and
// returns its last line.
func (a *appliance) follow(log io.Reader, ready chan<- struct{}) (last string) {
	lines := bufio.NewScanner(log)
	for lines.Scan() {
		last = lines.Text()
		var line struct{ Msg, HTTP, MQTT string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "ready" {
			a.http, a.mqtt = line.HTTP, line.MQTT
			close(ready)
		}
	}
	return last
}

// stop ends the product with SIGTERM and waits for it.
func (a *appliance) stop() error {
	err := syscall.Kill(a.pid(), syscall.SIGTERM)
	<-a.drained
	return errors.Join(err, a.cmd.Wait())
}

// pid returns the process of the product, which may be a tracer's child.
func (a *appliance) pid() int {
	if raw, err := os.ReadFile(filepath.Join(a.dir, "sensegate.db.pid")); err == nil {
		if pid, err := strconv.Atoi(strings.TrimSpace(string(raw))); err == nil {
			return pid
		}
	}
	return a.cmd.Process.Pid
}

// makeKey creates a key of the Core interface.
func (a *appliance) makeKey(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, a.product, "apikey", "create", "bench", "-write", "-all-networks")
	cmd.Env = a.environment()
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("make a key: %w", err)
	}
	a.key, _, _ = strings.Cut(string(out), "\n")
	return nil
}

// call makes a request, expects 2xx and decodes the answer's JSON unless answer is nil.
func (a *appliance) call(ctx context.Context, method, path, body string, answer any) error {
	request, err := http.NewRequestWithContext(ctx, method, "http://"+a.http+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", a.key)
	_, err = a.send(request, answer)
	return err
}

// send makes a request, expects 2xx and decodes the answer's JSON unless answer is nil.
func (a *appliance) send(request *http.Request, answer any) (*http.Response, error) {
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode >= 300 {
		return nil, fmt.Errorf("%s %s: %s %s", request.Method, request.URL.Path, response.Status, bytes.TrimSpace(raw))
	}
	if answer == nil {
		return response, nil
	}
	return response, json.Unmarshal(raw, answer)
}

// device is an adopted device.
type device struct {
	network motion.NetworkID
	key     motion.DeviceKey
	token   string
}

// adopt adopts the access point of home i and returns its two agents.
func (a *appliance) adopt(ctx context.Context, i int) (guardian, radar device, err error) {
	location := fmt.Sprintf("a41f00c2d97b4e55%08d", i)
	record := motion.Bootstrap{LocationID: location, Radar: motion.Radar{
		DeviceID: fmt.Sprintf("csi-%06d", i), NodeName: nodeName, LocationID: location, RootMode: motion.RootModeMaster,
		APBSSID2GHz: motion.MAC{2, 0xaa, 0, byte(i >> 8), byte(i), 0x12},
	}}
	var answer wire.BootstrapAnswer
	if err := a.call(ctx, http.MethodPost, "/gatekeeper?access_token="+accessToken, string(wire.EncodeBootstrap(record)), &answer); err != nil {
		return device{}, device{}, err
	}
	c := answer.LocalConfig
	if c == nil || c.Guardian == nil || c.Radar == nil {
		return device{}, device{}, fmt.Errorf("the gatekeeper does not adopt the device: %+v", answer)
	}
	guardian = device{c.Guardian.NetworkID, motion.DeviceKey{Kind: motion.Guardian, ID: c.Guardian.GuardianID}, c.Guardian.MQToken}
	radar = device{c.Radar.NetworkID, motion.DeviceKey{Kind: motion.RadarKind, ID: c.Radar.DeviceID}, c.Radar.MQToken}
	return guardian, radar, nil
}

// accessToken lets the homes in: without one, a hundred may wait for an owner.
const accessToken = "bench-access-token"

// adoptMany adopts homes 0 to n−1 and returns their agents.
func (a *appliance) adoptMany(ctx context.Context, n int) (guardians, radars []device, err error) {
	for i := range n {
		guardian, radar, err := a.adopt(ctx, i)
		if err != nil {
			return nil, nil, fmt.Errorf("adopt home %d: %w", i, err)
		}
		guardians, radars = append(guardians, guardian), append(radars, radar)
	}
	return guardians, radars, nil
}
