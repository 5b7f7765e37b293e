package movetest

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// TestMoveSurvivesTheEndOfEitherBox kills each box after each step, and takes the network back once.
func TestMoveSurvivesTheEndOfEitherBox(t *testing.T) {
	dirs := [2]string{t.TempDir(), t.TempDir()}
	from := open(t, binary, dirs[0])
	http, mqtt := "SENSEGATE_HTTP_LISTEN="+from.HTTP, "SENSEGATE_MQTT_LISTEN="+from.MQTT
	from.makeKey()
	to := open(t, binary, dirs[1], "SENSEGATE_GATEKEEPER_FIRST_WINDOW=0s")
	to.makeKey()
	toHTTP, toMQTT := "SENSEGATE_HTTP_LISTEN="+to.HTTP, "SENSEGATE_MQTT_LISTEN="+to.MQTT
	restart := func(p *product, addresses ...string) {
		p.Kill()
		again := open(t, binary, p.dir, append(addresses, "SENSEGATE_GATEKEEPER_FIRST_WINDOW=0s")...)
		p.Process = again.Process
	}
	device := newCounter(t, from)
	ctx, stop := context.WithCancel(t.Context())
	finished := make(chan struct{})
	go func() { defer close(finished); device.run(ctx) }()
	defer func() { stop(); <-finished }()
	more := func(what, at string) {
		t.Helper()
		before, _ := device.count(at)
		eventually(t, what, func() bool { n, _ := device.count(at); return n > before+20 })
	}
	more("the device sends", from.MQTT)

	from.must(nil, "network", "export", "-move", "-plain", "1") // a file that gets lost
	restart(from, http, mqtt)
	if out, said, err := from.run(nil, "network", "hand-over", "1", "http://"+to.HTTP, "NONE"); err == nil || !strings.Contains(said, "receipt") {
		t.Errorf("handed over without a copy that has arrived: %s%s", out, said)
	}
	before, _ := device.count("")
	from.must(nil, "network", "take-back", "1")
	more("the device is back", from.MQTT)
	if lost, _ := device.lost(from, 1); len(lost) > 0 {
		t.Errorf("%d of %d events are gone after the network was taken back", len(lost), before)
	}

	file, _ := from.must(nil, "network", "export", "-move", "-plain", "1")
	if _, said, err := to.run(file[:len(file)-20], "network", "import"); err == nil || !strings.Contains(said, "cut off") {
		t.Errorf("a file that is cut off is taken in: %s", said)
	}
	first, _ := to.must(file, "network", "import")
	restart(to, toHTTP, toMQTT)
	again, _ := to.must(file, "network", "import")
	if receiptOf(t, first) != receiptOf(t, again) || !strings.Contains(string(again), "taken in before") {
		t.Errorf("the second time it says %s", again)
	}
	restart(from, http, mqtt)
	from.must(nil, "network", "hand-over", "1", "http://"+to.HTTP, strings.ToLower(receiptOf(t, again)))
	restart(from, http, mqtt)
	more("the device goes over", to.MQTT)
	restart(to, toHTTP, toMQTT)
	more("the device goes over again, by way of the old box", to.MQTT)
	stop()
	<-finished
	_, network := device.count("")
	if lost, doubles := device.lost(to, network); len(lost)+doubles > 0 {
		t.Errorf("lost %v, %d doubled", lost, doubles)
	}
	from.must(nil, "network", "delete", "-yes", "1")
	from.wantAudit(t, "set aside", "exported", "taken back", "handed over", "deleted")
	to.wantAudit(t, "imported")
}

// wantAudit fails unless the audit log says that a network was treated so.
func (p *product) wantAudit(t *testing.T, actions ...string) {
	t.Helper()
	out, _ := p.must(nil, "audit")
	for _, action := range actions {
		if !strings.Contains(string(out), fmt.Sprint("network ", action)) {
			t.Errorf("no line of the audit log says that the network was %s:\n%s", action, out)
		}
	}
}

// TestCommandsWorkWhileNoBoxRuns moves a network between two boxes that are off.
func TestCommandsWorkWhileNoBoxRuns(t *testing.T) {
	from, to := open(t, binary, t.TempDir()), open(t, binary, t.TempDir())
	device := newCounter(t, from)
	ctx, stop := context.WithCancel(t.Context())
	finished := make(chan struct{})
	go func() { defer close(finished); device.run(ctx) }()
	eventually(t, "the device sends", func() bool { n, _ := device.count(""); return n > 5 })
	stop()
	<-finished
	from.Stop()
	to.Stop()
	file, _ := from.must(nil, "network", "export", "-move", "-plain", "1")
	told, _ := to.must(file, "network", "import")
	from.must(nil, "network", "hand-over", "1", "http://192.0.2.1:8080", receiptOf(t, told))
	list, _ := from.must(nil, "network", "list")
	if !strings.Contains(string(list), "http://192.0.2.1:8080/gatekeeper") {
		t.Errorf("listed as %s", list)
	}
	to.Process = open(t, binary, to.dir).Process
	to.makeKey()
	if lost, doubles := device.lost(to, 1); len(lost)+doubles > 0 {
		t.Errorf("lost %v, %d doubled", lost, doubles)
	}
}
