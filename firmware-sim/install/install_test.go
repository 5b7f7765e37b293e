package install_test

import (
	"context"
	"log/slog"
	"net"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sensegate/api/apitest"
	"sensegate/broker"
	"sensegate/firmware-sim/install"
	"sensegate/firmware-sim/sim"
	"sensegate/motion"
	"sensegate/motion/engine"
	"sensegate/motion/engine/devices"
	"sensegate/motion/engine/sensing"
	"sensegate/store"
	"sensegate/store/storetest"
)

// patience bounds every wait of a test; nothing comes near it unless it is broken.
const patience = time.Minute

// box is an appliance without its interfaces for people, and the installation at it.
type box struct {
	t      *testing.T
	db     *store.DB
	engine *engine.Engine
	play   *install.Installation
}

// start starts an appliance on free ports and an installation in which devices come when
// they are told to, and waits for its gateway. Nobody lives there and no device fails by
// itself, so it does not matter what time it is.
func start(t *testing.T, c install.Config) *box {
	t.Helper()
	b := &box{t: t, db: storetest.Open(t)}
	var err error
	if b.engine, err = engine.New(t.Context(), b.db, engine.Options{FirstWindow: time.Hour, Readopt: true}); err != nil {
		t.Fatal(err)
	}
	listen := broker.Defaults()
	listen.Listen = "127.0.0.1:0"
	log := slog.New(slog.DiscardHandler)
	door, err := broker.New(listen, broker.Intake{Engine: b.engine}, log)
	if err != nil {
		t.Fatal(err)
	}
	b.engine.Introduce(door)
	if err := door.Listen(); err != nil {
		t.Fatal(err)
	}
	apitest.Background(t, b.engine.Run)
	apitest.Background(t, door.Run)
	port := door.Addr().(*net.TCPAddr).Port
	gate := httptest.NewServer(broker.NewGatekeeper(broker.GatekeeperConfig{MQPort: port}, b.engine, log))
	t.Cleanup(gate.Close)
	c.Gatekeeper, c.Seed, c.Log = gate.URL, 1, slog.New(slog.NewTextHandler(t.Output(), nil))
	if b.play, err = install.New(c); err != nil {
		t.Fatal(err)
	}
	apitest.Background(t, b.play.Run)
	select {
	case <-b.play.Ready():
	case <-time.After(patience):
		t.Fatal("the gateway does not connect")
	}
	return b
}

// await waits until done reports true; what says for what.
func (b *box) await(what string, done func() bool) {
	b.t.Helper()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for end := time.After(patience); !done(); {
		select {
		case <-again.C:
		case <-end:
			list, _, _ := b.engine.Devices.DeviceList(context.Background())
			b.t.Fatalf("waited in vain for %s; links %+v, devices %+v", what, b.links(), list)
		}
	}
}

// node returns what the appliance says of a node by its name: the first that matches, zero for
// none.
func (b *box) node(name string, match func(devices.DeviceState) bool) devices.DeviceState {
	b.t.Helper()
	list, _, err := b.engine.Devices.DeviceList(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	id := b.device(name).ID
	for _, d := range list {
		if d.ID == id && match(d) {
			return d
		}
	}
	return devices.DeviceState{}
}

func (b *box) online(name string) bool {
	d := b.node(name, func(d devices.DeviceState) bool { return d.State == "online" })
	return d.ID != "" && d.NetworkID == b.play.Network()
}

// device returns a device of the installation.
func (b *box) device(name string) install.Device {
	b.t.Helper()
	list := b.play.Devices()
	i := slices.IndexFunc(list, func(d install.Device) bool { return d.Name == name })
	if i < 0 {
		b.t.Fatalf("there is no %s", name)
	}
	return list[i]
}

func (b *box) links() []sensing.LinkState {
	links, err := b.engine.Sensing.ExplainLinks(b.play.Network())
	if err != nil {
		b.t.Error(err)
	}
	return links
}

// heard reports whether a link whose name holds part senses.
func (b *box) heard(part string) bool {
	return slices.ContainsFunc(b.links(), func(l sensing.LinkState) bool { return strings.Contains(l.Link, part) && l.Can == sensing.LinkDecides })
}

// leafs returns the leafs that the appliance knows.
func (b *box) leafs() (list []motion.Leaf) {
	err := b.db.View(b.t.Context(), func(tx *store.Tx) (err error) {
		list, err = tx.Leafs(b.play.Network())
		return err
	})
	if err != nil {
		b.t.Error(err)
	}
	return list
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestDevicesComeOneByOne(t *testing.T) {
	t.Parallel()
	b := start(t, install.Config{})
	list, _, err := b.engine.Devices.DeviceList(t.Context())
	if err != nil || !b.online("Gateway") || slices.ContainsFunc(list, func(d devices.DeviceState) bool { return d.NodeName != "GWA1000133" }) {
		t.Fatalf("at the start there is %+v (%v), want the gateway alone", list, err)
	}
	if leafs := b.leafs(); len(leafs) > 0 {
		t.Fatalf("at the start the gateway tells of %+v", leafs)
	}
	for _, d := range b.play.Devices()[1:] {
		came, ok := b.play.Next()
		if d.Here || !ok || came.ID != d.ID || !came.Here {
			t.Fatalf("%+v comes (%v), want %+v", came, ok, d)
		}
		b.await(d.Name, func() bool {
			if d.Node {
				return b.online(d.Name)
			}
			known := func(l motion.Leaf) bool {
				return l.MAC.String() == d.ID && l.Hostname == strings.ReplaceAll(strings.ToLower(d.Name), " ", "-")
			}
			return slices.ContainsFunc(b.leafs(), known) && b.heard("."+strings.ReplaceAll(d.ID, ":", ""))
		})
	}
	if came, ok := b.play.Next(); ok {
		t.Errorf("%+v comes after the last", came)
	}
}

func TestDevicesComeByThemselves(t *testing.T) {
	t.Parallel()
	b := start(t, install.Config{Pause: time.Millisecond})
	b.await("all", func() bool {
		return !slices.ContainsFunc(b.play.Devices(), func(d install.Device) bool { return !d.Here })
	})
}

func TestWrongPasswordIsToldOfTheDevice(t *testing.T) {
	t.Parallel()
	b := start(t, install.Config{Refused: sim.WrongPassword})
	b.play.All()
	b.await("a refused login", func() bool {
		d := b.node(install.RefusedNode, func(d devices.DeviceState) bool { return d.State == "offline" })
		return d.NetworkID == b.play.Network() && len(d.Refused) > 0 && strings.Contains(d.Refused[0].Reason, "wrong token")
	})
	if b.device(install.RefusedNode).Fault == "" {
		t.Error("the installation does not tell of the fault")
	}
	if err := b.play.SetRefused(sim.NotRefused); err != nil {
		t.Fatal(err)
	}
	b.await("a login", func() bool { return b.online(install.RefusedNode) })
}

func TestDeviceOfAnotherNetworkWaitsAndSaysWhy(t *testing.T) {
	t.Parallel()
	b := start(t, install.Config{Refused: sim.OtherNetwork})
	b.play.All()
	waits := func(d devices.DeviceState) bool { return d.State == "pending" }
	b.await("a device that waits", func() bool {
		d := b.node(install.RefusedNode, waits)
		return d.NetworkID == b.play.Network() && strings.Contains(d.Why, "adopted in another network")
	})
	next := b.node(install.RefusedNode, func(d devices.DeviceState) bool { return d.State == "online" })
	if next.NetworkID == b.play.Network() || next.NetworkID == 0 {
		t.Errorf("next door there is %+v", next)
	}
	if err := b.play.SetRefused(sim.NotRefused); err != nil {
		t.Fatal(err)
	}
	b.await("its move", func() bool { return b.online(install.RefusedNode) && b.node(install.RefusedNode, waits).ID == "" })
}

func TestDeafNodeIsConnectedWithoutFrames(t *testing.T) {
	t.Parallel()
	b := start(t, install.Config{Deaf: true})
	b.play.All()
	b.await("the deaf node, and other links", func() bool {
		return b.online(install.DeafNode) && b.heard("GWA1000133.EXA1000134") && b.heard("EXA1000134.") && b.heard("EXA1000135.")
	})
	if b.heard("EXA1000136") {
		t.Errorf("links of the deaf node are heard: %+v", b.links())
	}
	b.play.SetDeaf(false)
	b.await("both links of the node", func() bool { return b.heard("GWA1000133.EXA1000136") && b.heard("EXA1000136.") })
}

// moved returns when the link of a leaf was last in motion, 0 for never.
func (b *box) moved(leaf string) motion.Time {
	b.t.Helper()
	source := "." + strings.ReplaceAll(b.device(leaf).ID, ":", "")
	for _, l := range b.links() {
		if strings.HasSuffix(l.Link, source) {
			return l.LastMotion
		}
	}
	return 0
}

func TestWalkIsSeenByTheLinksOfAnotherRoom(t *testing.T) {
	t.Parallel()
	b := start(t, install.Config{Refused: sim.WrongPassword, Deaf: true, Moved: true})
	b.play.All()
	const links = 9 // of seven leafs and two extenders
	b.await("the quiet of all links", func() bool {
		known := 0
		for _, l := range b.links() {
			if l.Calibration == "done" {
				known++
			}
		}
		return known == links
	})
	if said := b.device(install.MovedLeaf); said.Room != "Office" || said.Fault != "moved" {
		t.Errorf("the device says %+v", said)
	}
	asked := motion.TimeOf(time.Now())
	if err := b.play.Walk("office"); err != nil {
		t.Fatal(err)
	}
	b.await("motion of the bedroom's lamp", func() bool { return b.moved("Bedroom lamp") > asked })
	if at := b.moved(install.MovedLeaf); at > asked {
		t.Errorf("a walk in the office sets the %s in motion, which stands in the bedroom", install.MovedLeaf)
	}
	b.play.SetMoved(false)
	back := motion.TimeOf(time.Now())
	if err := b.play.Walk("Office"); err != nil {
		t.Fatal(err)
	}
	b.await("motion of the printer", func() bool { return b.moved(install.MovedLeaf) > back })
}

func TestCommandsAreTheSwitches(t *testing.T) {
	t.Parallel()
	play, err := install.New(install.Config{Gatekeeper: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ line, says, mistake string }{
		{"", "", ""},
		{" next ", "Hall extender comes\n", ""},
		{"all", "all have come\n", ""},
		{"next", "all have come\n", ""},
		{"walk living room", "", ""},
		{"stop", "", ""},
		{"refused network", "", ""},
		{"deaf on", "", ""},
		{"moved on", "", ""},
		{"list", "here     Printer            Office       02:bb:00:00:00:36      moved\n", ""},
		{"list", "here     Kitchen extender   Kitchen      csi-a-02aa00000410     deaf\n", ""},
		{"list", "here     Bathroom extender  Bathroom     csi-a-02aa00000510     refused: network\n", ""},
		{"refused off", "", ""},
		{"moved off", "", ""},
		{"list", "here     Printer            Office       02:bb:00:00:00:36\n", ""},
		{"help", "walk ROOM", ""},
		{"dance", "", "want one of these"},
		{"walk", "", "want one of these"},
		{"list devices", "", "want one of these"},
		{"walk cellar", "", "want one of Living room, Kitchen"},
		{"deaf maybe", "", "want on or off"},
		{"refused rudely", "", "want password or network"},
	} {
		text, err := play.Do(c.line)
		if (err != nil) != (c.mistake != "") || err != nil && !strings.Contains(err.Error(), c.mistake) || !strings.Contains(text, c.says) {
			t.Errorf("%q: %q, %v; want %q, %q", c.line, text, err, c.says, c.mistake)
		}
	}
}

func TestConfigMistakesAreNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		config install.Config
		want   string
	}{
		{install.Config{Gatekeeper: "box"}, "want a URL"},
		{install.Config{Gatekeeper: "http://box", Pause: -1}, "pause"},
		{install.Config{Gatekeeper: "http://box", Refused: "rudely"}, "want password or network"},
	} {
		if _, err := install.New(c.config); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.config, err, c.want)
		}
	}
}
