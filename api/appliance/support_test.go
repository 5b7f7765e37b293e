package appliance

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sensegate/api/admin"
	"sensegate/motion"
	"sensegate/motion/alert"
	"sensegate/motion/home"
	"sensegate/motion/sensor"
	"sensegate/motion/uplink"
	"sensegate/store"
)

// planted is all that must not stand in a support bundle, by what it is. Most are plain words in lower
// case: nothing but that the database knows them tells that they are names.
var planted = map[string]string{
	"mail": "gerlinde.vogt@postfach.example", "first name": "gerlinde", "last name": "vogtländer", "second mail": "besuch@postfach.example",
	"home": "villa sonnenschein", "street": "amselweg 17b", "network": "b3d1c0ffee00a41f0017", "device": "csi-a-02aa00000777", "wire name": "GWA1007771",
	"device's name": "plaudertasche", "room": "bügelzimmer", "second room": "hobbykeller", "leaf": "fernseherchen", "leaf's host": "gerlindes-telefon",
	"leaf's maker name": "lindaphone", "mac": "02:5e:c7:e7:00:01", "bssid": "02:aa:5e:c7:e7:12", "link": "e70001-c7e712", "alert": "nachtwache",
	"sensor": "kellertuer", "phone": "lindas handy", "push token": "fcm-token-7f3a99c2d1e0", "key's name": "bastelrechner", "mqtt user": "brückenwart",
	"uplink": "fernwarte", "uplink's host": "nachbarhaus", "uplink's user": "fernleser", "uplink's password": "geheimnis-des-turms",
	"mail server": "postamt", "mail user": "absender7", "mail password": "postgeheimnis-99", "from": "haus@postfach.example", "gatekeeper token": "pforten-zeichen-41af9c0e77",
	"address": "192.168.77.43", "ipv6": "fd12:3456:789a::beef", "public host": "haus.sonnenschein.example", "secret": "sg_q7Zk2mXv81LpTt40aQ", "hex": "9f86d081884c7d659a2feaa0c55ad015",
	"ssid": "Sonnenschein-WLAN", "event's time": "1763912345", "event's clock time": "2025-11-23 15:39", "event's rfc time": "2025-11-23t15:39",
	"stranger": "Hannelore", "url": "https://gast:offen@amselbox.example/pfad",
}

// plantRecords writes what is planted into the database of a state directory.
func plantRecords(t *testing.T, dir string) {
	t.Helper()
	db, err := store.Open(store.Options{Path: admin.Database(dir)})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(t.Context(), func(tx *store.Tx) error {
		n, err := tx.CreateNetwork(motion.Network{GuardianID: planted["network"]})
		note := func(again error) { err = errors.Join(err, again) }
		mac, wrong := motion.ParseMAC(planted["mac"])
		note(wrong)
		bssid, wrong := motion.ParseMAC(planted["bssid"])
		note(wrong)
		node, wrong := tx.PutNode(motion.Node{
			NetworkID: n.ID, DeviceID: planted["device"], Name: planted["wire name"], FriendlyName: planted["device's name"], Location: planted["room"],
			Role: motion.MeshRoot, RootMode: motion.RootModeMaster, APBSSID2GHz: bssid, FWVersion: "2.4.1", HWID: planted["ssid"], LocationID: planted["network"],
		})
		note(wrong)
		n.MasterID = node.ID
		note(tx.PutNetwork(n))
		note(tx.PutDevice(motion.Device{DeviceKey: motion.DeviceKey{Kind: motion.RadarKind, ID: planted["device"]}, NetworkID: n.ID, NodeID: node.ID, Address: planted["address"], LastHeard: 1763912345}))
		leaf, wrong := tx.PutLeaf(motion.Leaf{
			NetworkID: n.ID, MAC: mac, NodeID: node.ID, Hostname: planted["leaf's host"], IP: planted["address"], FriendlyName: planted["leaf"], Location: planted["second room"],
			DeviceInfo: motion.DeviceInfo{Name: planted["leaf's maker name"]}, LastHeard: 1763912345,
		})
		note(wrong)
		note(tx.PutLink(motion.Link{Name: planted["link"], NetworkID: n.ID, Dst: leaf.ID, Src: node.ID, DstName: planted["leaf"], SrcName: planted["device's name"]}))
		_, _, wrong = tx.AddEvent(motion.Event{ID: "01975a3e-1c2d-7aaa-8bbb-0123456789ab", Category: "Motion", Event: "MotionDetectedEvent", NetworkID: n.ID, TS: 1763912345, LocName: planted["room"]}, "")
		note(wrong)
		h, wrong := tx.CreateHome(home.Home{ExternalID: n.ID, Name: planted["home"], Address: planted["street"], Scene: home.Away})
		note(wrong)
		_, wrong = tx.PutSensor(sensor.Device{Home: h.ID, Network: n.ID, ThingName: planted["sensor"], Config: sensor.Config{FriendlyName: planted["sensor"], Location: planted["room"]}})
		note(wrong)
		_, wrong = tx.CreateAlert(n.ID, alert.Job{Rule: alert.Rule{ExternalID: n.ID, AlertName: planted["alert"]}})
		note(wrong)
		at := motion.Stamp(1763912345)
		u, wrong := tx.CreateUser(home.User{Email: planted["mail"], FirstName: planted["first name"], LastName: planted["last name"], ConfirmedAt: &at})
		note(wrong)
		_, wrong = tx.CreateUser(home.User{Email: planted["second mail"]})
		note(wrong)
		phone := planted["phone"]
		_, wrong = tx.RegisterMobile(store.MobileRegistration{User: u.ID, Token: planted["push token"], Name: &phone})
		note(wrong)
		_, _, wrong = tx.CreateAPIKey(store.APIKey{Name: planted["key's name"], Scopes: []string{"core:read"}})
		note(wrong)
		_, _, wrong = tx.CreateIntegrationUser(store.IntegrationUser{Name: planted["mqtt user"], TopicPrefix: planted["mqtt user"]})
		note(wrong)
		return err
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

// plantLog logs what is planted, in lines that stand in a bundle and in others.
func (r running) plantLog() {
	for _, value := range planted {
		err := errors.New("lookup " + value + ": no such host " + value + ":1883 (" + value + ")")
		r.log.Warn("bad input", "device", "radar/"+planted["device"], "reason", value)
		r.log.Warn("uplink failed", "uplink", planted["uplink"], "err", err)
		r.log.Info("device connected", "device", planted["device"], "address", value)
		r.log.Error("step panicked", "panic", value, "stack", value, value, value)
		r.log.Info("name on the local network", "name", value, "interface", value)
		r.log.Warn("log-in refused", "account", value)
		r.log.Info(value, "a", value)
		r.log.Info("ready " + value)
	}
	for _, what := range []string{"secret", "hex", "ssid", "stranger", "address", "mac", "mail"} { // as ids; of the others, that alone would make them names
		r.log.Warn("bad input", "device", "radar/"+planted[what], "network", planted[what], "node", planted[what], "reason", "unknown")
	}
	r.log.Warn("mail not sent", "mail", 41, "kind", "alert", "at", planted["event's clock time"])
	r.log.Warn("free disk space unknown", "err", errors.New("statfs: input/output error"))
}

// bundled returns the files of a bundle.
func bundled(t *testing.T, raw []byte) map[string]string {
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range archive.File {
		content, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(content)
		if err != nil {
			t.Fatal(err)
		}
		files[f.Name] = string(text)
	}
	return files
}

// traces returns how a planted thing may stand in a text: as it is, its words, as base64 wherever it begins
// in it, and as hexadecimal digits.
func traces(value string) []string {
	all := []string{value, strings.ReplaceAll(value, ":", ""), hex.EncodeToString([]byte(value)), strings.Trim(jsonText(value), `"`)}
	for _, word := range strings.FieldsFunc(value, func(c rune) bool { return strings.ContainsRune(" .@/-", c) }) {
		if len(word) > 4 && word != "https:" && word != "example" && word != "token" {
			all = append(all, word)
		}
	}
	for shift := range 3 {
		coded := base64.RawStdEncoding.EncodeToString(append(make([]byte, shift), value...))
		all = append(all, coded[2+shift:len(coded)-3])
	}
	return all
}

func jsonText(value string) string {
	raw, _ := json.Marshal(value)
	return string(raw)
}

// wantClean wants files to hold no trace of what is planted.
func wantClean(t *testing.T, files map[string]string) {
	t.Helper()
	for name, text := range files {
		lower := strings.ToLower(text)
		for what, value := range planted {
			for _, trace := range traces(value) {
				if at := strings.Index(lower, strings.ToLower(trace)); at >= 0 {
					t.Errorf("%s: the %s stands as %s in …%s…", name, what, trace, text[max(0, at-40):min(len(text), at+60)])
					break
				}
			}
		}
	}
}

func TestSupportBundleLeadsBackToNobody(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plantRecords(t, dir)
	r := serve(t, func(c *Config) {
		c.StateDir, c.Log.Level = dir, -4
		c.Mail.SMTP.Host, c.Mail.SMTP.Username, c.Mail.SMTP.Password, c.Mail.SMTP.From = planted["mail server"], planted["mail user"], planted["mail password"], planted["from"]
		c.Gatekeeper.AccessToken, c.HTTP.BaseURL, c.HTTP.Hosts = planted["gatekeeper token"], planted["url"], []string{planted["public host"]}
		c.Uplinks = []uplink.Config{{
			Name: planted["uplink"], URL: "mqtt://" + planted["uplink's host"] + ":1883", Username: planted["uplink's user"], Password: planted["uplink's password"], Use: []uplink.Use{uplink.Events},
		}}
	})
	r.engine.State.BadInput("radar/"+planted["device"], planted["room"]+" is no number, "+planted["secret"], []byte(planted["secret"]))
	r.engine.State.BadInput("client/"+planted["stranger"], "wrong token: post to the gatekeeper again for a new one", []byte(planted["hex"]))
	r.plantLog()
	path := filepath.Join(t.TempDir(), "bundle.zip")
	r.command("support", "-o", path)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	files := bundled(t, raw)
	wantClean(t, files)
	for name, want := range map[string][]string{
		"README.txt": {"log.txt"}, "version.txt": {"sensegate "}, "doctor.txt": {"disk", "mqtt.listen"},
		"configuration.json": {`"http.listen"`, `"64MiB"`, `"secret": true`},
		"status.json":        {`"running": true`, `"uplink": "uplink-1"`, `"server": "server-1:1883"`, "events"},
		"database.json":      {"every page, record and index is whole", `"audit"`},
		"devices.json":       {`"network-1"`, `"device-1"`, `"firmware": "2.4.1"`, "wrong token: post to the gatekeeper again", "room-"},
		"links.json":         {`"link-1"`, `"device-1"`, `"client-1"`},
		"metrics.txt":        {"process_", `sensegate_uplink_connected{uplink="uplink-1"} 0`, "sensegate_store_read_only 0"},
		"log.txt":            {"uplink failed", "free disk space unknown err=statfs: input/output error", "Lines left out, as they tell"},
	} {
		for _, word := range want {
			if !strings.Contains(files[name], word) {
				t.Errorf("%s lacks %s:\n%s", name, word, files[name])
			}
		}
	}
	for _, word := range []string{"log-in refused", "mail not sent", "administered"} {
		if strings.Contains(files["log.txt"], word) {
			t.Errorf("the log has %s", word)
		}
	}
	if lines := r.auditLines(t); len(lines) == 0 || lines[0].Action != "support_made" {
		t.Errorf("the audit log begins with %+v", lines)
	}
}

// Devices of one maker, which are called the same, are told apart, and so is the guardian from its network.
func TestSupportBundleTellsDevicesOfOneMakerApart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, err := store.Open(store.Options{Path: admin.Database(dir)})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(t.Context(), func(tx *store.Tx) error {
		n, err := tx.CreateNetwork(motion.Network{GuardianID: "gw-1"})
		devices := []motion.DeviceKey{{Kind: motion.Guardian, ID: "gw-1"}}
		var radars []motion.NodeID
		for i, id := range []string{"csi-1", "csi-2", "csi-3"} {
			node, wrong := tx.PutNode(motion.Node{NetworkID: n.ID, DeviceID: id, Name: "gwa-" + id, FriendlyName: "Radar", HWID: "Acme", LocationID: "gw-1", APBSSID2GHz: motion.MAC{2, 0, 0, 0, 0, byte(i + 1)}})
			err, radars, devices = errors.Join(err, wrong), append(radars, node.ID), append(devices, motion.DeviceKey{Kind: motion.RadarKind, ID: id})
		}
		for i, key := range devices {
			err = errors.Join(err, tx.PutDevice(motion.Device{DeviceKey: key, NetworkID: n.ID, NodeID: radars[max(0, i-1)]}))
		}
		for i, name := range []string{"000002-000001", "000003-000002"} {
			err = errors.Join(err, tx.PutLink(motion.Link{Name: name, NetworkID: n.ID, Src: radars[i], Dst: radars[i+1]}))
		}
		return err
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	r := serve(t, func(c *Config) { c.StateDir = dir })
	path := filepath.Join(t.TempDir(), "bundle.zip")
	r.command("support", "-o", path)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	files := bundled(t, raw)
	var devices []struct{ Device, Kind string }
	var links []struct{ From, To string }
	if err := errors.Join(json.Unmarshal([]byte(files["devices.json"]), &devices), json.Unmarshal([]byte(files["links.json"]), &links)); err != nil {
		t.Fatal(err)
	}
	stands := map[string]bool{}
	for _, d := range devices {
		stands[d.Device] = strings.HasPrefix(d.Device, "device-")
	}
	if len(devices) != 4 || len(stands) != 4 || slices.Contains(slices.Collect(maps.Values(stands)), false) {
		t.Errorf("devices %+v", devices)
	}
	if len(links) != 2 {
		t.Errorf("links %+v", links)
	}
	for _, l := range links {
		if l.From == l.To || !stands[l.From] || !stands[l.To] {
			t.Errorf("a link from %s to %s, of the devices %+v", l.From, l.To, devices)
		}
	}
}

// What a bundle is made from holds what is planted: otherwise the test above would find nothing in anything.
func TestWhatABundleIsMadeFromHoldsWhatIsPlanted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plantRecords(t, dir)
	r := serve(t, func(c *Config) { c.StateDir = dir })
	r.plantLog()
	lines, _, _ := r.box.LogLines(-4, 0, 1<<20)
	all := ""
	for _, l := range lines {
		all += l.Text + "\n"
	}
	for what, value := range planted {
		if n := strings.Count(all, value); n < 5 {
			t.Errorf("the %s stands %d times in the log", what, n)
		}
	}
	devices := r.command("device", "list") + r.command("links")
	for _, what := range []string{"device", "wire name", "address", "link", "event's clock time"} {
		if !strings.Contains(devices, planted[what]) {
			t.Errorf("no %s in\n%s", what, devices)
		}
	}
}

// Where nothing runs, and where nothing can be opened, a bundle has what is left.
func TestSupportBundleOfWhatDoesNotRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plantRecords(t, dir)
	config := filepath.Join(t.TempDir(), "config.yaml")
	log := filepath.Join(t.TempDir(), "log")
	text := "log: {file: " + log + "}\nmail: {smtp: {host: " + planted["mail server"] + ", username: " + planted["mail user"] + ", password: " + planted["mail password"] + ", from: " + planted["from"] + "}}\n"
	lines := "time=2026-01-02T03:04:05.000Z level=WARN msg=\"uplink failed\" uplink=" + planted["uplink"] + " err=\"lookup " + planted["uplink's host"] + ".example: no such host\"\n" +
		"time=2026-01-02T03:04:05.000Z level=WARN msg=\"log-in refused\" account=" + planted["mail"] + "\n"
	for path, content := range map[string]string{config: text, log: lines} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	make := func() (map[string]string, string) {
		var out, said bytes.Buffer
		if err := admin.Run(t.Context(), dir, Offline, []string{"support", "-config", config, "-state-dir", dir, "-o", "-"}, &out, &said); err != nil {
			t.Fatal(err)
		}
		return bundled(t, out.Bytes()), said.String()
	}
	files, said := make()
	wantClean(t, files)
	for name, want := range map[string]string{
		"status.json": `"running": false`, "doctor.txt": "disk", "configuration.json": `"mail.smtp.host"`, "devices.json": `"device-1"`,
		"log.txt": "WARN  uplink failed uplink=uplink-1 err=lookup …: no such host\n\nLines left out, as they tell what people do or where motion was, or are not known here: several.",
	} {
		if !strings.Contains(files[name], want) {
			t.Errorf("%s lacks %s (%s):\n%s", name, want, said, files[name])
		}
	}
	if err := os.WriteFile(admin.Database(dir), bytes.Repeat([]byte(planted["first name"]), 4096), 0o600); err != nil {
		t.Fatal(err)
	}
	files, said = make()
	if !strings.Contains(said, "without the database") || files["doctor.txt"] == "" || files["configuration.json"] == "" || files["devices.json"] != "" {
		t.Errorf("of a database that cannot be opened: %s, %d files", said, len(files))
	}
	wantClean(t, map[string]string{"database.json": files["database.json"], "doctor.txt": files["doctor.txt"], "configuration.json": files["configuration.json"]})
}
