package store_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store"
	"sensegate/store/storetest"
)

// radarKey is the device of the tests.
func radarKey() motion.DeviceKey {
	return motion.DeviceKey{Kind: motion.RadarKind, ID: "csi-a-02aa00000110"}
}

// newDevice stores a network with one adopted device.
func newDevice(t *testing.T, db *store.DB) {
	t.Helper()
	network := newNetwork(t, db, "g")
	update(t, db, func(tx *store.Tx) error {
		return tx.PutDevice(motion.Device{DeviceKey: radarKey(), NetworkID: network, AdoptedAt: 5, Address: "192.168.1.2"})
	})
}

// issue returns a new token for the device of the tests.
func issue(t *testing.T, db *store.DB) (token string) {
	t.Helper()
	update(t, db, func(tx *store.Tx) (err error) {
		token, err = tx.IssueToken(radarKey())
		return err
	})
	return token
}

func TestFormerTokenIsValidUntilTheNewOneIsUsed(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	newDevice(t, db)
	check := func(token string) error { return db.CheckToken(t.Context(), radarKey(), token) }

	first := issue(t, db)
	if len(first) < 43 {
		t.Errorf("token of %d characters, want at least 43", len(first))
	}
	wantKind(t, check("guess"), fault.Unauthorized)
	wantKind(t, check(""), fault.Unauthorized)
	if err := errors.Join(check(first), check(first)); err != nil {
		t.Fatal(err)
	}
	lost, second := issue(t, db), issue(t, db)
	wantKind(t, check(lost), fault.Unauthorized)
	if err := errors.Join(check(first), check(second), check(second)); err != nil {
		t.Fatal(err)
	}
	wantKind(t, check(first), fault.Unauthorized)
}

func TestSecretsOfDevicesAndProgramsAreStoredHashed(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	newDevice(t, db)
	secrets := map[string]string{"a device's token": issue(t, db)}
	update(t, db, func(tx *store.Tx) error {
		_, key, err := tx.CreateAPIKey(store.APIKey{Name: "laptop", Scopes: []string{"core:read"}})
		_, password, err2 := tx.CreateIntegrationUser(store.IntegrationUser{Name: "homeassistant", TopicPrefix: "homeassistant"})
		secrets["an API key"], secrets["an MQTT user's password"] = strings.TrimPrefix(key, "sg_"), password
		return errors.Join(err, err2)
	})
	for what, secret := range secrets {
		for _, found := range storetest.Scan(t, db, secret) {
			t.Errorf("%s: %s", what, found)
		}
	}
	if len(storetest.Scan(t, db, "192.168.1.2")) == 0 {
		t.Error("the device is not found either: the test sees nothing")
	}
}

// TestTokenRotation walks through random issues and uses: of all tokens ever
// issued, the one used last and the one issued last are valid, no other.
func TestTokenRotation(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	newDevice(t, db)
	rapid.Check(t, func(rt *rapid.T) {
		update(t, db, func(tx *store.Tx) error { // away with the tokens of the former walk
			return errors.Join(tx.DeleteDevice(radarKey()), tx.PutDevice(motion.Device{DeviceKey: radarKey(), NetworkID: 1}))
		})
		var issued []string
		current, next := -1, -1
		for range rapid.IntRange(1, 8).Draw(rt, "steps") {
			if len(issued) == 0 || rapid.Bool().Draw(rt, "issue") {
				next, issued = len(issued), append(issued, issue(t, db))
				continue
			}
			use := rapid.IntRange(0, len(issued)-1).Draw(rt, "use")
			err := db.CheckToken(t.Context(), radarKey(), issued[use])
			if valid := use == current || use == next; valid != (err == nil) {
				rt.Fatalf("token %d: %v, current %d, next %d", use, err, current, next)
			}
			if use == next {
				current, next = next, -1
			}
		}
	})
}

func TestTokenOfAnotherDeviceIsRefused(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	newDevice(t, db)
	token := issue(t, db)
	other := motion.DeviceKey{Kind: motion.Guardian, ID: radarKey().ID}
	wantKind(t, db.CheckToken(t.Context(), other, token), fault.Unauthorized)
	err := db.Update(t.Context(), func(tx *store.Tx) error {
		_, err := tx.IssueToken(other)
		return err
	})
	wantKind(t, err, fault.NotFound)
}

func TestRemovedDeviceLosesItsTokens(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	newDevice(t, db)
	token := issue(t, db)
	update(t, db, func(tx *store.Tx) error { return tx.DeleteDevice(radarKey()) })
	wantKind(t, db.CheckToken(t.Context(), radarKey(), token), fault.Unauthorized)
	newDevice := func(tx *store.Tx) error {
		return tx.PutDevice(motion.Device{DeviceKey: radarKey(), NetworkID: 1})
	}
	update(t, db, newDevice)
	wantKind(t, db.CheckToken(t.Context(), radarKey(), token), fault.Unauthorized)
	err := db.Update(t.Context(), func(tx *store.Tx) error {
		return errors.Join(tx.DeleteDevice(radarKey()), tx.DeleteDevice(radarKey()))
	})
	wantKind(t, err, fault.NotFound)
}

func TestTouchReachesDeviceNodeAndNetwork(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	newDevice(t, db)
	guardian := motion.DeviceKey{Kind: motion.Guardian, ID: "g"}
	update(t, db, func(tx *store.Tx) error {
		_, err := tx.PutNode(motion.Node{NetworkID: 1, Name: "A", DeviceID: radarKey().ID})
		return errors.Join(err, tx.PutDevice(motion.Device{DeviceKey: guardian, NetworkID: 1}), tx.TouchDevices([]store.Heard{
			{Key: radarKey(), At: 90, Address: "192.168.1.9"}, {Key: radarKey(), At: 80, Address: "192.168.1.8"},
			{Key: guardian, At: 70}, {Key: motion.DeviceKey{Kind: motion.RadarKind, ID: "stranger"}, At: 60},
		}))
	})
	update(t, db, func(tx *store.Tx) error {
		return tx.TouchDevices([]store.Heard{{Key: radarKey(), At: 95}, {Key: guardian, At: 1}})
	})
	view(t, db, func(tx *store.Tx) error {
		device, err1 := tx.Device(radarKey())
		want := motion.Device{DeviceKey: radarKey(), NetworkID: 1, AdoptedAt: 5, LastHeard: 95, Address: "192.168.1.9"}
		if diff := cmp.Diff(want, device); diff != "" {
			t.Error(diff)
		}
		node, err2 := tx.NodeByName(1, "A")
		network, err3 := tx.Network(1)
		all, err4 := tx.Devices()
		if node.LastHeard != 95 || network.LastHeard != 70 || len(all) != 2 {
			t.Errorf("node heard %v, network %v, %d devices, want 95, 70, 2", node.LastHeard, network.LastHeard, len(all))
		}
		return errors.Join(err1, err2, err3, err4)
	})
}

func TestWaitingListIsStoredAsAWhole(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	set := func(list ...motion.PendingDevice) {
		update(t, db, func(tx *store.Tx) error { return tx.SetPending(list) })
	}
	first := motion.PendingDevice{ID: store.NewPendingID(), DeviceID: "d", LocationID: "here", LastSeen: 1}
	second := motion.PendingDevice{ID: store.NewPendingID(), DeviceID: "d", LocationID: "there", LastSeen: 2, Approved: true}
	for _, want := range [][]motion.PendingDevice{{first}, {second, first}, {second}, {}} {
		set(want...)
		view(t, db, func(tx *store.Tx) error {
			have, err := tx.PendingDevices()
			if diff := cmp.Diff(want, have); diff != "" {
				t.Error(diff)
			}
			return err
		})
	}
	wantKind(t, db.Update(t.Context(), func(tx *store.Tx) error { return tx.SetPending([]motion.PendingDevice{{DeviceID: "d"}}) }), fault.Invalid)
}

func TestAdoptionWindowIsOfItsNetwork(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	network := newNetwork(t, db, "g")
	for _, of := range []motion.NetworkID{0, network} {
		want := motion.Time(0)
		for _, until := range []motion.Time{1764000600, 1} {
			view(t, db, func(tx *store.Tx) error {
				have, set, err := tx.AdoptionUntil(of)
				if have != want || set != (want != 0) {
					t.Errorf("network %d is open until %v, set %v, want %v", of, have, set, want)
				}
				return err
			})
			update(t, db, func(tx *store.Tx) error { return tx.SetAdoptionUntil(of, until) })
			want = until
		}
	}
	wantKind(t, db.Update(t.Context(), func(tx *store.Tx) error { return tx.SetAdoptionUntil(9, 5) }), fault.NotFound)
	update(t, db, func(tx *store.Tx) error { return tx.DeleteNetwork(network) })
	view(t, db, func(tx *store.Tx) error {
		until, set, err := tx.AdoptionUntil(network)
		if until != 0 || set {
			t.Errorf("the window outlives its network: %v", until)
		}
		return err
	})
}

func TestAPIKeyOpensUntilRevokedOrExpired(t *testing.T) {
	t.Parallel()
	now := time.Unix(1764000000, 0)
	db := storetest.Open(t, func(o *store.Options) { o.Now = func() time.Time { return now } })
	var forever, brief string
	update(t, db, func(tx *store.Tx) (err error) {
		var err2 error
		_, forever, err = tx.CreateAPIKey(store.APIKey{Name: "forever", Scopes: []string{"core"}})
		_, brief, err2 = tx.CreateAPIKey(store.APIKey{Name: "brief", ExpiresAt: 1764000060})
		return errors.Join(err, err2)
	})
	if !strings.HasPrefix(forever, "sg_") || len(forever) < 46 {
		t.Errorf("secret %q, want sg_ and at least 43 characters", forever)
	}
	check := func(secret string) error {
		_, err := db.CheckAPIKey(t.Context(), secret)
		return err
	}
	if err := errors.Join(check(forever), check(brief)); err != nil {
		t.Fatal(err)
	}
	wantKind(t, check("sg_guess"), fault.Unauthorized)
	now = now.Add(time.Minute)
	wantKind(t, check(brief), fault.Unauthorized)
	key, err := db.CheckAPIKey(t.Context(), forever)
	want := store.APIKey{ID: 1, Name: "forever", Scopes: []string{"core"}, CreatedAt: 1764000000, LastUsed: 1764000060}
	if diff := cmp.Diff(want, key); diff != "" || err != nil {
		t.Error(diff, err)
	}
	taken := db.Update(t.Context(), func(tx *store.Tx) error {
		_, _, err := tx.CreateAPIKey(store.APIKey{Name: "brief"})
		return err
	})
	wantKind(t, taken, fault.Conflict)
	update(t, db, func(tx *store.Tx) error { return tx.RevokeAPIKey(1) })
	wantKind(t, check(forever), fault.Unauthorized)
}

func TestUseOfAPIKeyIsWrittenLater(t *testing.T) {
	t.Parallel()
	options := store.Options{Path: t.TempDir() + "/sensegate.db"}
	fixedTime(&options)
	db, err := store.Open(options)
	if err != nil {
		t.Fatal(err)
	}
	var secret string
	update(t, db, func(tx *store.Tx) (err error) {
		_, secret, err = tx.CreateAPIKey(store.APIKey{Name: "k"})
		return err
	})
	if _, err := db.CheckAPIKey(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	for _, when := range []string{"noted", "stored"} {
		view(t, db, func(tx *store.Tx) error {
			keys, err := tx.APIKeys()
			if len(keys) != 1 || keys[0].LastUsed != 1764000000 {
				t.Errorf("%s: keys %+v, want one used at 1764000000", when, keys)
			}
			return err
		})
		storetest.Close(t, db)
		if db, err = store.Open(options); err != nil {
			t.Fatal(err)
		}
	}
	storetest.Close(t, db)
}

func TestIntegrationUserNeedsTopicsOfItsOwn(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	for _, prefix := range []string{"", "#", "+", "home/#", "home/+/x", "$SYS", "iot-2", "iot-2/type/guardian", "/home", " home", "home ", "home/", "home//x", "home\tx"} {
		err := db.Update(t.Context(), func(tx *store.Tx) error {
			_, _, err := tx.CreateIntegrationUser(store.IntegrationUser{Name: "home", TopicPrefix: prefix})
			return err
		})
		if fault.KindOf(err) != fault.Invalid {
			t.Errorf("%q: %v", prefix, err)
		}
	}
}

func TestIntegrationUsersShareNoTopics(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t)
	create := func(prefix string) error {
		return db.Update(t.Context(), func(tx *store.Tx) error {
			_, _, err := tx.CreateIntegrationUser(store.IntegrationUser{Name: "of " + prefix, TopicPrefix: prefix})
			return err
		})
	}
	for _, step := range []struct {
		prefix string
		want   fault.Kind
	}{
		{"espectre/v1/one", 0}, {"espectre/v1/two", 0}, {"espectre/v1/one2", 0}, {"espectre/v2", 0},
		{"espectre", fault.Conflict}, {"espectre/v1", fault.Conflict}, {"espectre/v2/one", fault.Conflict},
	} {
		if err := create(step.prefix); fault.KindOf(err) != step.want {
			t.Errorf("%q: %v, want kind %v", step.prefix, err, step.want)
		}
	}
	update(t, db, func(tx *store.Tx) error {
		_, _, err := tx.CreateIntegrationUser(store.IntegrationUser{Name: "same", TopicPrefix: "espectre/v2"})
		if fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "of espectre/v2") {
			t.Errorf("the same prefix: %v, want a conflict that names its user", err)
		}
		return nil
	})
}

func TestIntegrationUserNeedsNameAndSecret(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, fixedTime)
	var secret string
	create := func(tx *store.Tx) (err error) {
		_, secret, err = tx.CreateIntegrationUser(store.IntegrationUser{Name: "homeassistant", TopicPrefix: "homeassistant"})
		return err
	}
	update(t, db, create)
	good := secret
	wantKind(t, db.Update(t.Context(), create), fault.Conflict)
	view(t, db, func(tx *store.Tx) error {
		user, err := tx.CheckIntegrationUser("homeassistant", good)
		want := store.IntegrationUser{Name: "homeassistant", TopicPrefix: "homeassistant", CreatedAt: 1764000000}
		list, err2 := tx.IntegrationUsers()
		if user != want || len(list) != 1 || list[0] != want {
			t.Errorf("user %+v, list %+v, want %+v", user, list, want)
		}
		for name, secret := range map[string]string{"homeassistant": good + "x", "stranger": good, "": ""} {
			_, err := tx.CheckIntegrationUser(name, secret)
			wantKind(t, err, fault.Unauthorized)
		}
		return errors.Join(err, err2)
	})
	update(t, db, func(tx *store.Tx) error { return tx.DeleteIntegrationUser("homeassistant") })
	wantKind(t, db.Update(t.Context(), func(tx *store.Tx) error { return tx.DeleteIntegrationUser("homeassistant") }), fault.NotFound)
}

// TestHomeAssistantsFollowTheirEntities: and nobody else may write where these are.
func TestHomeAssistantsFollowTheirEntities(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, fixedTime)
	update(t, db, func(tx *store.Tx) error {
		_, _, err := tx.CreateIntegrationUser(store.IntegrationUser{Name: "ha", TopicPrefix: "sensegate/1a2b3c4d", Discovery: "homeassistant"})
		_, _, err2 := tx.CreateIntegrationUser(store.IntegrationUser{Name: "zb", TopicPrefix: "zigbee2mqtt"})
		return errors.Join(err, err2)
	})
	to := motion.UserTopics{Prefix: "radar/1a2b3c4d", Discovery: "homeassistant"}
	for i, want := range []int{1, 0} {
		update(t, db, func(tx *store.Tx) error {
			moved, err := tx.MoveHomeAssistants(to)
			if len(moved) != want {
				t.Errorf("time %d: moved %v", i, moved)
			}
			return err
		})
	}
	view(t, db, func(tx *store.Tx) error {
		ha, err := tx.IntegrationUser("ha")
		zb, err2 := tx.IntegrationUser("zb")
		if ha.TopicPrefix != to.Prefix || ha.Discovery != to.Discovery || zb.TopicPrefix != "zigbee2mqtt" {
			t.Errorf("%+v, %+v", ha, zb)
		}
		for prefix, want := range map[string]fault.Kind{"zigbee2mqtt/1a2b3c4d": fault.Conflict, "zigbee2mqtt": fault.Conflict, "zigbee": 0, "radar/1a2b3c4d": 0} {
			if err := tx.CheckShown(motion.UserTopics{Prefix: prefix}); fault.KindOf(err) != want {
				t.Errorf("%s: %v", prefix, err)
			}
		}
		return errors.Join(err, err2)
	})
}
