package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/listeners"
	"github.com/mochi-mqtt/server/v2/packets"
	"go.uber.org/goleak"

	"sensegate/broker/wire"
	"sensegate/firmware-sim/clocktest"
	"sensegate/motion"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience bounds every wait of a test; nothing comes near it unless it is broken.
const patience = time.Minute

// heard is a message that the appliance received.
type heard struct {
	topic  wire.Topic
	report motion.Report
}

// appliance is a gatekeeper over HTTP and a broker over TCP, as small as a test
// needs them.
type appliance struct {
	t      *testing.T
	clock  clocktest.Clock
	broker *mqtt.Server
	door   *httptest.Server
	port   int
	heard  chan heard

	mu      sync.Mutex
	answers []wire.BootstrapAnswer // of the next posts; then access is given
	posts   []motion.Bootstrap
	bearers []string
	tokens  map[string]string // valid, by client id
	refuse  int               // so many connections to refuse
}

func newAppliance(t *testing.T, answers ...wire.BootstrapAnswer) *appliance {
	t.Helper()
	a := &appliance{t: t, clock: clocktest.New(t), heard: make(chan heard, 1<<16), answers: answers, tokens: map[string]string{}}
	a.broker = mqtt.New(&mqtt.Options{InlineClient: true, Logger: slog.New(slog.DiscardHandler)})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	a.port = listener.Addr().(*net.TCPAddr).Port
	if err := a.broker.AddHook(&doorman{appliance: a}, nil); err != nil {
		t.Fatal(err)
	}
	if err := a.broker.AddListener(listeners.NewNet("test", listener)); err != nil {
		t.Fatal(err)
	}
	if err := a.broker.Subscribe("iot-2/#", 1, a.receive); err != nil {
		t.Fatal(err)
	}
	if err := a.broker.Serve(); err != nil {
		t.Fatal(err)
	}
	a.door = httptest.NewServer(http.HandlerFunc(a.gatekeeper))
	t.Cleanup(func() {
		a.door.Close()
		a.awaitGoodbyes()
		_ = a.broker.Close()
	})
	return a
}

// awaitGoodbyes waits until the broker has forgotten all devices. The library
// locks up when it is closed at the moment in which it forgets one (a recursive
// read lock in Clients.GetByListener), and has no event for that moment.
func (a *appliance) awaitGoodbyes() {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	deadline := time.After(patience)
	const inline = 1
	for a.broker.Clients.Len() > inline {
		select {
		case <-tick.C:
		case <-deadline:
			a.t.Errorf("%d devices are still connected after the end", a.broker.Clients.Len()-inline)
			return
		}
	}
}

// doorman is the broker's authentication and access control.
type doorman struct {
	mqtt.HookBase
	appliance *appliance
}

func (d *doorman) Provides(b byte) bool {
	return bytes.Contains([]byte{mqtt.OnConnectAuthenticate, mqtt.OnACLCheck}, []byte{b})
}

func (d *doorman) OnConnectAuthenticate(_ *mqtt.Client, p packets.Packet) bool {
	a := d.appliance
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.refuse > 0 {
		a.refuse--
		return false
	}
	token, known := a.tokens[p.Connect.ClientIdentifier]
	return known && string(p.Connect.Username) == "device" && string(p.Connect.Password) == token
}

func (d *doorman) OnACLCheck(c *mqtt.Client, topic string, write bool) bool {
	direction := "cmd"
	if write {
		direction = "evt"
	}
	levels := strings.Split(topic, "/")
	return len(levels) > 5 && levels[4] == c.ID && levels[5] == direction
}

// receive decodes what a device published, which must be well-formed.
func (a *appliance) receive(_ *mqtt.Client, _ packets.Subscription, p packets.Packet) {
	topic, err := wire.ParseTopic(p.TopicName)
	if err != nil {
		a.t.Errorf("topic %s: %v", p.TopicName, err)
		return
	}
	if topic.Command {
		return
	}
	report, err := new(wire.Decoder).Decode(topic, bytes.Clone(p.Payload))
	if err != nil {
		a.t.Errorf("%s: %v\n%.300s", p.TopicName, err, p.Payload)
		return
	}
	want := byte(1)
	if topic.Name == wire.EventCSI || topic.Name == wire.EventMatrix {
		want = 0
	}
	if p.FixedHeader.Qos != want {
		a.t.Errorf("%s with QoS %d, want %d", p.TopicName, p.FixedHeader.Qos, want)
	}
	a.heard <- heard{topic, report}
}

// gatekeeper answers a post with the next answer, then with access.
func (a *appliance) gatekeeper(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	post, err := wire.DecodeBootstrap(body)
	if err != nil || r.Method != http.MethodPost || r.URL.Path != "/gatekeeper" {
		a.t.Errorf("%s %s: %v", r.Method, r.URL.Path, err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.posts = append(a.posts, post)
	a.bearers = append(a.bearers, r.Header.Get("Authorization"))
	answer := a.access(post)
	if len(a.answers) > 0 {
		answer, a.answers = a.answers[0], a.answers[1:]
	}
	_ = json.NewEncoder(w).Encode(answer)
}

// access makes new tokens for the device; a.mu is held.
func (a *appliance) access(post motion.Bootstrap) wire.BootstrapAnswer {
	token := fmt.Sprintf("token-%d", len(a.posts))
	config := &wire.LocalConfig{Radar: &wire.RadarAccess{
		NetworkID: 1042, DeviceID: post.Radar.DeviceID, MQServer: "127.0.0.1", MQPort: a.port, MQToken: token, MQType: motion.RadarKind,
	}}
	a.tokens[post.Radar.DeviceID] = token
	if post.Radar.RootMode == motion.RootModeMaster {
		config.Guardian = &wire.GuardianAccess{
			NetworkID: 1042, GuardianID: post.LocationID, MQServer: "127.0.0.1", MQPort: a.port, MQToken: token, MQType: motion.Guardian,
		}
		a.tokens[post.LocationID] = token
	}
	return wire.BootstrapAnswer{LocalConfig: config, RadarConfig: motion.Document{}, GuardianConfig: motion.Document{}}
}

// command publishes a command to a device.
func (a *appliance) command(device motion.DeviceKey, name string, body any) {
	a.t.Helper()
	payload, err := json.Marshal(body)
	if err != nil {
		a.t.Fatal(err)
	}
	if err := a.broker.Publish(wire.CommandTopic(device, name), payload, false, 1); err != nil {
		a.t.Fatal(err)
	}
}

// await returns the first message that match accepts.
func await[R motion.Report](a *appliance, match func(wire.Topic, R) bool) R {
	a.t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case m := <-a.heard:
			if r, ok := m.report.(R); ok && match(m.topic, r) {
				return r
			}
		case <-deadline:
			var zero R
			a.t.Fatalf("no matching %T came", zero)
		}
	}
}

// start runs a simulation against the appliance until the test ends, and waits
// until it is ready.
func (a *appliance) start(c Config) *Sim {
	a.t.Helper()
	c.Gatekeeper = a.door.URL + "/gatekeeper"
	c.Now = a.clock.Now
	if c.Home.Nodes == nil {
		c.Home = NewHome(0)
		c.Home.Local = a.clock.Zone()
	}
	c.Log = slog.New(slog.NewTextHandler(a.t.Output(), nil))
	s, err := New(c)
	if err != nil {
		a.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	a.t.Cleanup(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				a.t.Errorf("run: %v", err)
			}
		case <-time.After(patience):
			a.t.Error("the simulation does not end")
		}
	})
	select {
	case <-s.Ready():
	case <-time.After(patience):
		a.t.Fatal("the devices do not connect")
	}
	return s
}

// ago is a start of the simulation before the clock's.
func (a *appliance) ago(d time.Duration) time.Time { return a.clock.Start.Add(-d) }
