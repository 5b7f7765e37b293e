package support

import (
	"strings"
	"testing"

	"sensegate/api/logtail"
)

func TestTextShowsNothingThatLeadsBack(t *testing.T) {
	t.Parallel()
	var names Names
	names.Also(names.Add("person", "anna@example.org"), "anna", "Müller")
	names.Add("room", "zirbenstube hinten")
	names.Add("network", "network 17", "a41f00c2")
	names.Add("device", "al")
	names.Setting("uplinks.0.url", "mqtt://[::1]:1883", "")
	names.Setting("uplinks.1.url", "mqtt://u@127.0.0.1:1883", "")
	names.Setting("http.hosts", "localhost, ::1", "")
	names.Server("127.0.0.1")
	names.Server("grotte")
	names.Add("client", "02:5e:c7:e7:00")
	names.Keep("http.listen")
	for text, want := range map[string]string{
		"dial tcp 192.168.1.5:1883: connect: connection refused":           "dial tcp …:1883: connect: connection refused",
		"dial tcp [fe80::1%eth0]:8883: i/o timeout":                        "dial tcp […: i/o timeout",
		"read tcp 10.0.0.2:5123->10.0.0.3:1883: connection reset":          "read tcp …: … …",
		"lookup nas.mueller.example on 127.0.0.53:53: no such host":        "lookup … on …:53: no such host",
		"x509: certificate has expired or is not yet valid":                "x509: certificate has expired or is not yet valid",
		"write /x: no space left on device":                                "write …: no space left on device",
		"remote error: tls: bad certificate":                               "remote error: tls: bad certificate",
		"on fd00::beef or ::beef, but ::1":                                 "on … or ::…, but ::1",
		"the prefix 2001:: and 2001::/16, but [::]:80":                     "the … …:: and …, but [::]:80",
		"call +49 171 234 5678, or 0171 2345":                              "… … … … …, or … …",
		"at 48.137, 11.575 and 48.137/11.575":                              "at …, … and …",
		"lookup mqtt.home: no such host, mqtt.listen, SENSEGATE_MQTT_HOME": "lookup …: no such host, mqtt.listen, …",
		"aa:bb:cc:dd:ee:ff, aabbccddeeff and AA-BB-CC-DD-EE-FF":            "…, … and …",
		"to anna@example.org and bert@example.org":                         "to person-1 and …",
		"ANNA says that Anna's laptop is müllers":                          "person-1 … that person-1's … is …",
		"hannah and banana stay":                                           "… and … …",
		"the zirbenstube hinten of network 17, of network 170":             "the room-1 of network-1, of …",
		"a41f00c2d97b is longer, and al alone":                             "… is …, and device-1 …",
		`to "a b c", "Zirbenstube Hinten" and "cut`:                        "to …, \"room-1\" and …",
		"token sg_q7Zk2mXv81LpTt40aQ, 9f86d081884c7d65, cafebabe":          "… …, …, …",
		"https://u:p@h.example/x?y=zebra and mqtts://nas":                  "… and …",
		"http.listen: 127.0.0.1:8080 is taken, push.stube is not":          "http.listen: 127.0.0.1:8080 is taken, … is not",
		"at 2025-11-24 13:00:01, 1764000060.5 or 12.5 s, 1m30s":            "at … …, … or 12.5 s, 1m30s",
		"open /home/anna/x: no such file, /var/lib/bert: permission":       "open person-1: … … …, …: …",
		"open /home/bert/x: no such file or directory":                     "open …: no such file or directory",
		"correct-horse-battery-staple":                                     "…",
		"key=value=kitchen.example, kirchenwirt=7":                         "…, …",
		"naïve café": "… …",
		":8080 and 127.0.0.1:8080 is taken, localhost:1883 and [::1]:1883": ":8080 and 127.0.0.1:8080 is taken, localhost:1883 and [::1]:1883",
		"grotte:1883, mqtt://grotte:1883: and grotte.lan:8883.":            "server-1:1883, server-1:1883: and server-1:8883.",
		"02:5e:c7:e7:00:01 and u:p@grotte:1883":                            "client-1 and server-1",
	} {
		if got := names.Text(text); got != want {
			t.Errorf("%s\nis shown as %s\nwant        %s", text, got, want)
		}
	}
}

// Hosts that nobody told the program of, such as those of a former configuration, are words like any other.
func TestTextShowsNoWordWhereANameStands(t *testing.T) {
	t.Parallel()
	var names Names
	for _, host := range []string{"kirchenwirt", "webermuehle", "pensionhuber", "ferienhof", "free", "held", "server", "network", "cannot"} {
		for text, want := range map[string]string{
			"the name " + host + " cannot be looked up: check the network and its name server":    "the name … cannot be looked up: check the network and its name server",
			"lookup " + host + ": no such host":                                                   "lookup …: no such host",
			"nothing listens at " + host + ":1883: check host and port, and that the broker runs": "nothing listens at …: check host and port, and that the broker runs",
			host: "…",
			"x509: certificate is valid for " + host + ", not " + host: "x509: certificate is valid for …, not …",
		} {
			if got := names.Text(text); got != want {
				t.Errorf("%s\nis shown as %s", text, got)
			}
		}
	}
}

// What keeps an appliance from starting can be read, by who has never seen it.
func TestTextShowsWhyAnApplianceDoesNotStart(t *testing.T) {
	t.Parallel()
	var names Names
	names.Add("state-dir", "/srv/haus")
	names.Add("config", "/home/anna/box.yaml")
	for text, want := range map[string]string{
		`/home/anna/box.yaml:12: http.listen: want a whole number, found "kitchen"`:                                                         `config-1:12: http.listen: want a whole number, found …`,
		`/home/anna/box.yaml:3: htp: no such key; did you mean http?`:                                                                       `config-1:3: …: no such key; did you mean http?`,
		`/home/anna/box.yaml:7: mail.smtp.port: want a whole number, found "anna"`:                                                          `config-1:7: mail.smtp.port: want a whole number, found …`,
		`/home/anna/box.yaml:9: store: set twice; keep one of them`:                                                                         `config-1:9: store: set twice; keep one of them`,
		`/home/anna/box.yaml:1: mapping values are not allowed in this context`:                                                             `config-1:1: mapping values are not allowed in this context`,
		`/srv/haus/provision.yaml:2: accounts.0.email: want an address such as jdoe@example.com`:                                            `state-dir-1/provision.yaml:2: accounts.0.email: want an address such as …`,
		`/srv/haus/provision.yaml:8: api_keys.1.sha256: want 64 hexadecimal digits`:                                                         `state-dir-1/provision.yaml:8: api_keys.1.sha256: want 64 hexadecimal digits`,
		`:8080 is taken by nginx (process 812). End that program, or set http.listen to another port`:                                       `:8080 is taken by nginx (process 812). End that program, or set http.listen to another port`,
		`:8080 is taken by annas-server (process 812)`:                                                                                      `:8080 is taken by … (process 812)`,
		`user nobody cannot write /srv/haus/sensegate.db, which belongs to root`:                                                            `user nobody cannot write state-dir-1/sensegate.db, which belongs to root`,
		`no appliance in /srv/haus: start it once with sensegate serve, or name its state directory with -state-dir or SENSEGATE_STATE_DIR`: `no appliance in state-dir-1: start it once with sensegate serve, or name its state directory with -state-dir or SENSEGATE_STATE_DIR`,
		`disconnected`: `disconnected`,
		`mac: missing`: `mac: missing`,
		`radar_status.root_mode: 7 is not in 0..3`:                                                  `…: 7 is not in 0..3`,
		`motion.mkai: 3 values for count 4`:                                                         `motion.mkai: 3 values for count 4`,
		`location.kitchen: missing, by host mail`:                                                   `…: missing, by … …`,
		`environment: SENSEGATE_HTTP_LISTEN: core.tls_listen: want host:port such as :8444, or off`: `environment: SENSEGATE_HTTP_LISTEN: core.tls_listen: want host:port such as :8444, or off`,
	} {
		if got := names.Text(text); got != want {
			t.Errorf("%s\nis shown as %s\nwant        %s", text, got, want)
		}
	}
}

// What ordinary words are names of is not told by what the bundle of another household would show there.
func TestTextDoesNotTellWhichOrdinaryWordIsAName(t *testing.T) {
	t.Parallel()
	var names, others Names
	person := names.Add("person", "x@y.example")
	names.Also(person, "Free")
	names.Add("room", "held")
	key := names.Add("key", "server")
	names.Add("uplink", "mosquitto")
	names.Add("phone", "mac")
	names.Add("link", "url")
	for _, text := range []string{
		"23047 MiB are free", ":8080 is held by the appliance", "check the network and its name server",
		"taken by mosquitto", "mac: missing", "uplinks.0.url: want it", "lookup free on server: no such host", "held", "the free server held", "carefree servers",
	} {
		if got, want := names.Text(text), others.Text(text); got != want {
			t.Errorf("%s\nis shown as %s\nto others  %s", text, got, want)
		}
	}
	if got := names.Text(`"free" of "server"`); got != `"`+person+`" of "`+key+`"` {
		t.Errorf("in quotes: %s", got)
	}
	if got := names.Setting("mail.smtp.username", "free", ""); got != person {
		t.Errorf("as a setting: %s", got)
	}
}

func TestAThingHasOneStandIn(t *testing.T) {
	t.Parallel()
	var names Names
	first := names.Add("room", "Kitchen", "")
	if again := names.Add("room", " kitchen "); again != first || first != "room-1" {
		t.Errorf("%s, then %s", first, again)
	}
	if other := names.Add("device", "lamp", "KITCHEN", "bulb"); other != "device-1" || names.Text("the bulb") != "the device-1" {
		t.Errorf("with a name of a room: %s, %s", other, names.Text("the bulb"))
	}
	if shared := names.Text("the kitchen"); shared != "the …" {
		t.Errorf("of a room and a device: %s", shared)
	}
	if again := names.Add("room", "kitchen"); again != first {
		t.Errorf("the room is %s then", again)
	}
	if none := names.Add("room", "", " "); none != "" {
		t.Errorf("of no name: %s", none)
	}
}

func TestDevicesOfOneMakerHaveStandInsOfTheirOwn(t *testing.T) {
	t.Parallel()
	var names Names
	for i, want := range []string{"device-1", "device-2", "device-3"} {
		id := string(rune('1' + i))
		stand := names.Add("device", "node "+id, "csi-0"+id)
		names.Also(stand, "esp32-c6 dev")
		if got := names.Add("device", "csi-0"+id); stand != want || got != want {
			t.Errorf("%s: %s, then %s", want, stand, got)
		}
	}
	if got := names.Text("esp32-c6 dev with csi-02"); got != "… with device-2" {
		t.Error(got)
	}
}

func TestSettingIsShownWhereItIsNoName(t *testing.T) {
	t.Parallel()
	var names Names
	for key, s := range map[string][3]string{
		"store.min_free":      {"128MiB", "64MiB", "128MiB"},
		"store.flush":         {"1m30s", "1m", "1m30s"},
		"http.listen":         {":8081", ":8080", ":8081"},
		"insights.enabled":    {"false", "true", "false"},
		"log.level":           {"debug", "info", "debug"},
		"uplinks.0.use":       {"events, live", "", "events, live"},
		"uplinks.0.read_only": {"true", "", "true"},
		"sound":               {"default", "default", "default"},
		"uplinks.0.url":       {"mqtt://127.0.0.1:1883", "", "mqtt://127.0.0.1:1883"},
		"relay.mqtt.url":      {"mqtts://localhost", "", "mqtts://localhost"},
		"mail.smtp.host":      {"::1", "", "::1"},
	} {
		if got := names.Setting(key, s[0], s[1]); got != s[2] {
			t.Errorf("%s: %s is shown as %s", key, s[0], got)
		}
	}
	for key, value := range map[string]string{"mail.from": "nas", "uplinks.0.username": "1234", "uplinks.1.use": "events, kitchen", "web.admin": "annas-pc", "http.base_url": "anna://", "nodes.network": "17", "http.mqtt": "192.168.1.5:1883", "relay.mqtt.url": "mqtt://stube:1883"} {
		if got := names.Setting(key, value, ""); !strings.HasPrefix(got, "setting-") {
			t.Errorf("%s: %s is shown as %s", key, value, got)
		}
	}
	if got := names.Text("lookup stube: no such host, and nas"); strings.Contains(got, "stube") || strings.Contains(got, "nas") {
		t.Error(got)
	}
}

func TestMetricsTellOfTheMachine(t *testing.T) {
	t.Parallel()
	var names Names
	names.Add("uplink", "nas")
	got := names.Metrics(`process_num_threads 6
go_gc_pauses_seconds_bucket{le="0"} 0
process_io_written_bytes_total 4096
process_resident_memory_bytes 31850496
sensegate_mqtt_messages_total{result="taken"} 123456
sensegate_mqtt_panics_total 1
sensegate_uplink_failures_total{uplink="nas"} 13
sensegate_uplink_queue{uplink="nas"} 1234
sensegate_uplink_refused_total{uplink="nas"} 1234
sensegate_http_requests_total{door="http",route="/api/v1/networks/{id}/motion",method="GET",status="2xx"} 91
sensegate_http_requests_total{door="http",route="/api/v1/networks/{id}",method="GET",status="5xx"} 91
sensegate_http_request_duration_seconds_sum{door="http"} 1234.56
sensegate_pushes_total{result="sent"} 41
sensegate_network_motion_ratio{place="kitchen"} 0.5
sensegate_store_other{room="kitchen"} 1
go_info{version="go1.26.8",GOROOT="/home/anna/go",Room="kitchen",method="a \"b\" c"} 1
go_goroutines 73
process_open_fds 32
sensegate_http_live_connections 3
sensegate_http_connections 4
sensegate_mqtt_sessions 6
`)
	want := `process_num_threads 6
process_resident_memory_bytes 32000000
sensegate_mqtt_messages_total{result="taken"} 120000
sensegate_mqtt_panics_total 1
sensegate_uplink_failures_total{uplink="uplink-1"} 10
sensegate_uplink_queue{uplink="uplink-1"} 1200
sensegate_uplink_refused_total{uplink="uplink-1"} 1200
sensegate_http_requests_total{door="http",route="/api/v1/networks/{id}",method="GET",status="5xx"} 90
sensegate_http_request_duration_seconds_sum{door="http"} 1200
sensegate_store_other 1
go_info{version="go1.26.8",method="…"} 1
go_goroutines 70
process_open_fds 30
sensegate_mqtt_sessions 10
`
	if got != want {
		t.Error(got)
	}
}

func TestLogHasTheLinesOfTheMachineAlone(t *testing.T) {
	t.Parallel()
	var names Names
	for text, want := range map[string]string{
		`ready http=127.0.0.1:8080 state=/x`: `ready state=…`,
		`ready for it`:                       "",
		`readyish`:                           "",
		`ready`:                              `ready`,
		`read-only: the disk is nearly full free_bytes=1234567 wanted_bytes=64`:                                    `read-only: the disk is nearly full free_bytes=1200000 wanted_bytes=64`,
		`step panicked panic="runtime error: index out of range [3]" stack="x.go`:                                  `step panicked panic=runtime error: index out of range [3] stack=`,
		`step panicked panic=Anna stack="main.(*T).f(0xc0)\n\t/home/anna/src/feed.go:12 +0x1\n\t/x/run_it.go:345"`: `step panicked panic=… stack=feed.go:12 run_it.go:345`,
		`uplink failed uplink=nas err="on \"Anna\" is" more=1`:                                                     `uplink failed uplink=uplink-1 err=on … is`,
		`device connected device=guardian/ab12 address=10.0.0.1`:                                                   `device connected device=device-1`,
		`log-in refused account=x`:          "",
		`request method=GET path=/api/v1/x`: "",
		`Anna came home`:                    "",
	} {
		if _, got := names.logLine(text); got != want {
			t.Errorf("%s\nis shown as %q", text, got)
		}
	}
	var at logtail.Line
	at.Text = "Anna came home"
	if got := names.Log([]logtail.Line{at, {Text: "ready"}}); !strings.Contains(got, "INFO  ready\n\nLines left out, as they tell what people do or where motion was, or are not known here: several.") {
		t.Error(got)
	}
}

func TestSizeDoesNotShowASingleRecord(t *testing.T) {
	t.Parallel()
	for bytes, want := range map[int]int{0: 0, 20: 0, 110: 0, 3000: 0, 6 << 10: 10 << 10, 930_000: 910 << 10} {
		if got := RoundBytes(bytes); got != want {
			t.Errorf("%d bytes are shown as %d", bytes, got)
		}
	}
}

func TestVersionHasNoNameInIt(t *testing.T) {
	t.Parallel()
	for text, shown := range map[string]bool{
		"2.4.1": true, "v1": true, "1.2-rc.1": true, "3.0.0-beta2": true, "1.2.3-dev": true, "1.2+dirty": true, "1.0rc1": true,
		"1.2-bedroom": false, "1.2-anna": false, "1.2-rc-bedroom": false, "bedroom": false, "1.2.3.4": false, "192.168.7.1": false,
	} {
		if got := Version(text); got != "" != shown {
			t.Errorf("%s is shown as %q", text, got)
		}
	}
}
