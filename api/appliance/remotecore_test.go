package appliance

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"sensegate/motion"
	"sensegate/motion/command"
	"sensegate/motion/uplink"
	"sensegate/motion/uplink/uplinktest"
)

// TestCoreIsAskedFromAfar asks at the broker of an uplink, on either listener that Core can be served on.
func TestCoreIsAskedFromAfar(t *testing.T) {
	t.Parallel()
	for name, listen := range map[string]string{"with the rest": "", "of its own": "127.0.0.1:0"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			broker := uplinktest.Start(t, uplinktest.Options{})
			reader, centre := broker.Listen("sensegate/+/core/reply/+"), broker.Connect("centre")
			r := serve(t, func(c *Config) {
				c.Core.Listen = listen
				c.Uplinks = []uplink.Config{{Name: "engine", URL: broker.URL(), Use: []uplink.Use{uplink.Commands}}}
			})
			base := r.uplinks.List()[0].Base
			secret, _, _ := strings.Cut(r.command("apikey", "create", "centre", "-all-networks", "-scope", "core:read"), "\n")
			ask := func(id, method, path, key string) {
				raw := fmt.Sprintf(`{"id":%q,"method":%q,"path":%q,"key":%q,"deadline":%d,"body":{}}`, id, method, path, key, time.Now().Unix()+60)
				if err := centre.Publish(t.Context(), uplink.Message{Topic: base + "/core", Payload: []byte(raw), QoS: 1}); err != nil {
					t.Fatal(err)
				}
			}
			answer := make(chan uplink.Message, 1)
			go func() { answer <- reader.Await(base + "/core/reply/first") }()
			for asked := false; !asked; { // until the uplink hears
				ask("first", "GET", "/core/networks", secret)
				select {
				case m := <-answer:
					asked = true
					if !strings.Contains(string(m.Payload), `"status":200`) {
						t.Errorf("%s", m.Payload)
					}
				case <-time.After(100 * time.Millisecond):
				}
			}
			for _, test := range []struct {
				id, method, path, key string
				status                int
			}{
				{"foreign", "GET", "/core/networks", "sg_foreign", 401},
				{"none", "GET", "/core/networks", "", 401},
				{"scope", "PATCH", "/core/network/1/config/guardian", secret, 403},
				{"unknown", "GET", "/core/network/999/topology", secret, 404},
				{"stream", "GET", "/core/network/1/motion/live", secret, 426},
			} {
				ask(test.id, test.method, test.path, test.key)
				var got struct {
					Status int
					Body   struct{ Detail string }
				}
				m := reader.Await(base + "/core/reply/" + test.id)
				if err := json.Unmarshal(m.Payload, &got); err != nil || got.Status != test.status || got.Body.Detail == "" {
					t.Errorf("%s: %s %v, want %d", test.id, m.Payload, err, test.status)
				}
			}
		})
	}
}

// TestRequestsFromAfarReachTheNetworksOfTheUplink has a key of all networks ask by an uplink of one.
func TestRequestsFromAfarReachTheNetworksOfTheUplink(t *testing.T) {
	t.Parallel()
	broker := uplinktest.Start(t, uplinktest.Options{})
	reader, centre := broker.Listen("sensegate/+/core/reply/+"), broker.Connect("centre")
	r := serve(t, func(c *Config) {
		c.Uplinks = []uplink.Config{{Name: "engine", URL: broker.URL(), Networks: []motion.NetworkID{1}, Use: []uplink.Use{uplink.Commands}}}
	})
	r.formTwo()
	for id := range 2 {
		ping := command.Request{NetworkID: motion.NetworkID(id + 1), NodeID: motion.NodeID(id + 1), Payload: map[string]string{"command": "ping"}}
		if _, err := r.engine.Commands.CreateCommand(t.Context(), ping, true); err != nil {
			t.Fatal(err)
		}
	}
	eventually := time.Now().Add(time.Minute)
	for r.uplinks.List()[0].Phase != uplink.Connected {
		if time.Now().After(eventually) {
			t.Fatal("not connected")
		}
		time.Sleep(10 * time.Millisecond)
	}
	base := r.uplinks.List()[0].Base
	secret, _, _ := strings.Cut(r.command("apikey", "create", "centre", "-all-networks"), "\n")
	asked := 0
	ask := func(path string) (status int, body string) {
		asked++
		answer := make(chan uplink.Message, 1)
		id := fmt.Sprint("r", asked)
		go func() { answer <- reader.Await(base + "/core/reply/" + id) }()
		for { // until the uplink hears
			raw := fmt.Sprintf(`{"id":%q,"method":"GET","path":%q,"key":%q,"deadline":%d}`, id, path, secret, time.Now().Unix()+60)
			if err := centre.Publish(t.Context(), uplink.Message{Topic: base + "/core", Payload: []byte(raw), QoS: 1}); err != nil {
				t.Fatal(err)
			}
			select {
			case m := <-answer:
				var got struct {
					Status int
					Body   json.RawMessage
				}
				if err := json.Unmarshal(m.Payload, &got); err != nil {
					t.Fatal(err)
				}
				return got.Status, string(got.Body)
			case <-time.After(time.Second):
			}
		}
	}
	for path, want := range map[string]string{
		"/core/networks":           `"guardian_id":"a41f"`,
		"/core/manage/list":        `"network_id":1`,
		"/core/manage/list?last=1": `"network_id":1`, // that of network 2 is newer
	} {
		if status, body := ask(path); status != 200 || strings.Count(body, want) != 1 || strings.Contains(body, "b52f") || strings.Contains(body, `"network_id":2`) {
			t.Errorf("%s: %d %s, want %s alone", path, status, body, want)
		}
	}
	for path, want := range map[string]int{
		"/core/network/1/topology": 200, "/core/network/2/topology": 404, "/core/insights/v2/2/activity?from=1": 404,
		"/core/network/find/id/1": 200, "/core/network/find/id/2": 404, "/core/network/find/guardian/b52f": 404,
		"/core/manage/list?node_id=1": 200, "/core/manage/list?node_id=2": 404, "/core/manage/list?batch_id=2": 404, "/core/manage/list?network_id=2": 404,
	} {
		if status, body := ask(path); status != want {
			t.Errorf("%s: %d %s, want %d", path, status, body, want)
		}
	}
}
