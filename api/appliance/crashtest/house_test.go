package crashtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"sensegate/api/appliance/box"
	"sensegate/broker/wire"
	"sensegate/motion"
	"sensegate/motion/command"
	"sensegate/motion/home"
)

const (
	network    = motion.NetworkID(1) // the first one of an installation
	guardianID = "a41f00c2d97b4e5580136c2e"
	deviceID   = "csi-a-02aa00000110"
	owner      = "jdoe@example.com"
)

// house is what stands around a product: credentials and what they may write to.
type house struct {
	product  string // the binary
	dir      string // the state
	key      string // of Core
	password string // of the owner
	session  string // of the household's interface
	user     home.UserID
	home     home.ID        // that user owns
	guests   [2]home.UserID // who become its members, and leave
	node     motion.NodeID
	alert    string
	ids      *atomic.Uint32 // of MQTT packets
}

func now() motion.Time { return motion.TimeOf(time.Now()) }

// furnish makes a house on a new state directory and leaves its product stopped.
func furnish(t *testing.T, product string) *house {
	t.Helper()
	return furnishAt(t, product, shortDir(t))
}

// furnishAt is furnish with the state in dir.
func furnishAt(t *testing.T, product, dir string) *house {
	t.Helper()
	h := &house{product: product, dir: dir, ids: &atomic.Uint32{}}
	p := start(t, h.dir, product)
	h.key, _, _ = strings.Cut(box.Administer(t, product, h.dir, "apikey", "create", "crash", "-write"), "\n")
	_, after, _ := strings.Cut(box.Administer(t, product, h.dir, "user", "create", owner), "password: ")
	h.password, _, _ = strings.Cut(after, "\n")
	v := h.visit(t, p)
	defer v.leave()
	var logged struct {
		Token string
		User  struct{ ID home.UserID }
	}
	v.want("POST", "/api/v1/sessions", fmt.Sprintf(`{"email": %q, "password": %q}`, owner, h.password), &logged)
	h.session, h.user = logged.Token, logged.User.ID
	var found struct{ ID home.ID }
	v.want("POST", "/api/v1/find", fmt.Sprintf(`{"guardian_id": %q}`, guardianID), &found)
	h.home = found.ID
	v.want("POST", "/api/v1/network_memberships", fmt.Sprintf(`{"role": "owner", "network_id": %d}`, h.home), nil)
	for i, address := range []string{"guest@example.com", "other@example.com"} {
		var made home.User
		if _, err := v.administer(t.Context(), "POST", "/users", fmt.Sprintf(`{"email": %q, "password": %q}`, address, h.password), &made); err != nil {
			t.Fatal(err)
		}
		h.guests[i] = made.ID
	}
	var node motion.Node
	v.want("GET", "/core/node/find/device/"+deviceID, "", &node)
	h.node = node.ID
	var alert struct{ UUID string }
	v.want("POST", "/core/api/v1/universal-alert?network_id=1", `{"alert_name": "0", "monitor": {"monitor_mode": "NONE"},
		"rrule": "DTSTART;TZID=America/Toronto:20990101T080000\nRRULE:FREQ=DAILY", "no_motion_actions": [], "motion_actions": [], "no_history_actions": []}`, &alert)
	h.alert = alert.UUID
	v.want("PATCH", "/core/network/1/meta", `{"crash": "0"}`, nil)
	v.want("PATCH", "/api/v1/user/meta", `{"crash": "0"}`, nil)
	p.Stop()
	return h
}

// visit is the time between two crashes: connections to one running product.
type visit struct {
	t               *testing.T
	house           *house
	process         *box.Process
	address         string
	client          *http.Client
	guardian, radar *box.Device
	admin           *http.Client // at the administration socket
	administered    int          // commands that were answered
	created         command.ID   // the last command of this visit
}

// visit connects to a product as devices and programs do after their start.
func (h *house) visit(t *testing.T, p *box.Process) *visit {
	t.Helper()
	v := &visit{
		t: t, house: h, process: p, address: "http://" + p.HTTP, admin: administrator(h.dir),
		client: &http.Client{Timeout: box.Patience, Transport: &http.Transport{MaxIdleConnsPerHost: 8}},
	}
	record := motion.Bootstrap{LocationID: guardianID, Radar: motion.Radar{
		DeviceID: deviceID, NodeName: "GWA1000133", LocationID: guardianID, RootMode: motion.RootModeMaster,
		APBSSID2GHz: motion.MAC{2, 0xaa, 0, 0, 1, 0x12}, HWVersion: "AP-900",
	}}
	var answer wire.BootstrapAnswer
	v.want("POST", "/gatekeeper", string(wire.EncodeBootstrap(record)), &answer)
	if answer.LocalConfig == nil || answer.LocalConfig.Guardian == nil || answer.LocalConfig.Radar == nil {
		t.Fatalf("the gatekeeper does not let the device in: %+v", answer)
	}
	var err error
	guardian := motion.DeviceKey{Kind: motion.Guardian, ID: guardianID}
	if v.guardian, err = box.Connect(t.Context(), p.MQTT, guardian, answer.LocalConfig.Guardian.MQToken, h.ids); err != nil {
		t.Fatal(err)
	}
	radar := motion.DeviceKey{Kind: motion.RadarKind, ID: deviceID}
	if v.radar, err = box.Connect(t.Context(), p.MQTT, radar, answer.LocalConfig.Radar.MQToken, h.ids); err != nil {
		t.Fatal(err)
	}
	return v
}

// leave closes the connections and waits for their ends.
func (v *visit) leave() {
	for _, d := range []*box.Device{v.guardian, v.radar} {
		d.Close()
	}
	v.client.CloseIdleConnections()
	v.admin.CloseIdleConnections()
}

// work has the writers at work until ctx or the product ends, or each has made
// limit operations, and returns the first reason why one could not go on.
func (v *visit) work(ctx context.Context, writers []*writer, limit int) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, w := range writers {
		group.Go(func() error { return w.run(ctx, v, limit) })
	}
	return group.Wait()
}

// errRefused is an answer that no crash explains, and statusError what it is.
var errRefused = errors.New("refused")

type statusError struct {
	error
	status int
}

func (e statusError) Unwrap() error { return e.error }

// refusedWith reports whether a request was refused with a status.
func refusedWith(err error, status int) bool {
	var refused statusError
	return errors.As(err, &refused) && refused.status == status
}

// administrator returns a client at the administration socket of a state directory.
func administrator(dir string) *http.Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(dir, "sensegate.sock"))
	}
	return &http.Client{Timeout: box.Patience, Transport: &http.Transport{DialContext: dial}}
}

// call makes a request, which must be answered with 2xx, and returns its receipt.
func (v *visit) call(ctx context.Context, method, path, body string, answer any) (receipt, error) {
	authorization := v.house.key
	if strings.HasPrefix(path, "/api/") {
		authorization = v.house.session
	}
	header, err := request(ctx, v.client, method, v.address+path, authorization, body, answer)
	return ofRequest(header.Get("X-Request-Id")), err
}

// administer is call for a command at the administration socket. One goroutine uses it.
func (v *visit) administer(ctx context.Context, method, path, body string, answer any) (receipt, error) {
	_, err := request(ctx, v.admin, method, "http://administration"+path, "", body, answer)
	if err != nil {
		return "", err
	}
	v.administered++
	return ofCommand(v.administered), nil
}

// request makes a request, which must be answered with 2xx, and decodes the answer.
func request(ctx context.Context, client *http.Client, method, url, authorization, body string, answer any) (http.Header, error) {
	request, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", authorization)
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode >= 300 {
		err := fmt.Errorf("%w: %s %s: %s %s", errRefused, method, url, response.Status, bytes.TrimSpace(raw))
		return nil, statusError{err, response.StatusCode}
	}
	if answer != nil {
		err = json.Unmarshal(raw, answer)
	}
	return response.Header, err
}

// want is call for what must succeed.
func (v *visit) want(method, path, body string, answer any) {
	v.t.Helper()
	if _, err := v.call(v.t.Context(), method, path, body, answer); err != nil {
		v.t.Fatal(err)
	}
}

// sent waits until the node was sent a command.
func (v *visit) sent(ctx context.Context, id command.ID) error {
	for {
		select {
		case c := <-v.radar.Commands:
			if c.ID == int64(id) {
				return nil
			}
		case <-v.radar.Gone:
			return box.ErrGone
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
