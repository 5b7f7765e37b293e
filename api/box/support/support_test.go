package support

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sensegate/api/logtail"
)

func TestTextShowsNothingThatLeadsBack(t *testing.T) {
	t.Parallel()
	var names Names
	names.Also(names.Add("person", "anna@example.org"), "anna", "Müller")
	names.Add("room", "zirbenstube hinten")
	names.Add("network", "network 17", "a41f00c2")
	names.Add("device", "al")
	names.Keep("http.listen")
	for text, want := range map[string]string{
		"dial tcp 192.168.1.5:1883: connect: connection refused":     "dial tcp …:1883: connect: connection refused",
		"dial tcp [fe80::1%eth0]:8883: i/o timeout":                  "dial tcp […: i/o timeout",
		"read tcp 10.0.0.2:5123->10.0.0.3:1883: connection reset":    "read tcp …: … …",
		"lookup nas.mueller.example on 127.0.0.53:53: no such host":  "lookup … on …:53: no such host",
		"x509: certificate has expired or is not yet valid":          "x509: certificate has expired or is not yet valid",
		"write /x: no space left on device":                          "write …: no space left on device",
		"remote error: tls: bad certificate":                         "remote error: tls: bad certificate",
		"on fd00::beef or ::beef, but ::1":                           "on … or ::…, but ::1",
		"aa:bb:cc:dd:ee:ff, aabbccddeeff and AA-BB-CC-DD-EE-FF":      "…, … and …",
		"to anna@example.org and bert@example.org":                   "to person-1 and …",
		"ANNA says that Anna's laptop is müllers":                    "person-1 … that person-1's … is person-1",
		"hannah and banana stay":                                     "person-1 and … …",
		"the zirbenstube hinten of network 17, of network 170":       "the room-1 of network-1, of network-1",
		"a41f00c2d97b is longer, and al alone":                       "network-1 is …, and device-1 …",
		`to "a b c", "Zirbenstube Hinten" and "cut`:                  "to …, \"room-1\" and …",
		"token sg_q7Zk2mXv81LpTt40aQ, 9f86d081884c7d65, cafebabe":    "… …, …, …",
		"https://u:p@h.example/x?y=zebra and mqtts://nas":            "… and …",
		"http.listen: 127.0.0.1:8080 is taken, push.fcm is not":      "http.listen: 127.0.0.1:8080 is taken, … is not",
		"at 2025-11-24 13:00:01, 1764000060.5 or 12.5 s, 1m30s":      "at … …, … or 12.5 s, 1m30s",
		"open /home/anna/x: no such file, /var/lib/bert: permission": "open person-1 … … …, …: …",
		"open /home/bert/x: no such file or directory":               "open …: no such file or directory",
		"correct-horse-battery-staple":                               "…",
		"key=value=kitchen.example, kirchenwirt=7":                   "…, …",
		"naïve café": "… …",
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

// What ordinary words are names of is not told by what the bundle of another household would show there.
func TestTextDoesNotTellWhichOrdinaryWordIsAName(t *testing.T) {
	t.Parallel()
	var names, others Names
	person := names.Add("person", "x@y.example")
	names.Also(person, "Free")
	names.Add("room", "held")
	key := names.Add("key", "server")
	for _, text := range []string{
		"23047 MiB are free", ":8080 is held by the appliance", "check the network and its name server",
		"lookup free on server: no such host", "held", "the free server held", "carefree servers",
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
	} {
		if got := names.Setting(key, s[0], s[1]); got != s[2] {
			t.Errorf("%s: %s is shown as %s", key, s[0], got)
		}
	}
	for key, value := range map[string]string{"mail.smtp.host": "nas", "uplinks.0.username": "1234", "nodes.network": "17", "http.mqtt": "192.168.1.5:1883", "relay.mqtt.url": "mqtt://stube:1883"} {
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
`)
	want := `process_num_threads 6
process_resident_memory_bytes 32000000
sensegate_mqtt_messages_total{result="taken"} 120000
sensegate_mqtt_panics_total 1
sensegate_uplink_failures_total{uplink="uplink-1"} 13
sensegate_uplink_queue{uplink="uplink-1"} 1200
sensegate_uplink_refused_total{uplink="uplink-1"} 1200
sensegate_http_requests_total{door="http",route="/api/v1/networks/{id}",method="GET",status="5xx"} 90
sensegate_http_request_duration_seconds_sum{door="http"} 1200
sensegate_store_other{room="…"} 1
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
		`read-only: the disk is nearly full free_bytes=12 wanted_bytes=64`:                                         `read-only: the disk is nearly full free_bytes=12 wanted_bytes=64`,
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
	if got := names.Log([]logtail.Line{at, {Text: "ready"}}); !strings.Contains(got, "INFO  ready\n\n1 lines are left out") {
		t.Error(got)
	}
}

// Whoever adds an uplink, adopts a device, tries a password or renews a certificate finds no time of it.
func TestLogDoesNotTellWhenSomebodyDidSomething(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	at := map[string]time.Duration{
		`uplink started uplink=old`:                                   -time.Second,
		`ready http=:8080`:                                            0,
		`device connected device=radar/a`:                             time.Second,
		`device disconnected device=radar/a reason="connection lost"`: time.Hour,
		`device connected device=radar/a address=10.0.0.1`:            time.Hour + time.Second,
		`device connected device=radar/new`:                           2 * time.Hour,
		`device connected device=radar/new address=10.0.0.2`:          6 * time.Hour,
		`device disconnected device=radar/a reason="device removed"`:  7 * time.Hour,
		`uplink started uplink=new`:                                   3 * time.Hour,
		`uplink failed uplink=new err="no such host"`:                 3*time.Hour + 2*time.Second,
		`uplink failed uplink=new err="connection refused"`:           4 * time.Hour,
		`uplink failed uplink=old err="i/o timeout"`:                  3*time.Hour + time.Second,
		`certificate of the owner loaded`:                             5 * time.Hour,
		`bad input device=client/x reason="login refused: wrong"`:     8 * time.Hour,
		`damaged samples skipped network=1`:                           9 * time.Hour,
		`event cannot be sent uplink=old`:                             10 * time.Hour,
		`database backed up`:                                          22 * time.Hour,
	}
	var lines []logtail.Line
	for text, after := range at {
		lines = append(lines, logtail.Line{At: start.Add(after), Text: text})
	}
	slices.SortFunc(lines, func(a, b logtail.Line) int { return b.At.Compare(a.At) })
	var names Names
	want := `2026-03-04 05:06:06 INFO  uplink started uplink=uplink-1
2026-03-04 05:06:07 INFO  ready
2026-03-04 05:06:08 INFO  device connected device=device-1
2026-03-04 06:06:07 INFO  device disconnected device=device-1 reason=connection lost
2026-03-04 06:06:08 INFO  device connected device=device-1
2026-03-04 08:06:08 INFO  uplink failed uplink=uplink-1 err=i/o timeout
2026-03-04 09:06:07 INFO  uplink failed uplink=uplink-2 err=connection refused
2026-03-04 11:06:07 INFO  device connected device=device-2
2026-03-05 03:06:07 INFO  database backed up

Without their times, as somebody may have brought them about:
INFO  bad input device=device-3 reason=login refused: …
INFO  certificate of the owner loaded
INFO  damaged samples skipped network=network-1
INFO  device connected device=device-2
INFO  device disconnected device=device-1 reason=device removed
INFO  event cannot be sent uplink=uplink-1
INFO  uplink failed uplink=uplink-2 err=no such host
INFO  uplink started uplink=uplink-2

0 lines are left out: they tell what people do or where motion was, or are not known here.
`
	if got := names.Log(lines); got != want {
		t.Error(got)
	}
}

// Every message that may be shown is one that the program logs.
func TestMessagesAreThoseOfTheProgram(t *testing.T) {
	t.Parallel()
	literals := map[string]bool{}
	err := filepath.WalkDir("../../..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && entry.Name() != ".." || entry.Name() == "log.go" && strings.Contains(path, "box/support") {
			if entry != nil && entry.IsDir() && err == nil && path != "../../.." {
				return filepath.SkipDir
			}
			return err
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if e, ok := n.(ast.Expr); ok {
				literals[textOf(e)] = true
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, message := range machine {
		if !literals[message] {
			t.Errorf("nothing logs %q", message)
		}
	}
}

// textOf returns the text of a literal, or of several with + between; "" of anything else.
func textOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		if err == nil {
			return text
		}
	case *ast.BinaryExpr:
		if a, b := textOf(e.X), textOf(e.Y); a != "" && b != "" {
			return a + b
		}
	}
	return ""
}
