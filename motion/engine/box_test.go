package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"sensegate/motion"
	"sensegate/motion/engine"
	"sensegate/motion/engine/sensing"
	"sensegate/motion/engine/state"
	"sensegate/motion/fault"
	"sensegate/motion/series"
	"sensegate/store"
	"sensegate/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Places of the home that the tests are about.
var (
	masterAP  = motion.MAC{2, 0xaa, 0, 0, 1, 0x12}
	peerAP    = motion.MAC{2, 0xaa, 0, 0, 2, 0x12}
	masterBH  = motion.MAC{2, 0xaa, 0, 0, 1, 0x14}
	peerBH    = motion.MAC{2, 0xaa, 0, 0, 2, 0x14}
	kitchen   = motion.MAC{2, 0xbb, 0, 0, 0, 0x31}
	hallway   = motion.MAC{2, 0xbb, 0, 0, 0, 0x32}
	address   = netip.MustParseAddr("192.168.10.13")
	elsewhere = netip.MustParseAddr("192.168.10.99")
)

const (
	location   = "a41f00c2d97b4e5580136c2e"
	masterID   = "csi-a-02aa00000110"
	peerID     = "csi-a-02aa00000210"
	masterName = "GWA1000133"
	peerName   = "EXA1000134"
)

var (
	guardianKey = motion.DeviceKey{Kind: motion.Guardian, ID: location}
	masterKey   = motion.DeviceKey{Kind: motion.RadarKind, ID: masterID}
)

// master is what the access point that forms the network posts.
func master() motion.Bootstrap {
	return motion.Bootstrap{LocationID: location, Radar: motion.Radar{
		DeviceID: masterID, NodeName: masterName, RootMode: motion.RootModeMaster,
		APBSSID2GHz: masterAP, MeshBSSID: masterBH,
		Interfaces: []motion.Interface{
			{Name: "wan0", Type: "ETHERNET", MAC: motion.MAC{2, 0xaa, 0, 0, 1, 0x10}, IP: "192.168.10.13"},
			{Name: "home", Type: "WIFI_AP", MAC: masterAP, WifiChannel: 6},
		},
	}}
}

// peer is what an extender posts.
func peer() motion.Bootstrap {
	return motion.Bootstrap{LocationID: location, Radar: motion.Radar{
		DeviceID: peerID, NodeName: peerName, RootMode: 1, APBSSID2GHz: peerAP, MeshBSSID: peerBH,
	}}
}

// sent is a command that a device was sent.
type sent struct {
	device  motion.DeviceKey
	command string
	payload string
	retain  bool
}

// recordedDevices records what the engine does to devices.
type recordedDevices struct {
	mu           sync.Mutex
	sent         []sent
	disconnected []motion.DeviceKey
	deaf         map[motion.DeviceKey]bool // connected, but not subscribed yet
}

func (d *recordedDevices) Send(device motion.DeviceKey, command string, payload []byte, retain bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.deaf[device] && !retain {
		return fault.New(fault.Unavailable, "device %s is not connected", device)
	}
	d.sent = append(d.sent, sent{device, command, string(payload), retain})
	return nil
}

func (d *recordedDevices) Disconnect(device motion.DeviceKey, _ string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.disconnected = append(d.disconnected, device)
}

func (d *recordedDevices) DisconnectUser(string, string) {}

// commands returns the payloads of the commands of one name, and forgets them.
func (d *recordedDevices) commands(device motion.DeviceKey, name string) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var payloads []string
	d.sent = slices.DeleteFunc(d.sent, func(s sent) bool {
		found := s.device == device && s.command == name
		if found {
			payloads = append(payloads, s.payload)
		}
		return found
	})
	return payloads
}

// box is a running appliance without its doors, in a bubble of its own time.
type box struct {
	*engine.Engine
	t       *testing.T
	path    string
	options engine.Options
	maxSize int   // of the database, 0 = unlimited
	share   int64 // of events that a network may have, bytes; 0 = unlimited
	db      *store.DB
	devices *recordedDevices
	cancel  context.CancelFunc
	ended   chan error
}

// run gives test a fresh appliance, in a bubble whose clock moves when the test
// sleeps, and checks the database afterwards.
func run(t *testing.T, test func(t *testing.T, b *box), change ...func(*engine.Options)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &box{t: t, path: filepath.Join(t.TempDir(), "sensegate.db"), devices: &recordedDevices{}}
		b.options = engine.Options{FirstWindow: 24 * time.Hour, Readopt: true}
		for _, c := range change {
			c(&b.options)
		}
		b.start()
		defer func() { b.stop() }()
		test(t, b)
	})
}

// start opens the database and runs an engine on it.
func (b *box) start() {
	b.t.Helper()
	b.open()
	ctx, cancel := context.WithCancel(context.Background())
	b.cancel, b.ended = cancel, make(chan error, 1)
	go func() { b.ended <- b.Run(ctx) }()
}

// open opens the database and makes an engine of it that does not run.
func (b *box) open() {
	b.t.Helper()
	db, err := store.Open(store.Options{Path: b.path, MaxSize: b.maxSize, EventShare: b.share, Now: b.options.Now})
	if err != nil {
		b.t.Fatal(err)
	}
	e, err := engine.New(context.Background(), db, b.options)
	if err != nil {
		b.t.Fatal(err)
	}
	e.Introduce(b.devices)
	b.db, b.Engine = db, e
}

// stop ends the engine in good order and closes the database.
func (b *box) stop() {
	b.t.Helper()
	if b.cancel == nil {
		return
	}
	b.cancel()
	if err := <-b.ended; err != nil {
		b.t.Errorf("run: %v", err)
	}
	b.cancel = nil
	storetest.Close(b.t, b.db)
}

// crash ends the engine as a power cut does: what is on the disk now is all that
// is left.
func (b *box) crash() {
	b.t.Helper()
	synctest.Wait()
	cut := filepath.Join(b.t.TempDir(), "cut.db")
	err := b.db.View(context.Background(), func(tx *store.Tx) error { return copyFile(b.path, cut) })
	if err != nil {
		b.t.Fatal(err)
	}
	b.stop()
	b.path = cut
}

// network returns the id of the one network.
func (b *box) network() motion.NetworkID {
	b.t.Helper()
	var id motion.NetworkID
	b.view(func(tx *store.Tx) error {
		list, err := tx.Networks()
		if len(list) == 1 {
			id = list[0].ID
		}
		return err
	})
	if id == 0 {
		b.t.Fatal("there is not exactly one network")
	}
	return id
}

func (b *box) view(read func(tx *store.Tx) error) {
	b.t.Helper()
	if err := b.db.View(context.Background(), read); err != nil {
		b.t.Fatal(err)
	}
}

// configure changes the network's record as the interfaces will: stored, then
// taken into memory with the next inventory.
func (b *box) configure(change func(*motion.Network)) {
	b.t.Helper()
	id := b.network()
	err := b.db.Update(context.Background(), func(tx *store.Tx) error {
		n, err := tx.Network(id)
		if err != nil {
			return err
		}
		change(&n)
		return tx.PutNetwork(n)
	})
	if err != nil {
		b.t.Fatal(err)
	}
	if err := b.Inventory.PlaceLeaf(context.Background(), id, motion.MAC{2, 0xcc, 9, 9, 9, 9}, "Attic", ""); err != nil {
		b.t.Fatal(err)
	}
	synctest.Wait()
}

// motionEvents sets one key of guardian_config.motion_events.
func motionEvents(n *motion.Network, key string, value float64) {
	n.GuardianConfig = motion.Document{"motion_events": map[string]any{key: value}}
}

// post posts to the gatekeeper from the usual address.
func (b *box) post(p motion.Bootstrap, token string) motion.Admission {
	b.t.Helper()
	return b.postFrom(address, p, token)
}

func (b *box) postFrom(from netip.Addr, p motion.Bootstrap, token string) motion.Admission {
	b.t.Helper()
	a, err := b.Devices.Admit(context.Background(), p, motion.Credentials{Token: token, Address: from})
	if err != nil {
		b.t.Fatalf("post of %s: %v", p.Radar.DeviceID, err)
	}
	return a
}

// login logs a device in with a token; "" as the answer says why not.
func (b *box) login(id, token string) (motion.DeviceKey, error) {
	return b.Devices.Login(context.Background(), id, token)
}

// connect logs a device in and connects it.
func (b *box) connect(id, token string) motion.DeviceKey {
	b.t.Helper()
	key, err := b.login(id, token)
	if err != nil {
		b.t.Fatalf("login of %s: %v", id, err)
	}
	b.State.Connected(key, address)
	return key
}

// home admits and connects master (with its guardian) and peer, and gives the
// two leafs their places.
func (b *box) home() motion.NetworkID {
	b.t.Helper()
	a := b.post(master(), "")
	b.connect(location, a.GuardianToken)
	b.connect(masterID, a.RadarToken)
	b.connect(peerID, b.post(peer(), "").RadarToken)
	for mac, place := range map[motion.MAC]string{kitchen: "Kitchen", hallway: "Hallway"} {
		if err := b.Inventory.PlaceLeaf(context.Background(), a.Network, mac, place, ""); err != nil {
			b.t.Fatal(err)
		}
	}
	return a.Network
}

// reconnect logs the home's devices in again after a restart.
func (b *box) reconnect() {
	b.t.Helper()
	a := b.post(master(), "")
	b.connect(location, a.GuardianToken)
	b.connect(masterID, a.RadarToken)
	b.connect(peerID, b.post(peer(), "").RadarToken)
}

// watch subscribes to the live motion of a network.
func (b *box) watch(id motion.NetworkID) *sensing.Subscription {
	b.t.Helper()
	live, err := b.Sensing.Live(id)
	if err != nil {
		b.t.Fatal(err)
	}
	return live
}

// report hands in a report that must be taken.
func (b *box) report(device motion.DeviceKey, r motion.Report) {
	b.t.Helper()
	if err := b.Report(context.Background(), device, r); err != nil {
		b.t.Fatalf("report %T of %s: %v", r, device, err)
	}
}

// refuse hands in a report that must be refused for a reason of the kind.
func (b *box) refuse(device motion.DeviceKey, r motion.Report, kind fault.Kind) {
	b.t.Helper()
	if err := b.Report(context.Background(), device, r); fault.KindOf(err) != kind {
		b.t.Errorf("report %T of %s: error %v, want fault kind %d", r, device, err, kind)
	}
}

// events returns the stored events of the kinds, oldest first; when none is given, of
// all but those of devices at the gatekeeper.
func (b *box) events(kinds ...string) []motion.Event {
	b.t.Helper()
	synctest.Wait()
	var list []motion.Event
	b.view(func(tx *store.Tx) (err error) {
		list, err = tx.Events(store.EventQuery{Network: b.network(), Last: 1000, Kinds: kinds, Ascending: true})
		return err
	})
	return slices.DeleteFunc(list, func(e motion.Event) bool { return len(kinds) == 0 && slices.Contains(gatekeeperKinds, e.Event) })
}

// gatekeeperKinds are the kinds of events of devices at the gatekeeper.
var gatekeeperKinds = []string{motion.DeviceAdoptedEvent, motion.DeviceReturnedEvent, motion.DeviceReplacedEvent, motion.DeviceRefusedEvent}

// kinds returns the kinds of the stored motion events, oldest first.
func (b *box) kinds() []string {
	b.t.Helper()
	names := []string{}
	for _, e := range b.events(motion.MotionDetectedEvent, motion.MotionStoppedEvent) {
		names = append(names, e.Event)
	}
	return names
}

// drain returns what a live reader has waiting.
func drain(t *testing.T, s *sensing.Subscription) []state.Message {
	t.Helper()
	synctest.Wait()
	var list []state.Message
	for {
		m, ok, open := s.Next()
		if !open {
			t.Fatal("the subscription has ended")
		}
		if !ok {
			return list
		}
		list = append(list, m)
	}
}

// frames returns the live frames that wait.
func frames(t *testing.T, s *sensing.Subscription) []motion.LiveFrame {
	t.Helper()
	var list []motion.LiveFrame
	for _, m := range drain(t, s) {
		var f motion.LiveFrame
		if err := json.Unmarshal(m.JSON, &f); err != nil {
			t.Fatal(err)
		}
		list = append(list, f)
	}
	return list
}

// now returns the time in the bubble.
func now() motion.Time { return motion.TimeOf(time.Now()) }

// seconds is a duration of so many seconds.
func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// matrix returns one motion-matrix step of two links that ends now.
func matrix(kitchenMotion, hallwayMotion float64) *motion.Matrix {
	column := func(v ...float64) [][]float64 {
		list := make([][]float64, len(v))
		for i := range v {
			list[i] = []float64{v[i]}
		}
		return list
	}
	hallwayMSAD := 1.2
	if hallwayMotion > 0 {
		hallwayMSAD = 96.3
	}
	return &motion.Matrix{
		TS: now(), Interval: 500, Count: 1,
		Links: []string{masterName + "." + kitchen.Name(), peerName + "." + hallway.Name()},
		Values: motion.Figures{
			motion.MKAI: column(kitchenMotion, hallwayMotion), motion.LRaw: column(kitchenMotion, hallwayMotion), motion.Throughput: column(1, 1),
			motion.MSAD: column(132.7, hallwayMSAD), motion.MConf: column(84.85, 84.85),
		},
		MotionEnabled: 1,
	}
}

// send reports so many seconds of motion-matrix, two a second.
func (b *box) send(length float64, kitchenMotion, hallwayMotion float64) {
	b.t.Helper()
	for range int(2 * length) {
		time.Sleep(500 * time.Millisecond)
		b.report(guardianKey, matrix(kitchenMotion, hallwayMotion))
	}
}

// status is a full status report: the master with the kitchen leaf, the peer with
// the hallway leaf, and the mesh link between them.
func status() motion.StatusReport {
	yes := true
	link := func(mac motion.MAC, kind, host string) motion.RadarLink {
		return motion.RadarLink{MAC: mac, PeerType: kind, IfName: "home", Hostname: host, RSSI: "-59", TxBitrate: "72000000", RxBitrate: "54000000"}
	}
	m, p := master().Radar, peer().Radar
	m.LocationID, p.LocationID = location, location
	m.Links = []motion.RadarLink{link(kitchen, motion.PeerClient, "kitchen-speaker"), link(peerBH, motion.PeerMesh, "")}
	p.Links = []motion.RadarLink{link(hallway, motion.PeerClient, "hall-plug")}
	return motion.StatusReport{
		TS: now(), MotionEnabled: 1, Radars: map[string]motion.Radar{masterName: m, peerName: p},
		Leafblower: map[string]motion.Choice{
			kitchen.String(): {IsStatic: "STATIC", Sounding: &yes}, hallway.String(): {IsStatic: "STATIC", Sounding: &yes},
		},
	}
}

// points returns the stored points of a network, [value, ts] a line, null for no
// data.
func (b *box) points(from, to int64, bucket int64) string {
	b.t.Helper()
	set, err := b.State.Samples(context.Background(), b.network(), from, to)
	if err != nil {
		b.t.Fatal(err)
	}
	p, err := set.Points(intensityQuery(from, to, bucket))
	if err != nil {
		b.t.Fatal(err)
	}
	text := ""
	for i := range p.Len() {
		if value, _, ok := p.At(i); ok {
			text += fmt.Sprint(value) + " "
		} else {
			text += "null "
		}
	}
	return text
}

func intensityQuery(from, to, bucket int64) series.Query {
	return series.Query{Series: series.Network, Measure: series.Intensity, From: from, To: to, Bucket: bucket}
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		return errors.Join(err, out.Close())
	}
	return out.Close()
}
