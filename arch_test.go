package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// arrows is the map of ARCHITECTURE.md: which packages of ours each package may
// import. An arrow that is not here is a decision: make it here and there. A
// name that ends in "/" stands for everything below it.
var arrows = map[string][]string{
	"sensegate":      {"api/admin", "api/appliance", "api/box", "api/box/preflight", "api/update", "firmware-sim/demo", "motion", "motion/timezone"},
	"motion":         {},
	"motion/fault":   {},
	"motion/peer":    {},
	"motion/feed":    {},
	"motion/csi":     {"motion"},
	"motion/detect":  {"motion"},
	"motion/fuse":    {"motion", "motion/detect"},
	"motion/walk":    {"motion", "motion/fuse"},
	"motion/series":  {"motion"},
	"motion/insight": {"motion", "motion/series"},
	"motion/command": {"motion", "motion/fault"},
	"motion/shape":   {"motion", "motion/fault"},
	"motion/setting": {"motion", "motion/fault", "motion/shape"},
	"motion/alert":   {"motion", "motion/fault", "motion/timezone"},
	"motion/uplink":  {"motion", "motion/fault", "motion/hook", "motion/series", "store", "store/regular"},
	"motion/hook":    {},
	"motion/notify":  {"motion", "motion/fault", "motion/hook", "motion/home", "store", "store/regular"},
	"motion/home":    {"motion", "motion/fault"},
	"motion/sensor":  {"motion", "motion/fault", "motion/home"},

	"motion/jsonwriter": {"motion"},
	"motion/timezone":   {},

	"motion/uplink/remotecore":    {"motion", "motion/uplink"},
	"motion/uplink/remotewrite":   {"motion", "motion/fault", "motion/hook", "motion/uplink"},
	"motion/uplink/mqtt":          {"motion/fault", "motion/uplink"},
	"motion/uplink/own":           {"motion/uplink"},
	"motion/uplink/homeassistant": {"motion", "motion/peer", "motion/uplink"},
	"motion/uplink/house": {
		"motion", "motion/engine", "motion/engine/", "motion/fault", "motion/feed", "motion/home", "motion/household", "motion/series", "motion/setting", "motion/uplink", "motion/uplink/homeassistant", "store",
	},

	"motion/engine":            {"motion", "motion/engine/", "motion/fault", "store"},
	"motion/engine/state":      {"motion", "motion/csi", "motion/fault", "motion/feed", "motion/fuse", "motion/jsonwriter", "motion/series", "motion/setting", "store"},
	"motion/engine/events":     {"motion", "motion/engine/state", "motion/fault", "store"},
	"motion/engine/management": {"motion", "motion/command", "motion/engine/state", "motion/fault", "motion/feed", "store"},
	"motion/engine/inventory": {
		"motion", "motion/engine/events", "motion/engine/management", "motion/engine/state", "motion/fault", "motion/fuse", "motion/jsonwriter", "motion/setting", "store",
	},
	"motion/engine/devices": {
		"motion", "motion/engine/events", "motion/engine/inventory", "motion/engine/management", "motion/engine/state", "motion/fault", "motion/home", "motion/peer", "store",
	},
	"motion/engine/sensing": {
		"motion", "motion/csi", "motion/detect", "motion/engine/events", "motion/engine/inventory", "motion/engine/state", "motion/fault", "motion/feed", "motion/fuse",
		"motion/jsonwriter", "motion/peer", "motion/series", "motion/setting", "motion/walk", "store",
	},
	"motion/engine/alerting": {"motion", "motion/alert", "motion/engine/events", "motion/engine/state", "motion/fault", "motion/series", "store"},
	"motion/engine/insights": {"motion", "motion/alert", "motion/engine/state", "motion/fault", "motion/home", "motion/insight", "motion/series", "store"},

	"motion/sensor/cloud":         {"motion", "motion/fault", "motion/hook", "motion/sensor"},
	"motion/sensor/zigbee2mqtt":   {"motion", "motion/fault", "motion/sensor"},
	"motion/sensor/homeassistant": {"motion", "motion/fault", "motion/sensor", "motion/uplink"},
	"motion/integration":          {"motion", "motion/engine", "motion/fault", "motion/home", "motion/sensor", "store"},

	"motion/household": {"motion", "motion/alert", "motion/engine", "motion/engine/", "motion/fault", "motion/home", "motion/notify", "motion/setting", "store"},

	"store":         {"motion", "motion/alert", "motion/command", "motion/fault", "motion/home", "motion/sensor", "motion/series", "store/file", "store/samples"},
	"store/file":    {"motion", "motion/fault", "store/durable"},
	"store/samples": {"motion", "motion/series"},
	"store/durable": {},
	"store/regular": {},

	"broker/wire":     {"motion", "motion/fault"},
	"broker/guard":    {"motion/peer"},
	"broker/nodewire": {"motion", "motion/csi"},
	"broker/nodedoor": {"broker/nodewire", "motion", "motion/csi", "motion/fault", "motion/peer"},
	"broker":          {"broker/guard", "broker/wire", "motion", "motion/fault", "motion/peer"},

	"api":         {"api/live", "motion/fault", "motion/shape"},
	"api/live":    {"motion/fault"},
	"api/server":  {"api", "api/lan", "api/live", "motion/fault", "motion/peer"},
	"api/web":     {"api", "motion/fault"},
	"api/pki":     {"store/durable", "store/regular"},
	"api/lan":     {},
	"api/mdns":    {"api/lan"},
	"api/logtail": {},
	"api/auth":    {"motion", "motion/fault", "motion/home", "motion/notify", "motion/peer", "store", "store/durable", "store/regular"},
	"api/core":    {"api", "api/auth", "api/body", "api/live", "motion", "motion/", "store"},
	"api/app":     {"api", "api/auth", "api/body", "api/caller", "api/live", "motion", "motion/", "store"},
	"api/caller":  {"api", "api/auth", "motion/fault", "motion/home", "motion/household", "store"},
	"api/box":     {"api/auth", "api/box/moving", "api/box/preflight", "api/box/recording", "api/box/staging", "api/box/support", "api/logtail", "motion", "motion/engine", "motion/engine/", "motion/fault", "motion/home", "motion/household", "motion/notify", "motion/uplink", "store"},
	"api/browser": {"api", "api/auth", "api/box", "api/box/recording", "api/box/staging", "api/caller", "api/live", "motion", "motion/", "store"},
	"api/body":    {"api", "motion/alert", "motion/engine/inventory", "motion/fault"},

	"api/box/moving":     {"motion", "motion/fault", "store"},
	"api/box/passphrase": {"motion/fault"},
	"api/box/preflight":  {"store/regular"},
	"api/box/provision":  {"api/auth", "motion/home", "motion/uplink", "store", "store/durable", "store/regular"},
	"api/box/support":    {"api/logtail"},
	"api/update":         {"store/durable", "store/regular"},
	"api/box/recording":  {"motion", "motion/csi", "motion/fault", "motion/home", "store", "store/durable"},
	"api/box/staging":    {"api/box/passphrase", "motion", "motion/fault", "store", "store/durable"},

	"api/appliance": {
		"api", "api/admin", "api/app", "api/auth", "api/box", "api/box/preflight", "api/box/provision", "api/box/recording", "api/box/staging", "api/browser", "api/caller", "api/core", "api/lan", "api/logtail", "api/mdns", "api/pki", "api/server", "api/update", "api/web", "broker", "broker/nodedoor",
		"motion", "motion/alert", "motion/engine", "motion/engine/sensing", "motion/fault", "motion/home", "motion/household", "motion/notify", "motion/setting", "store", "store/durable", "store/regular", "motion/uplink", "motion/uplink/",
		"motion/integration", "motion/sensor", "motion/sensor/",
	},
	"api/admin": {"api/auth", "api/box", "api/box/moving", "api/box/passphrase", "api/box/preflight", "api/box/recording", "api/box/staging", "api/update", "motion", "motion/engine", "motion/engine/", "motion/fault", "motion/home", "motion/household", "motion/notify", "motion/uplink", "store", "store/durable", "store/regular"},

	"firmware-sim":          {"firmware-sim/", "motion", "motion/csi", "motion/detect", "motion/fuse"},
	"firmware-sim/chance":   {},
	"firmware-sim/channel":  {"firmware-sim/chance", "motion", "motion/csi"},
	"firmware-sim/scenario": {"firmware-sim/chance", "firmware-sim/channel", "motion"},
	"firmware-sim/mqtt":     {},
	"firmware-sim/sim": {
		"broker/wire", "firmware-sim/capture", "firmware-sim/chance", "firmware-sim/channel", "firmware-sim/mqtt", "firmware-sim/scenario",
		"motion", "motion/csi",
	},
	"firmware-sim/nodes": {
		"broker/nodewire", "firmware-sim/capture", "firmware-sim/chance", "firmware-sim/channel", "firmware-sim/mqtt", "firmware-sim/scenario", "motion", "motion/csi",
	},
	"firmware-sim/fleet":       {"motion", "motion/uplink", "motion/uplink/mqtt"},
	"firmware-sim/sensorcloud": {"motion", "motion/sensor", "motion/sensor/cloud"},
	"firmware-sim/capture":     {"motion", "motion/csi"},
	"firmware-sim/evaluate": {
		"firmware-sim/capture", "firmware-sim/chance", "firmware-sim/channel", "firmware-sim/scenario",
		"motion", "motion/csi", "motion/detect", "motion/fuse", "motion/insight", "motion/series",
	},
	"firmware-sim/compare": {
		"firmware-sim/capture", "firmware-sim/chance", "firmware-sim/channel", "firmware-sim/evaluate", "motion", "motion/detect",
	},
	"firmware-sim/install": {"firmware-sim/scenario", "firmware-sim/sim", "motion"},
	"firmware-sim/zigbee":  {"firmware-sim/mqtt"},
	"firmware-sim/demo":    {"firmware-sim/nodes", "firmware-sim/scenario", "firmware-sim/sim", "firmware-sim/zigbee", "motion", "motion/fault"},

	// Helpers of other packages' tests.
	"firmware-sim/clocktest":   {},
	"broker/guard/guardtest":   {"broker/guard"},
	"api/apitest":              {"api", "api/server"},
	"api/sampletest":           {"api", "api/live", "motion/fault", "motion/feed"},
	"api/appliance/box":        {"broker/wire", "motion"},
	"api/appliance/abusetest":  {},
	"api/appliance/crashtest":  {},
	"api/appliance/modeltest":  {},
	"api/appliance/movetest":   {},
	"api/web/webtest":          {},
	"api/mdns/linktest":        {},
	"broker/nodedoor/doortest": {},
	"store/storetest":          {"motion", "store"},
	"motion/uplink/uplinktest": {"motion/uplink", "motion/uplink/mqtt"},
	"motion/series/seriestest": {"motion", "motion/series"},

	"motion/jsonwriter/jsonwritertest": {"motion"},
}

// only lists the modules that few packages may import, most of them one alone.
var only = map[string][]string{
	"go.etcd.io/bbolt":                      {"store"},
	"github.com/mochi-mqtt/server/v2":       {"broker"},
	"github.com/danielgtaylor/huma/v2":      {"api"},
	"github.com/julienschmidt/httprouter":   {"api"},
	"github.com/teambition/rrule-go":        {"motion/alert"},
	"github.com/gorilla/websocket":          {"api", "motion/uplink/mqtt"},
	"github.com/eclipse/paho.mqtt.golang":   {"motion/uplink/mqtt", "firmware-sim/mqtt"},
	"github.com/golang/snappy":              {"motion/uplink/remotewrite"},
	"filippo.io/age":                        {"api/box/passphrase"},
	"github.com/golang-jwt/jwt/v5":          {"api/auth"},
	"github.com/coreos/go-oidc/v3":          {"api/auth"},
	"golang.org/x/crypto/argon2":            {"api/auth"},
	"github.com/wneessen/go-mail":           {"motion/notify"},
	"golang.org/x/oauth2":                   {"motion/notify"},
	"rsc.io/qr":                             {"motion/notify"},
	"github.com/coreos/go-systemd/v22":      {"api/appliance"},
	"aead.dev/minisign":                     {"api/update"},
	"gopkg.in/natefinch/lumberjack.v2":      {"api/appliance"},
	"github.com/KimMachineGun/automemlimit": {"api/appliance"},
	"golang.org/x/net":                      {"api/mdns", "firmware-sim/nodes"},
}

type goPackage struct {
	ImportPath string
	Imports    []string
}

func TestImportsFollowTheMap(t *testing.T) {
	t.Parallel()
	for _, p := range listPackages(t) {
		name := strings.TrimPrefix(p.ImportPath, "sensegate/")
		allowed, known := arrows[name]
		if !known {
			t.Errorf("package %s is not on the map: add it to arrows and ARCHITECTURE.md", name)
			continue
		}
		for _, imported := range p.Imports {
			if ours, isOurs := strings.CutPrefix(imported, "sensegate/"); isOurs && !permits(allowed, ours) {
				t.Errorf("%s imports %s: that arrow is not on the map", name, ours)
			}
			for module, homes := range only {
				isModule := imported == module || strings.HasPrefix(imported, module+"/")
				isHome := slices.ContainsFunc(homes, func(home string) bool { return name == home || strings.HasPrefix(name, home+"/") })
				if isModule && !isHome {
					t.Errorf("%s imports %s, which belongs to %s alone", name, imported, strings.Join(homes, " and "))
				}
			}
		}
	}
}

// A call of time.LoadLocation finds no zone on a gateway without a database.
func TestZonesAreLoadedByTimezoneAlone(t *testing.T) {
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "git", "grep", "-lF", "time.LoadLocation(", "--", "*.go", ":!*_test.go").Output()
	if len(out) == 0 && err != nil {
		t.Skipf("not a git checkout: %v", err)
	}
	for _, file := range strings.Fields(string(out)) {
		if file != "firmware-sim/clocktest/clock.go" {
			t.Errorf("%s calls time.LoadLocation; timezone.Load knows more", file)
		}
	}
}

func TestTopLevelIsAsFixed(t *testing.T) {
	t.Parallel()
	fixed := []string{
		"main.go", "store", "broker", "api", "motion", "firmware-sim", "config.example.yaml", "go.mod", "README.md",
		"go.sum", "main_test.go", "arch_test.go", "spec_test.go", "testdata", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "LICENSE", "Makefile", "docs", "packaging",
	}
	out, err := exec.CommandContext(t.Context(), "git", "ls-files").Output()
	if err != nil {
		t.Skipf("not a git checkout: %v", err)
	}
	for _, file := range strings.Fields(string(out)) {
		top, _, _ := strings.Cut(file, "/")
		if !strings.HasPrefix(top, ".") && !slices.Contains(fixed, top) {
			t.Errorf("%s: the top level is fixed", file)
		}
	}
}

func permits(allowed []string, imported string) bool {
	for _, a := range allowed {
		if a == imported || strings.HasSuffix(a, "/") && strings.HasPrefix(imported, a) {
			return true
		}
	}
	return false
}

func listPackages(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports", "./...")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var packages []goPackage
	for decoder := json.NewDecoder(out); ; {
		var p goPackage
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	return packages
}
