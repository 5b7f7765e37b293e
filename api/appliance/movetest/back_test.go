package movetest

import (
	"context"
	"net"
	"strings"
	"testing"
)

// TestHomeMovesBack moves the network of a device to another box and back, with its former copy deleted each
// time. The device asks the box that it was set up with first, which would let it form its network anew.
func TestHomeMovesBack(t *testing.T) {
	from := open(t, binary, t.TempDir())
	to := open(t, binary, t.TempDir(), "SENSEGATE_GATEKEEPER_FIRST_WINDOW=0s")
	to.makeKey()
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

	file, _ := from.must(nil, "network", "export", "-move", "-plain", "1")
	told, _ := to.must(file, "network", "import")
	before, _ := from.must(nil, "network", "list")
	for address, want := range map[string]string{from.HTTP: "is this box itself", nobody(t): "nothing answers at"} {
		if _, said, err := from.run(nil, "network", "hand-over", "1", "http://"+address, receiptOf(t, told)); err == nil || !strings.Contains(said, want) {
			t.Errorf("handed over to %s: %s, want %q", address, said, want)
		}
	}
	if after, _ := from.must(nil, "network", "list"); string(after) != string(before) {
		t.Errorf("after refusals there is\n%s, before\n%s", after, before)
	}
	from.must(nil, "network", "hand-over", "1", "http://"+to.HTTP, receiptOf(t, told))
	more("the device goes over", to.MQTT)
	from.must(nil, "network", "delete", "-yes", "1")
	to.Kill()
	to.Process = open(t, binary, to.dir, "SENSEGATE_GATEKEEPER_FIRST_WINDOW=0s", "SENSEGATE_HTTP_LISTEN="+to.HTTP, "SENSEGATE_MQTT_LISTEN="+to.MQTT).Process
	more("the device goes over again, by way of the box that has no copy", to.MQTT)

	file, _ = to.must(nil, "network", "export", "-move", "-plain", "1")
	told, _ = from.must(file, "network", "import")
	to.must(nil, "network", "hand-over", "1", "http://"+from.HTTP, receiptOf(t, told))
	more("the device is back", from.MQTT)
	to.must(nil, "network", "delete", "-yes", "1")
	stop()
	<-finished
	from.makeKey()
	_, network := device.count("")
	if lost, doubles := device.lost(from, network); len(lost)+doubles > 0 {
		t.Errorf("lost %v, %d doubled", lost, doubles)
	}
	if list, _ := from.must(nil, "network", "list"); strings.Contains(string(list), "deleted") {
		t.Errorf("with the network back there is\n%s", list)
	}
}

// nobody returns an address of this machine at which nothing answers.
func nobody(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = listener.Close()
	return listener.Addr().String()
}
