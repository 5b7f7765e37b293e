package doortest

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sensegate/api/appliance/box"
	"sensegate/broker/nodewire"
	"sensegate/motion"
	"sensegate/motion/csi"
)

// product is the binary, built once.
var product string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "doortest")
	if err == nil {
		product, err = box.BuildIn(dir)
	}
	code := 1
	if err == nil {
		code = m.Run()
	} else {
		println(err.Error())
	}
	_ = os.RemoveAll(dir) // the system clears its temporary files
	os.Exit(code)
}

// MAC addresses of the tests.
const (
	nodeMAC, otherMAC = "02:2c:67:42:bb:ac", "02:2c:67:42:bb:ad"
	nodeID, otherID   = "node:ruview:022c6742bbac:2", "node:ruview:022c6742bbad:2"
)

var router = motion.MAC{0xa4, 0x2b, 0xb0, 0xc1, 0xd2, 0xe3}

// run starts the product in the namespace of the box, where nothing comes in by itself.
func (l *lan) run() (dir string) {
	l.t.Helper()
	dir = l.t.TempDir()
	box.Start(l.t, box.Setup{
		Dir: dir, Line: []string{"ip", "netns", "exec", l.space("box"), product, "serve"},
		Environment: []string{
			"SENSEGATE_GATEKEEPER_FIRST_WINDOW=0s", "SENSEGATE_NODES_RUVIEW_LISTEN=:5005",
			"SENSEGATE_NODES_TRANSMITTERS=" + router.String(), "SENSEGATE_HTTP_MDNS=false",
		},
	})
	return dir
}

// device is what the list of devices says of one.
type device struct {
	ID, State, Why, Address string
	Node                    *motion.NodeFigures
	Entry                   *struct{ ID string }
}

// devices returns the list of devices and what arrives at the only intake.
func devices(t *testing.T, dir string) (list []device, in motion.IntakeFigures) {
	t.Helper()
	var answer struct {
		Devices []device
		Intakes []motion.IntakeFigures
	}
	if err := json.Unmarshal([]byte(box.Administer(t, product, dir, "device", "list", "-json")), &answer); err != nil {
		t.Fatal(err)
	}
	return answer.Devices, answer.Intakes[0]
}

// await waits until a device is as wanted.
func await(t *testing.T, dir, id, what string, wanted func(device) bool) {
	t.Helper()
	var list []device
	for end := time.Now().Add(box.Patience); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		list, _ = devices(t, dir)
		if i := slices.IndexFunc(list, func(d device) bool { return d.ID == id }); i >= 0 && wanted(list[i]) {
			return
		}
	}
	t.Fatalf("%s is never %s; there are %+v", id, what, list)
}

func inState(state string) func(device) bool {
	return func(d device) bool { return d.State == state }
}

// number is that of the newest frame of the simulated node.
type number struct{ atomic.Uint32 }

// send sends frames of the router as measured by the node, fifty a second until stop is called.
func (l *lan) send(n *number) (stop func()) {
	l.t.Helper()
	conn := l.dial("192.168.7.1:5005")
	ended, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		data := make([]byte, 128)
		for {
			select {
			case <-ended:
				return
			case <-tick.C:
			}
			i := n.Add(1)
			for k := range data {
				data[k] = byte(20 + (int(i)*k)%3)
			}
			f := nodewire.Frame{Node: 2, Src: router, Seq: nodewire.Sequence{Number: i, Bits: 32}, Channel: 6, RSSI: -50, Noise: -95, Flags: csi.ImagFirst, Data: data}
			_, _ = conn.Write(nodewire.AppendRuView(nil, &f)) // the node may be unplugged
		}
	}()
	stop = func() {
		select {
		case <-ended:
		default:
			close(ended)
		}
		<-over
		_ = conn.Close()
	}
	l.t.Cleanup(stop)
	return stop
}

func TestNodeComesGoesAndComesBack(t *testing.T) {
	l := newLAN(t)
	l.named(nodeMAC)
	l.at("192.168.7.2/24")
	dir := l.run()
	var n number
	stop := l.send(&n)
	await(t, dir, nodeID, "pending", inState("pending"))
	if out := box.Administer(t, product, dir, "links"); strings.Contains(out, "ruview") {
		t.Errorf("a node that waits has a link:\n%s", out)
	}
	box.Administer(t, product, dir, "device", "adopt", nodeID)
	await(t, dir, nodeID, "online, and used", func(d device) bool { return d.State == "online" && d.Node != nil && d.Node.Used > 20 })
	sensing := func() (can string) {
		var links []struct{ Link, Can, Source string }
		if err := json.Unmarshal([]byte(box.Administer(t, product, dir, "links", "-json")), &links); err != nil {
			t.Fatal(err)
		}
		for _, one := range links {
			if one.Link == "ruview-022c6742bbac-2.a42bb0c1d2e3" {
				can = one.Can
			}
		}
		return can
	}
	for end := time.Now().Add(box.Patience); sensing() != "decides"; time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("its link is %q", sensing())
		}
	}

	stop()
	await(t, dir, nodeID, "offline", inState("offline"))
	if can := sensing(); can != "blind" {
		t.Errorf("unplugged, its link is %q", can)
	}

	l.at("192.168.7.3/24")
	stop = l.send(&n)
	await(t, dir, nodeID, "online at its new address", func(d device) bool { return d.State == "online" && d.Address == "192.168.7.3" })

	stop()
	l.named(otherMAC) // the box has the former one in its neighbour table still, and nobody tells it
	l.at("192.168.7.3/24")
	l.quietly()
	l.send(&n)
	await(t, dir, otherID, "pending", func(d device) bool { return d.State == "pending" && strings.Contains(d.Why, "looks like another") })
	await(t, dir, nodeID, "offline", inState("offline"))
}

func TestOtherNetworksAreTurnedAway(t *testing.T) {
	l := newLAN(t)
	l.at("10.99.0.2/24")
	l.in("box", "route", "add", "10.99.0.0/24", "dev", "eth0")
	dir := l.run()
	var n number
	l.send(&n)
	for end := time.Now().Add(box.Patience); ; time.Sleep(200 * time.Millisecond) {
		list, in := devices(t, dir)
		if in.Foreign > 50 {
			if len(list) > 0 {
				t.Errorf("it is listed: %+v", list)
			}
			return
		}
		if time.Now().After(end) {
			t.Fatalf("nothing is turned away: %+v", in)
		}
	}
}
