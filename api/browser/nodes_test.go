package browser_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"reflect"
	"slices"
	"testing"

	"sensegate/api/apitest"
	"sensegate/api/browser"
	"sensegate/motion"
)

const (
	board      = "node:ruview:7c2c6742bbac:1"
	otherBoard = "node:ruview:7c2c6742bbad:1"
)

// comes lets a node of another maker ask to come in.
func (b *box) comes(id string, last byte, ip string) {
	b.T.Helper()
	mac := motion.MAC{0x7c, 0x2c, 0x67, 0x42, 0xbb, last}
	said := motion.Radar{
		DeviceID: id, NodeName: fmt.Sprintf("ruview-%s-1", mac.Name()), RootMode: 1, HWID: "ruview",
		Interfaces: []motion.Interface{{Name: "wlan0", Type: "WIFI_CLIENT", MAC: mac, IP: ip, WifiChannel: 6}},
	}
	if _, _, _, err := b.engine.Devices.Receiver(b.T.Context(), said, motion.MAC{2, 'R', 'V', 0, 0, 1}, motion.Credentials{Address: netip.MustParseAddr(ip), MAC: mac}); err != nil {
		b.T.Fatal(err)
	}
}

// letIn lets a node that waits into the first home.
func (b *box) letIn(id string, last byte, ip string) {
	b.T.Helper()
	b.comes(id, last, ip)
	if d := b.owner.setupDevices().of(id); d.Entry != "" {
		apitest.Want[any](b.T, b.owner.ask(http.MethodPost, "/devices/"+d.Entry+"/adopt", fmt.Sprintf(`{"network_id":%d}`, b.home)), 200)
		b.comes(id, last, ip)
	}
}

// figures are of a node that hears its router.
func figures(advice ...motion.NodeAdvice) *motion.NodeFigures {
	return &motion.NodeFigures{
		Kind: motion.RuView, Rate: 19.8, Used: 12.4, Lengths: []motion.FrameLength{{Bytes: 128, Share: 1}},
		Transmitters: []motion.Transmitter{{MAC: motion.MAC{0xa4, 0x2b, 0xb0, 0xc1, 0xd2, 0xe3}, Share: 0.62, Used: true, Counted: 620}}, Advice: advice,
	}
}

func TestOwnerSeesWhatArrivesOfNodesOfOtherMakers(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.comes(board, 0xac, "192.168.10.42")
	if d := b.owner.setupDevices().of(board); d.State != "waiting" || d.Name != "RuView node 1" || d.Node == nil || !slices.Equal(d.Node.Advice, []motion.NodeAdvice{motion.NothingArrives}) {
		t.Fatalf("a node that asks %+v", d)
	}
	b.letIn(board, 0xac, "192.168.10.42")
	b.engine.NodeFigures(board, figures(motion.TooManyTransmitter))
	rate, used := 19.8, 12.4
	want := &browser.NodeView{
		Kind: motion.RuView, Rate: &rate, Used: &used, Lengths: []browser.NodeLength{{Bytes: 128, Share: 1}},
		Transmitters: []browser.NodeTransmitter{{MAC: motion.MAC{0xa4, 0x2b, 0xb0, 0xc1, 0xd2, 0xe3}, Share: 0.62, Used: true}}, Advice: []motion.NodeAdvice{motion.TooManyTransmitter},
	}
	if d := b.owner.setupDevices().of(board); d.State != "online" || !reflect.DeepEqual(d.Node, want) {
		t.Errorf("%+v with %+v, want %+v", d, d.Node, want)
	}
	if d := b.owner.setupDevices().of(master); d.Node != nil {
		t.Errorf("a device of ours has %+v", d.Node)
	}
}

// TestNodeOfAnotherMakerSaysWhyItDoesNotWork: by what arrives of it, not by what holds of every device.
func TestNodeOfAnotherMakerSaysWhyItDoesNotWork(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.letIn(board, 0xac, "192.168.10.42")
	unused := figures()
	unused.Used = 0
	for _, c := range []struct {
		figures *motion.NodeFigures
		why     string
	}{
		{nil, "nothing_arrives"},
		{unused, ""}, // the first seconds
		{figures(motion.NoTransmitter), "no_transmitter"},
		{figures(motion.SecondSource, motion.SameAgain), "second_source"},
		{figures(motion.NeighbourUnknown), "no_frames"}, // its frames are used, and the link that they belong to is silent
	} {
		b.engine.NodeFigures(board, c.figures)
		if d := b.owner.setupDevices().of(board); d.State != "online" || d.Why != c.why {
			t.Errorf("with %+v it is %s for %q, want %q", c.figures, d.State, d.Why, c.why)
		}
	}
	key := motion.DeviceKey{Kind: motion.RadarKind, ID: board}
	b.engine.State.BadInput(key.String(), "too old", nil)
	if d := b.owner.setupDevices().of(board); d.Why != "bad_input" {
		t.Errorf("of what is refused it says %q", d.Why)
	}
}

// TestInstallerAndKeeperSeeNoFiguresOfNodes: what a node hears tells who is at home.
func TestInstallerAndKeeperSeeNoFiguresOfNodes(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.install(b.nobody, 3600)
	b.letIn(board, 0xac, "192.168.10.42")
	b.engine.NodeFigures(board, figures(motion.TooManyTransmitter))
	want := &browser.NodeView{Kind: motion.RuView, Advice: []motion.NodeAdvice{motion.TooManyTransmitter}}
	if d := b.nobody.setupDevices().of(board); !reflect.DeepEqual(d.Node, want) {
		t.Errorf("an installer sees %+v, want %+v", d.Node, want)
	}
	type seen struct {
		Devices []struct {
			ID, Name string
			Node     *browser.NodeView
		}
		Intakes []motion.IntakeFigures
	}
	list := apitest.Want[seen](t, b.keeper.ask(http.MethodGet, "/admin/devices", ""), 200)
	for _, d := range list.Devices {
		if d.ID == board && (d.Name != "RuView node 1" || !reflect.DeepEqual(d.Node, want)) || d.ID != board && d.Node != nil {
			t.Errorf("an administrator sees %s %q with %+v", d.ID, d.Name, d.Node)
		}
	}
	rounded := []motion.IntakeFigures{{Kind: motion.RuView, At: "udp :5005", State: "in use", Arrived: 180_000, Frames: 170_000, Other: 40, Wrong: 3, Foreign: 4, Limited: 5}}
	if !slices.Equal(list.Intakes, rounded) {
		t.Errorf("of %+v an administrator sees %+v", otherNodes{}.Figures(), list.Intakes)
	}
}

// TestNodesOfOneNumberAreToldApart: every board that nobody has given a number has the same.
func TestNodesOfOneNumberAreToldApart(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.letIn(board, 0xac, "192.168.10.42")
	b.letIn(otherBoard, 0xad, "192.168.10.43")
	list := b.owner.setupDevices()
	if first, second := list.of(board).Name, list.of(otherBoard).Name; first != "RuView node 1" || second != "RuView node 1 bbad" {
		t.Errorf("they are called %q and %q", first, second)
	}
	var told []string
	for _, notice := range b.member.inbox("").Notices {
		told = append(told, notice.Kind+" "+notice.Values["device"])
	}
	for _, want := range []string{
		motion.DeviceRefusedEvent + " RuView node 1", motion.DeviceAdoptedEvent + " RuView node 1", motion.DeviceAdoptedEvent + " RuView node 1 bbad",
	} {
		if !slices.Contains(told, want) {
			t.Errorf("the household is told %q, want %q", told, want)
		}
	}
}
