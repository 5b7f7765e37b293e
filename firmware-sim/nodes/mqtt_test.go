package nodes_test

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/listeners"
	"github.com/mochi-mqtt/server/v2/packets"

	"sensegate/broker/nodewire"
	"sensegate/firmware-sim/nodes"
	"sensegate/motion"
)

// login lets one user in.
type login struct {
	mqtt.HookBase
	user, password string
}

func (l *login) Provides(b byte) bool {
	return bytes.Contains([]byte{mqtt.OnConnectAuthenticate, mqtt.OnACLCheck}, []byte{b})
}

func (l *login) OnConnectAuthenticate(_ *mqtt.Client, p packets.Packet) bool {
	return string(p.Connect.Username) == l.user && string(p.Connect.Password) == l.password
}

func (l *login) OnACLCheck(_ *mqtt.Client, topic string, _ bool) bool {
	return strings.HasPrefix(topic, l.user+"/")
}

type published struct {
	topic   string
	payload []byte
}

// broker runs a broker and returns its address and what is published there.
func broker(t *testing.T) (at string, heard chan published) {
	t.Helper()
	b := mqtt.New(&mqtt.Options{InlineClient: true, Logger: slog.New(slog.DiscardHandler)})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	heard = make(chan published, 1<<16)
	for _, err := range []error{
		b.AddHook(&login{user: "kitchen", password: "secret"}, nil), b.AddListener(listeners.NewNet("test", listener)),
		b.Subscribe("kitchen/#", 1, func(_ *mqtt.Client, _ packets.Subscription, p packets.Packet) {
			heard <- published{p.TopicName, bytes.Clone(p.Payload)}
		}), b.Serve(),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = b.Close() })
	return listener.Addr().String(), heard
}

func TestNodesThatDecideThemselvesTellABroker(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		form nodes.MQTTForm
		will bool
	}{{nodes.ESPHome, true}, {nodes.MicroMQTT, false}, {nodes.NativeMQTT, true}} {
		t.Run(string(test.form), func(t *testing.T) {
			t.Parallel()
			at, heard := broker(t)
			house, now := vacant(t), motion.TimeOf(time.Now())
			if err := house.Walk("Kitchen", now.Add(5), now.Add(3600)); err != nil {
				t.Fatal(err)
			}
			node := &nodes.MQTT{Server: at, User: "kitchen", Password: "secret", Topic: "kitchen/node", Form: test.form}
			ctx, unplug := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() {
				ended <- node.Run(ctx, house.Radio(nodes.RadioConfig{Kind: motion.MQTTMotion, Rate: 50, Router: router}))
			}()
			next := func() nodewire.Motion {
				t.Helper()
				select {
				case p := <-heard:
					m, err := nodewire.MQTTMotion(strings.TrimPrefix(p.topic, "kitchen/"), p.payload)
					if err != nil || m.Node != "node" {
						t.Fatalf("%s %s: %+v %v", p.topic, p.payload, m, err)
					}
					return m
				case <-time.After(patience):
					t.Fatal("nothing is said")
				}
				panic("unreachable")
			}
			moves, threshold, scores := map[bool]bool{}, 0.0, 0
			for !moves[false] || !moves[true] || threshold == 0 || scores < 2 {
				m := next()
				if m.Moves != nil {
					moves[*m.Moves] = true
				}
				if m.Score != nil {
					scores++
				}
				if m.Threshold != nil {
					threshold = *m.Threshold
				}
			}
			unplug()
			if err := <-ended; err != nil || node.Sent() == 0 {
				t.Errorf("after %d messages: %v", node.Sent(), err)
			}
			for test.will {
				if m := next(); m.Alive != nil && !*m.Alive {
					break
				}
			}
		})
	}
}

func TestESPectreNodeJoinsTheBrokerThatItIsToldOf(t *testing.T) {
	t.Parallel()
	at, heard := broker(t)
	node, _ := espectre(t)
	host, port, err := net.SplitHostPort(at)
	if err != nil {
		t.Fatal(err)
	}
	patch := func(body string) int {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPatch, "http://"+node.At()+"/espectre/v1/mqtt", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Origin", upstreamOrigin)
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		response, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		return closed(t, response)
	}
	settings := `{"scheme":"mqtt","host":"` + host + `","port":` + port + `,"username":"kitchen","password":"secret","topic_prefix":"kitchen/espectre"`
	for body, want := range map[string]int{"{}": http.StatusBadRequest, settings + `,"more":"` + strings.Repeat("x", 2048) + `"}`: http.StatusBadRequest} {
		if got := patch(body); got != want {
			t.Errorf("%.80s: %d, want %d", body, got, want)
		}
	}
	for range 2 { // the second time it begins again
		if got := patch(settings + "}"); got != http.StatusOK {
			t.Fatalf("%d", got)
		}
		for online := false; ; {
			var p published
			select {
			case p = <-heard:
			case <-time.After(patience):
				t.Fatal("nothing is said")
			}
			topic, of := strings.CutPrefix(p.topic, "kitchen/espectre/"+node.DeviceID())
			m, err := nodewire.MQTTMotion("node"+topic, p.payload)
			if !of || err != nil {
				t.Fatalf("%s %s: %v", p.topic, p.payload, err)
			}
			online = online || m.Alive != nil && *m.Alive
			if online && m.Moves != nil {
				break
			}
		}
	}
}

// closed closes the body of an answer and returns its status.
func closed(t *testing.T, r *http.Response) int {
	t.Helper()
	if err := r.Body.Close(); err != nil {
		t.Error(err)
	}
	return r.StatusCode
}

func TestNodeWithAWrongPasswordSaysNothing(t *testing.T) {
	t.Parallel()
	at, heard := broker(t)
	node := &nodes.MQTT{Server: at, User: "kitchen", Password: "guess", Topic: "kitchen/node", Form: nodes.ESPHome}
	ctx, unplug := context.WithTimeout(t.Context(), 2*time.Second)
	defer unplug()
	err := node.Run(ctx, vacant(t).Radio(nodes.RadioConfig{Kind: motion.MQTTMotion, Rate: 200, Router: router}))
	if err != nil || node.Sent() != 0 || len(heard) != 0 {
		t.Errorf("%d messages, %d heard: %v", node.Sent(), len(heard), err)
	}
}
