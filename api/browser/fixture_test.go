package browser_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sensegate/api/apitest"
	"sensegate/api/app"
	"sensegate/api/auth"
	boxes "sensegate/api/box"
	"sensegate/api/box/recording"
	"sensegate/api/box/staging"
	"sensegate/api/browser"
	"sensegate/api/caller"
	"sensegate/api/logtail"
	"sensegate/api/server"
	"sensegate/motion"
	"sensegate/motion/engine"
	"sensegate/motion/home"
	"sensegate/motion/household"
	"sensegate/motion/integration"
	"sensegate/motion/notify"
	"sensegate/motion/sensor"
	"sensegate/motion/sensor/zigbee2mqtt"
	"sensegate/motion/uplink"
	"sensegate/store"
	"sensegate/store/storetest"
)

const password = "correct horse battery"

// box is a served appliance with two homes: owner and member belong to the first, neighbour
// owns the second, nobody belongs to none.
type box struct {
	*apitest.Client
	db       *store.DB
	engine   *engine.Engine
	sessions *auth.Sessions
	people   *household.Household
	app      *apitest.Client
	recent   *logtail.Tail
	secured  boxes.Secure
	guest    browser.Guest
	play     browser.Play
	restarts atomic.Int32
	records  *recording.Recorder
	boxes    *boxes.Box
	admin    string // from where administrators may look after it
	sensors  *integration.Service
	uplinks  *uplink.Set

	home, other                      home.ID
	network                          motion.NetworkID
	tokens                           map[string]string // of guardians
	fading                           float64           // dB, of what hear reports
	owner, member, neighbour, nobody *tab
	keeper                           *tab // the administrator, who belongs to no home

}

// tab is a browser's tab of a user.
type tab struct {
	home.User
	box           *box
	cookie        *http.Cookie
	proof, origin string
}

func newBox(t *testing.T) *box { return newBoxAt(t, time.Now) }

// newBoxAt is newBox on a clock.
func newBoxAt(t *testing.T, now func() time.Time) *box {
	t.Helper()
	db := storetest.Open(t, func(o *store.Options) { o.Now = now })
	b := &box{Client: &apitest.Client{T: t, Base: table().Base, Doc: apitest.Document(t, table())}, db: db, tokens: map[string]string{}, admin: caller.AdminPrivate}
	b.recent = logtail.New(slog.NewTextHandler(io.Discard, &slog.HandlerOptions{Level: slog.LevelDebug}), nil)
	b.app = &apitest.Client{T: t, Base: "/api/v1", Doc: apitest.Document(t, app.New(app.Parts{}).Interface())}
	var err error
	if b.engine, err = engine.New(t.Context(), b.db, engine.Options{FirstWindow: time.Hour, Now: now}); err != nil {
		t.Fatal(err)
	}
	b.engine.Introduce(noDevices{})
	apitest.Background(t, b.engine.Run)
	s := apitest.NewServer(t)
	b.assemble(s)
	var abroad motion.NetworkID
	b.network, abroad = b.admit("a41f00c2d97b4e5580136c2e", "csi-a-02aa00000110", 0x10), b.admit("b52f00c2d97b4e5580136c2e", "csi-b-02aa00000210", 0x20)
	b.home, b.other = b.newHome(b.network), b.newHome(abroad)
	b.Start(s)
	b.app.Address = b.Address
	b.owner, b.member = b.person("jdoe@example.com", b.home, home.OwnerRole), b.person("mum@example.com", b.home, home.MemberRole)
	b.neighbour, b.nobody = b.person("next@example.org", b.other, home.OwnerRole), b.person("passer@example.net", 0, "")
	b.keeper = b.person("keeper@example.net", 0, "")
	b.update(func(tx *store.Tx) error { return tx.SetAdministrator(b.keeper.ID, true) })
	return b
}

// assemble mounts both interfaces of the household.
func (b *box) assemble(s *server.Server) {
	b.T.Helper()
	quiet := slog.New(slog.DiscardHandler)
	keys, err := auth.OpenKeyring(filepath.Join(b.T.TempDir(), "signing.json"), b.engine.State.Now(), quiet)
	if err != nil {
		b.T.Fatal(err)
	}
	bridge := zigbee2mqtt.Defaults()
	bridge.Network = 1 // of the first home
	b.sensors = integration.New(b.db, b.engine, integration.Options{Providers: map[string]sensor.Provider{zigbee2mqtt.Name: zigbee2mqtt.New(bridge, noBroker{}, quiet)}})
	b.sessions = auth.NewSessions(b.db, keys, s.Recheck)
	notifier, err := notify.New(b.db, notify.Options{Mail: notify.MailDefaults(), Push: notify.PushDefaults(), Base: func() string { return "http://home.example" }})
	if err != nil {
		b.T.Fatal(err)
	}
	b.people = household.New(b.db, b.engine, household.Options{Mail: notifier.Outbox.Mail, Ended: s.Recheck})
	accounts := auth.NewAccounts(b.db, b.sessions, auth.NewPasswords(auth.Argon{Memory: 7168, Passes: 1, Threads: 1}), notifier.Outbox.Mail)
	s.Mount(browser.New(browser.Parts{DB: b.db, Engine: b.engine, Sessions: b.sessions, Accounts: accounts, Household: b.people, Sensors: b.sensors, Version: "1.4.0", Admin: b.admin, Box: b.administered(s, accounts), Guest: &b.guest, Play: &b.play,
		Address: func() string { return "http://192.168.1.20:8080" }, Broker: func() string { return "mqtt://192.168.1.20:1883" }}).Interface())
	s.Mount(app.New(app.Parts{DB: b.db, Engine: b.engine, Sessions: b.sessions, Accounts: accounts, Household: b.people, Ready: b.db.Err}).Interface())
	s.Mount(b.probe())
	for _, address := range []string{"jdoe@example.com", "mum@example.com", "next@example.org", "passer@example.net", "robin@example.org", "keeper@example.net"} {
		name, _, _ := strings.Cut(address, "@")
		if _, err := accounts.Create(b.T.Context(), auth.Registration{Email: address, Password: password, FirstName: name}); err != nil {
			b.T.Fatal(err)
		}
	}
}

// otherNodes are a door of nodes of other makers at which some came.
type otherNodes struct{ boxes.Nodes }

func (otherNodes) Figures() []motion.IntakeFigures {
	return []motion.IntakeFigures{{Kind: motion.RuView, At: "udp :5005", State: "in use", Arrived: 184_321, Frames: 170_123, Other: 42, Wrong: 3, Foreign: 4, Limited: 5}}
}

// administered is what the rows for administrators stand on.
func (b *box) administered(s *server.Server, accounts *auth.Accounts) *boxes.Box {
	reach := func() boxes.Reach {
		return boxes.Reach{Port: 8080, Addresses: []string{"192.168.1.20"}, Nameless: "mdns is off"}
	}
	b.boxes = boxes.New(boxes.Parts{
		Engine: b.engine, DB: b.db, Accounts: accounts, Household: b.people, Staging: b.staged(), Recorder: b.recorder(), Ready: b.db.Err, Authority: func() string { return "" },
		Core: func() string { return "http://127.0.0.1:8080/core" }, Reach: reach, Revoked: s.Recheck, MinFree: 64 << 20, Log: slog.New(slog.DiscardHandler),
		Configured: configured, Recent: b.recent, Secured: func() boxes.Secure { return b.secured }, Probe: probed, Nodes: otherNodes{}, Uplinks: b.openUplinks(),
	})
	return b.boxes
}

// uplinks lead to brokers that let nobody in.
func (b *box) openUplinks() *uplink.Set {
	b.T.Helper()
	var err error
	b.uplinks, err = uplink.New(b.T.Context(), uplink.Options{DB: b.db, Log: slog.New(slog.DiscardHandler), Connect: func(_ context.Context, to uplink.Target) (uplink.Connection, error) {
		return nil, &uplink.Failure{Code: "password", Step: uplink.Login, Text: "the broker at " + to.URL.Host + " refuses this user name and password: check both"}
	}})
	if err != nil {
		b.T.Fatal(err)
	}
	return b.uplinks
}

// staged keeps uploaded backups; what is applied is noted alone.
func (b *box) staged() *staging.Staging {
	s := staging.New(staging.Options{DB: b.db, Directory: staging.Directory(b.T.TempDir())})
	s.Restartable(func() error { return nil }, func() { b.restarts.Add(1) })
	return s
}

// recorder records what the engine senses from.
func (b *box) recorder() *recording.Recorder {
	b.records = recording.New(recording.Options{Directory: recording.Directory(b.T.TempDir()), Listen: func(take recording.Take) { b.engine.Sensing.Record(take) }, Now: b.engine.State.Now})
	apitest.Background(b.T, b.records.Run)
	return b.records
}

// admit lets a master in, which forms a network.
func (b *box) admit(guardian, device string, low byte) motion.NetworkID {
	b.T.Helper()
	radar := motion.Radar{
		DeviceID: device, NodeName: "GWA" + device[len(device)-4:], LocationID: guardian, RootMode: motion.RootModeMaster,
		APBSSID2GHz: motion.MAC{2, 0xaa, 0, 0, 1, low + 2}, APBSSID5GHz: motion.MAC{2, 0xaa, 0, 0, 1, low + 3},
	}
	post := motion.Bootstrap{Radar: radar, LocationID: guardian}
	admission, err := b.engine.Devices.Admit(b.T.Context(), post, motion.Credentials{Address: netip.MustParseAddr("127.0.0.1")})
	if err != nil || admission.Network == 0 {
		b.T.Fatalf("admit %s: %+v %v", device, admission, err)
	}
	b.tokens[guardian] = admission.GuardianToken
	return admission.Network
}

func (b *box) update(change func(*store.Tx) error) {
	b.T.Helper()
	if err := b.db.Update(b.T.Context(), change); err != nil {
		b.T.Fatal(err)
	}
}

// newHome makes the home of a network, claimed an hour ago.
func (b *box) newHome(network motion.NetworkID) (id home.ID) {
	b.T.Helper()
	b.update(func(tx *store.Tx) error {
		made, err := tx.CreateHome(home.Home{ExternalID: network, Name: "Home", Scene: home.AtHome, LiveEnabled: true, ClaimedAt: tx.Now().Add(-3600), OwnedBefore: true})
		id = made.ID
		return err
	})
	return id
}

// person makes somebody a member of a home, 0 of none, and signs them in.
func (b *box) person(address string, in home.ID, role home.Role) *tab {
	b.T.Helper()
	p := &tab{box: b}
	b.update(func(tx *store.Tx) (err error) {
		p.User, _, err = tx.UserByEmail(address)
		if err == nil && in != 0 {
			_, err = tx.CreateMembership(home.Membership{Role: role, User: p.ID, Home: in})
		}
		return err
	})
	p.signIn()
	return p
}

// installer lets somebody in as an installer of the first home, for a week, and signs them in.
func (b *box) installer(address string) *tab {
	b.T.Helper()
	p := b.person(address, 0, "")
	b.update(func(tx *store.Tx) error {
		house, err := tx.Home(b.home)
		if err != nil {
			return err
		}
		since := tx.Now()
		return errors.Join(house.AddInstaller(home.Installer{User: p.ID, By: b.owner.ID, Since: since, Until: since.Add(7 * 24 * 3600)}), tx.PutHome(house))
	})
	return p
}

// signIn signs in as the page does.
func (p *tab) signIn() {
	p.box.T.Helper()
	a := p.box.As("", http.MethodPost, "/session", `{"email":"`+p.Email+`","password":"`+password+`"}`)
	cookies := (&http.Response{Header: a.Header}).Cookies()
	var body struct{ Proof string }
	if err := json.Unmarshal(a.Body, &body); err != nil || a.Status != http.StatusOK || len(cookies) != 1 {
		p.box.T.Fatalf("sign in: %d %s %v", a.Status, a.Body, cookies)
	}
	p.cookie, p.proof = cookies[0], body.Proof
}

// request makes a request with what the tab has.
func (p *tab) request(c *apitest.Client, method, path, body string) *http.Request {
	c.T.Helper()
	r, err := http.NewRequestWithContext(c.T.Context(), method, "http://"+c.Address+c.Base+path, strings.NewReader(body))
	if err != nil {
		c.T.Fatal(err)
	}
	if p.cookie != nil {
		r.AddCookie(p.cookie)
	}
	if p.proof != "" {
		r.Header.Set("X-Sensegate", p.proof)
	}
	if p.origin != "" {
		r.Header.Set("Origin", p.origin)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	return r
}

// ask calls an operation of the web app's interface.
func (p *tab) ask(method, path, body string) apitest.Answer {
	p.box.T.Helper()
	return p.box.Do(p.request(p.box.Client, method, path, body))
}

// askApp calls an operation of the App interface.
func (p *tab) askApp(method, path, body string) apitest.Answer {
	p.box.T.Helper()
	return p.box.app.Do(p.request(p.box.app, method, path, body))
}
