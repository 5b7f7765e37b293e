package appliance

import (
	"encoding/json"
	"errors"
	"io"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"sensegate/api/admin"
	"sensegate/motion"
	"sensegate/motion/uplink"
	"sensegate/motion/uplink/uplinktest"
	"sensegate/store"
)

// TestUplinkOfTheTerminalWorks makes, tries, shows and removes an uplink by the commands.
func TestUplinkOfTheTerminalWorks(t *testing.T) {
	t.Parallel()
	broker := uplinktest.Start(t, uplinktest.Options{Users: map[string]string{"sensegate": "a secret"}})
	reader := broker.Listen("house/#")
	r := serve(t, func(c *Config) {
		c.Uplinks = []uplink.Config{{Name: "fixed", URL: "mqtt://127.0.0.1:9", Use: []uplink.Use{uplink.Live}}}
	})
	word := t.TempDir() + "/word"
	if err := os.WriteFile(word, []byte("a secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.command("uplink", "add", "house", "-url", broker.URL(), "-use", "events,history,live", "-username", "sensegate", "-password-file", word, "-prefix", "house")
	m := reader.Next()
	base, isStatus := strings.CutSuffix(m.Topic, "/availability")
	if !isStatus || string(m.Payload) != "online" {
		t.Fatalf("%s %s", m.Topic, m.Payload)
	}
	var health uplink.Health
	if err := json.Unmarshal(reader.Await(base+"/health").Payload, &health); err != nil || health.Version == "" || health.Database == 0 {
		t.Errorf("%v: %+v", err, health)
	}
	if said := r.command("uplink", "test", "house"); strings.Count(said, "  ok  ") != 3 {
		t.Errorf("test says\n%s", said)
	}
	reader.Await(base + "/test")
	if said := r.command("status"); !strings.Contains(said, "uplink house") || !strings.Contains(said, "events, motion of each minute, live motion when it is asked for of all networks to "+broker.Address()) {
		t.Errorf("status says\n%s", said)
	}
	said := r.command("uplink", "list", "-json")
	if strings.Contains(said, "a secret") || !strings.Contains(said, `"has_password":true`) || !strings.Contains(said, `"name":"fixed"`) {
		t.Errorf("list says %s", said)
	}
	r.command("uplink", "change", "house", "-use", "events") // without the password, which stays
	if m := reader.Await(base + "/availability"); string(m.Payload) != "offline" {
		t.Errorf("%s", m.Payload)
	}
	if m := reader.Await(base + "/availability"); string(m.Payload) != "online" {
		t.Errorf("%s", m.Payload)
	}
	r.command("uplink", "remove", "house")
	if m := reader.Await(base + "/availability"); string(m.Payload) != "offline" {
		t.Errorf("%s", m.Payload)
	}
	for words, want := range map[string]string{
		"uplink remove house":                                         "not found",
		"uplink remove fixed":                                         "stands in the configuration: change it there",
		"uplink add two -url mqtt://127.0.0.1:9 -use live":            "client_id: want another one than uplink fixed",
		"uplink add x -url http:// -use events":                       "url: want mqtt://host",
		"uplink add x -url mqtt://h":                                  "use: want one or more of",
		"uplink add x -url mqtt://h -use motion":                      `found "motion"`,
		"uplink add mqtt -url mqtt://h -use live":                     "mqtt is a name of the section relay",
		"uplink add x -url mqtt://h -use live -ca " + word:            "ca: want",
		"uplink add x -url mqtt://h -use live -password-file " + word: "username: want one with the password",
	} {
		err := admin.Run(t.Context(), r.config.StateDir, nil, strings.Fields(words), io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", words, err, want)
		}
	}
	var out strings.Builder
	r.metrics(&out)
	if !strings.Contains(out.String(), `sensegate_uplink_connected{uplink="fixed"} 0`) {
		t.Error(out.String())
	}
}

// formTwo has two networks form, of which every device but the second guardian connects, with a link in the
// first that does not measure.
func (r running) formTwo() {
	r.t.Helper()
	own := netip.MustParseAddr("127.0.0.1")
	for i, guardian := range []string{"a41f", "b52f"} {
		radar := motion.Radar{
			DeviceID: "csi-" + guardian, NodeName: "GW" + guardian, LocationID: guardian, RootMode: motion.RootModeMaster,
			APBSSID2GHz: motion.MAC{2, 0xaa, 0, 0, 1, byte(i)},
		}
		admission, err := r.engine.Devices.Admit(r.t.Context(), motion.Bootstrap{Radar: radar, LocationID: guardian}, motion.Credentials{Address: own})
		if err != nil || admission.Network != motion.NetworkID(i+1) {
			r.t.Fatalf("%+v, %v", admission, err)
		}
		tokens := map[string]string{radar.DeviceID: admission.RadarToken}
		if i == 0 {
			tokens[guardian] = admission.GuardianToken
		}
		for id, token := range tokens {
			key, err := r.engine.Devices.Login(r.t.Context(), id, token)
			if err != nil {
				r.t.Fatal(err)
			}
			r.engine.State.Connected(key, own)
		}
	}
	err := r.db.Update(r.t.Context(), func(tx *store.Tx) error {
		leaf, err := tx.PutLeaf(motion.Leaf{NetworkID: 1, MAC: motion.MAC{2, 0xbb, 0, 0, 0, 1}, NodeID: 1})
		return errors.Join(err, tx.PutLink(motion.Link{NetworkID: 1, Name: "GWa41f.02bb00000001", Dst: 1, Src: leaf.ID}))
	})
	if err := errors.Join(err, r.engine.State.Reload(r.t.Context(), 1)); err != nil {
		r.t.Fatal(err)
	}
}

// TestHealthCountsTheNetworksOfAnUplink and no other home.
func TestHealthCountsTheNetworksOfAnUplink(t *testing.T) {
	t.Parallel()
	broker := uplinktest.Start(t, uplinktest.Options{})
	reader := broker.Listen("+/+/health")
	r := serve(t, func(*Config) {})
	r.formTwo()
	for name, test := range map[string]struct {
		networks string
		want     uplink.Health
	}{
		"all":   {"", uplink.Health{Networks: 2, Devices: 4, Online: 3, LinksDown: 1}},
		"one":   {"1", uplink.Health{Networks: 1, Devices: 2, Online: 2, LinksDown: 1}},
		"other": {"2", uplink.Health{Networks: 1, Devices: 2, Online: 1}},
		"both":  {"1,2", uplink.Health{Networks: 2, Devices: 4, Online: 3, LinksDown: 1}},
	} {
		r.command("uplink", "add", name, "-url", broker.URL(), "-use", "history", "-prefix", name, "-client-id", name, "-networks", test.networks)
		var got uplink.Health
		if err := json.Unmarshal(reader.Next().Payload, &got); err != nil {
			t.Fatal(err)
		}
		if got.Networks != test.want.Networks || got.Devices != test.want.Devices || got.Online != test.want.Online || got.LinksDown != test.want.LinksDown {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
		r.command("uplink", "remove", name)
		if m := reader.Next(); len(m.Payload) > 0 {
			t.Errorf("of the removed uplink there is %s", m.Payload)
		}
	}
}

// TestCopyWithEventsToSendIsNotDeleted: it can go once the broker of the uplink has acknowledged them.
func TestCopyWithEventsToSendIsNotDeleted(t *testing.T) {
	t.Parallel()
	broker := uplinktest.Start(t, uplinktest.Options{})
	r := serve(t, func(*Config) {})
	r.command("uplink", "add", "engine", "-url", "mqtt://127.0.0.1:9", "-use", "events")
	r.formTwo()
	err := r.db.Update(t.Context(), func(tx *store.Tx) error {
		for range 3 {
			if _, _, err := tx.AddEvent(motion.Event{NetworkID: 1, Category: motion.CategorySystem, Event: "tested", TS: tx.Now()}, ""); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil {
		_, err = r.engine.SetAside(t.Context(), store.Handover{Network: 1, Copy: "COPY", Receipt: "RECEIPT"}, func(*store.Tx) error { return nil })
	}
	if err != nil {
		t.Fatal(err)
	}
	remove := func() error { // events that the appliance makes of itself may come to the three meanwhile
		return admin.Run(t.Context(), r.config.StateDir, nil, []string{"network", "delete", "-yes", "1"}, io.Discard, io.Discard)
	}
	if err = remove(); err == nil || !strings.Contains(err.Error(), "uplink engine has still to send") {
		t.Fatalf("with its broker away: %v", err)
	}
	if list := r.command("network", "list"); !strings.Contains(list, "set aside") {
		t.Errorf("after the refusal there is %s", list)
	}
	r.command("uplink", "change", "engine", "-url", broker.URL())
	for limit := time.Now().Add(waitMQTT); err != nil; err = remove() {
		if time.Now().After(limit) {
			t.Fatalf("once they were acknowledged: %v", err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	if sent := r.uplinks.List()[0].Events; sent < 3 {
		t.Errorf("deleted after %d events", sent)
	}
}
