package appliance

import (
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	"sensegate/api/admin"
	"sensegate/motion/uplink"
	"sensegate/motion/uplink/uplinktest"
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
