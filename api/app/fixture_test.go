package app_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"sensegate/api/apitest"
	"sensegate/api/app"
	"sensegate/api/auth"
	"sensegate/api/server"
	"sensegate/motion"
	"sensegate/motion/engine"
	"sensegate/motion/home"
	rules "sensegate/motion/household"
	"sensegate/motion/integration"
	"sensegate/motion/notify"
	"sensegate/motion/sensor"
	"sensegate/store"
	"sensegate/store/storetest"
)

const (
	guardianID = "a41f00c2d97b4e5580136c2e"
	masterID   = "csi-a-02aa00000110"
)

var kitchen = motion.MAC{2, 0xbb, 0, 0, 0, 0x31}

// person is a user of the tests with a session.
type person struct {
	home.User
	token string
}

// household is a served appliance with two homes: owner and member belong to the
// first, neighbour owns the second, stranger belongs to none.
type household struct {
	*apitest.Client
	db       *store.DB
	engine   *engine.Engine
	server   *server.Server
	sessions *auth.Sessions
	accounts *auth.Accounts
	parts    app.Parts
	devices  *recordingDevices
	sensors  *cupboard

	home, other       home.ID
	network, abroad   motion.NetworkID // their Core ids
	owner, member     person
	neighbour, nobody person
}

// recordingDevices stands for the broker: it keeps what devices are sent.
type recordingDevices struct {
	mu   sync.Mutex
	sent []sentCommand
}

type sentCommand struct {
	device  motion.DeviceKey
	command string
	payload string
}

func (d *recordingDevices) Send(device motion.DeviceKey, command string, payload []byte, _ bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sent = append(d.sent, sentCommand{device, command, string(payload)})
	return nil
}

func (d *recordingDevices) Disconnect(motion.DeviceKey, string) {}
func (d *recordingDevices) DisconnectUser(string, string)       {}

// of returns what was sent as one command, oldest first.
func (d *recordingDevices) of(command string) (payloads []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range d.sent {
		if s.command == command {
			payloads = append(payloads, s.payload)
		}
	}
	return payloads
}

// document reads the interface's document once for all tests: it is large.
var document = sync.OnceValues(func() (*openapi3.T, error) { return apitest.ReadDocument(table()) })

// newClient returns a client of the interface without an address.
func newClient(t testing.TB) *apitest.Client {
	t.Helper()
	doc, err := document()
	if err != nil {
		t.Fatal(err)
	}
	return &apitest.Client{T: t, Base: table().Base, Doc: doc}
}

// newHousehold serves an appliance; change is called with its parts before they are
// put together.
func newHousehold(t testing.TB, change ...func(*store.Options, *engine.Options)) *household {
	t.Helper()
	h := &household{Client: newClient(t), devices: &recordingDevices{}, sensors: &cupboard{}}
	options := engine.Options{FirstWindow: time.Hour}
	h.db = storetest.Open(t, func(o *store.Options) {
		for _, c := range change {
			c(o, &options)
		}
	})
	var err error
	if h.engine, err = engine.New(t.Context(), h.db, options); err != nil {
		t.Fatal(err)
	}
	h.engine.Introduce(h.devices)
	apitest.Background(t, h.engine.Run)
	h.network = h.admit(guardianID, masterID, "GWA1000133", 0x10)
	h.abroad = h.admit("b52f00c2d97b4e5580136c2e", "csi-b-02aa00000210", "GWB1000201", 0x20)
	h.assemble()
	h.home, h.other = h.newHome(h.network), h.newHome(h.abroad)
	h.owner, h.member = h.person("jdoe@example.com"), h.person("mum@example.com")
	h.neighbour, h.nobody = h.person("next@example.org"), h.person("passer@example.net")
	h.join(h.owner, h.home, home.OwnerRole)
	h.join(h.member, h.home, home.MemberRole)
	h.join(h.neighbour, h.other, home.OwnerRole)
	return h
}

// loadTestToken is the configured one.
const loadTestToken = "a-load-test"

// assemble puts the interface together and serves it.
func (h *household) assemble() {
	h.T.Helper()
	h.server = apitest.NewServer(h.T)
	keys, err := auth.OpenKeyring(filepath.Join(h.T.TempDir(), "signing.json"), h.engine.State.Now(), slog.New(slog.DiscardHandler))
	if err != nil {
		h.T.Fatal(err)
	}
	h.sessions = auth.NewSessions(h.db, keys, h.server.Recheck)
	notifier, err := notify.New(h.db, notify.Options{Mail: notify.MailDefaults(), Push: notify.PushDefaults(), Base: func() string { return "http://home.example" }})
	if err != nil {
		h.T.Fatal(err)
	}
	people := rules.New(h.db, h.engine, rules.Options{Mail: notifier.Outbox.Mail, Ended: h.server.Recheck})
	h.accounts = auth.NewAccounts(h.db, h.sessions, auth.NewPasswords(auth.Argon{Memory: 7168, Passes: 1, Threads: 1}), notifier.Outbox.Mail)
	h.accounts.Step = 0 // the tests are about what is answered, and not when
	providers, err := auth.NewProviders(nil, h.T.TempDir(), h.accounts, slog.New(slog.DiscardHandler))
	if err != nil {
		h.T.Fatal(err)
	}
	h.parts = app.Parts{LoadTestToken: loadTestToken, DB: h.db, Engine: h.engine, Sessions: h.sessions, Accounts: h.accounts, Providers: providers, Household: people, Ready: h.db.Err}
	h.parts.Sensors = integration.New(h.db, h.engine, integration.Options{Providers: map[string]sensor.Provider{"zigbee2mqtt": h.sensors}})
	apitest.Background(h.T, h.parts.Sensors.Run)
	h.server.Mount(app.New(h.parts).Interface())
	h.Start(h.server)
}

// radarOf is what a master says of itself; low is the last octet of its first
// address.
func radarOf(guardian, device, name string, low byte) motion.Radar {
	return motion.Radar{
		DeviceID: device, NodeName: name, LocationID: guardian, RootMode: motion.RootModeMaster,
		APBSSID2GHz: motion.MAC{2, 0xaa, 0, 0, 1, low + 2}, APBSSID5GHz: motion.MAC{2, 0xaa, 0, 0, 1, low + 3},
		MeshBSSID: motion.MAC{2, 0xaa, 0, 0, 1, low + 4}, HWVersion: "AP-900",
		Interfaces: []motion.Interface{{Name: "eth0", Type: "ETHERNET", MAC: motion.MAC{2, 0xaa, 0, 0, 1, low}, IP: "192.168.11.1"}},
	}
}

// admit lets a master in, which forms a network, and logs its guardian in.
func (h *household) admit(guardian, device, name string, low byte) motion.NetworkID {
	h.T.Helper()
	address := netip.MustParseAddr("127.0.0.1")
	post := motion.Bootstrap{Radar: radarOf(guardian, device, name, low), LocationID: guardian}
	admission, err := h.engine.Devices.Admit(h.T.Context(), post, motion.Credentials{Address: address})
	if err != nil || admission.Network == 0 {
		h.T.Fatalf("admit %s: %+v %v", device, admission, err)
	}
	key, err := h.engine.Devices.Login(h.T.Context(), guardian, admission.GuardianToken)
	if err != nil {
		h.T.Fatal(err)
	}
	h.engine.State.Connected(key, address)
	return admission.Network
}

// report sends a report as the guardian of the first network.
func (h *household) report(r motion.Report) {
	h.T.Helper()
	if err := h.engine.Report(h.T.Context(), motion.DeviceKey{Kind: motion.Guardian, ID: guardianID}, r); err != nil {
		h.T.Fatal(err)
	}
}

// reportStatus sends a full report with one leaf, in the kitchen.
func (h *household) reportStatus() {
	h.T.Helper()
	radar := radarOf(guardianID, masterID, "GWA1000133", 0x10)
	radar.Links = []motion.RadarLink{{MAC: kitchen, PeerType: motion.PeerClient, IfName: "home-ap-24", Hostname: "kitchen-speaker", RSSI: "-59"}}
	sounding := true
	h.report(motion.StatusReport{
		TS: h.engine.State.Now(), ShardID: "local", MotionEnabled: 1, MotionTripped: new(int), Version: motion.Document{"core": "0.7.2"},
		Leafblower: map[string]motion.Choice{kitchen.String(): {IsStatic: "STATIC", Sounding: &sounding}},
		Radars:     map[string]motion.Radar{"GWA1000133": radar},
	})
	if err := h.engine.Inventory.PlaceLeaf(h.T.Context(), h.network, kitchen, "Kitchen", "Kitchen speaker"); err != nil {
		h.T.Fatal(err)
	}
}

// update changes the database and fails the test when it cannot.
func (h *household) update(change func(*store.Tx) error) {
	h.T.Helper()
	if err := h.db.Update(h.T.Context(), change); err != nil {
		h.T.Fatal(err)
	}
}

// newHome makes the home of a network, claimed an hour ago.
func (h *household) newHome(network motion.NetworkID) (id home.ID) {
	h.T.Helper()
	h.update(func(tx *store.Tx) error {
		made, err := tx.CreateHome(home.Home{ExternalID: network, Name: "Home", Scene: home.AtHome, LiveEnabled: true, ClaimedAt: tx.Now().Add(-3600), OwnedBefore: true})
		id = made.ID
		return err
	})
	return id
}

// person makes a confirmed user, whose address the administrator knows, with a session.
func (h *household) person(email string) (p person) {
	h.T.Helper()
	name, _, _ := strings.Cut(email, "@")
	h.update(func(tx *store.Tx) (err error) {
		now := tx.Now().Stamp()
		p.User, err = tx.CreateUser(home.User{Email: email, Username: name, FirstName: name, LastName: "Doe", Sub: "sub-" + email, ConfirmedAt: &now})
		if err != nil {
			return err
		}
		return tx.SetAddressProof(p.ID, store.AddressProof{Vouched: true})
	})
	tokens, err := h.sessions.Start(h.T.Context(), p.ID, true)
	if err != nil {
		h.T.Fatal(err)
	}
	p.token = tokens.Token
	return p
}

// join makes a person a member of a home.
func (h *household) join(p person, in home.ID, role home.Role) {
	h.T.Helper()
	h.update(func(tx *store.Tx) error {
		_, err := tx.CreateMembership(home.Membership{Role: role, User: p.ID, Home: in})
		return err
	})
}

// as calls an operation as a person; the zero person shows no token.
func (h *household) as(p person, method, path, body string) apitest.Answer {
	h.T.Helper()
	return h.As(p.token, method, path, body)
}

// step is a rung of the ladder that each operation is climbed by.
type step struct {
	name   string
	who    person
	path   string
	body   string
	status int
	says   string // part of the answer
}

// climb makes each call and wants its status.
func (h *household) climb(method string, steps ...step) {
	h.T.Helper()
	for _, s := range steps {
		a := h.as(s.who, method, s.path, s.body)
		if a.Status != s.status || !strings.Contains(string(a.Body), s.says) {
			h.T.Errorf("%s %s, %s: %d %s, want %d with %q", method, s.path, s.name, a.Status, a.Body, s.status, s.says)
		}
	}
}

func TestFixtureStands(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	if a := h.as(person{}, http.MethodGet, "/version", ""); a.Status != http.StatusOK {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	for _, p := range []person{h.owner, h.member, h.neighbour, h.nobody} {
		if _, err := h.sessions.Check(t.Context(), p.token, netip.Addr{}); err != nil {
			t.Errorf("%s: %v", p.Email, err)
		}
	}
	if fmt.Sprint(h.home) == fmt.Sprint(h.other) {
		t.Error("one home")
	}
}
