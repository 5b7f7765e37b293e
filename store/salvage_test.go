package store_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sensegate/motion"
	"sensegate/motion/home"
	"sensegate/motion/series"
	"sensegate/store"
	"sensegate/store/storetest"
)

var (
	corruptions = flag.Int("corruptions", 40, "how many damaged databases are opened")
	corruptSeed = flag.Uint64("corruptions-seed", 1, "the same seed damages the same bytes")
)

// life is the content of a database of some homes, of an earlier backup of it, and what they
// hold.
type life struct {
	data, backup []byte
	want, before map[string]string // records by bucket and key, now and in the backup
	removed      map[string]bool   // records that let somebody in, removed since the backup
}

const lifeStart = 1763990000 // a second

// liveOn fills a database, backs it up, and goes on: people, keys, sessions and devices come
// and go, and events and samples are added.
func liveOn(t testing.TB) *life {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sensegate.db")
	o := store.TestOptions(path)
	now := time.Unix(lifeStart, 0)
	o.Now = func() time.Time { return now }
	db, err := store.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	samples, err := store.OpenSamples(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	l := &life{removed: map[string]bool{}}
	pass := func(minutes int) {
		for range minutes {
			for second := range 60 {
				samples.Add(1, motion.TimeOf(now.Add(time.Duration(second)*time.Second)), []store.Value{{ID: series.Network, Value: 0.3}})
			}
			now = now.Add(time.Minute)
			if err := db.Update(t.Context(), samples.Flush); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := db.Update(t.Context(), moveIn); err != nil {
		t.Fatal(err)
	}
	pass(90)
	made, err := db.Backup(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	l.before = store.Records(t, db)
	if err := db.Update(t.Context(), moveOut); err != nil {
		t.Fatal(err)
	}
	pass(45)
	l.want = store.Records(t, db)
	for key := range l.before {
		bucket, _, _ := strings.Cut(key, "/")
		switch bucket {
		case "memberships", "api_keys", "sessions", "devices", "device_tokens", "integration_users":
			if l.want[key] == "" {
				l.removed[key] = true
			}
		}
	}
	if len(l.removed) < 15 {
		t.Fatalf("only %d records were removed", len(l.removed))
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if l.backup, err = os.ReadFile(made.Path); err != nil {
		t.Fatal(err)
	}
	l.data = store.UsedPages(t, path)
	return l
}

// moveIn furnishes some networks with nodes, devices, people, keys and a history.
func moveIn(tx *store.Tx) error {
	for i := range 4 {
		n, err := tx.CreateNetwork(motion.Network{GuardianID: fmt.Sprint("guardian-", i)})
		if err != nil {
			return err
		}
		h, err := tx.CreateHome(home.New(n.ID))
		if err != nil {
			return err
		}
		for j := range 8 {
			if err := moveInOne(tx, n.ID, h.ID, i, j); err != nil {
				return err
			}
		}
		for j := range 150 {
			event := motion.Event{NetworkID: n.ID, Category: motion.CategoryMotion, Event: motion.MotionDetectedEvent, TS: motion.Time(lifeStart - 9000 + j)}
			if _, _, err := tx.AddEvent(event, fmt.Sprint(j)); err != nil {
				return err
			}
		}
	}
	return nil
}

// moveInOne adds a node with a device, a leaf, a person with a session and a key.
func moveInOne(tx *store.Tx, network motion.NetworkID, h home.ID, i, j int) error {
	name := fmt.Sprintf("%d-%d", i, j)
	node, err := tx.PutNode(motion.Node{NetworkID: network, Name: fmt.Sprint("GWA", j), DeviceID: "csi-" + name})
	if err != nil {
		return err
	}
	key := motion.DeviceKey{Kind: motion.RadarKind, ID: node.DeviceID}
	if err := tx.PutDevice(motion.Device{DeviceKey: key, NetworkID: network, NodeID: node.ID}); err != nil {
		return err
	}
	_, tokenErr := tx.IssueToken(key)
	_, leafErr := tx.PutLeaf(motion.Leaf{NetworkID: network, NodeID: node.ID, MAC: motion.MAC{2, 0, 0, 0, byte(i), byte(j)}, FriendlyName: "Kitchen speaker"})
	_, _, keyErr := tx.CreateAPIKey(store.APIKey{Name: name, NetworkID: network})
	_, _, mqttErr := tx.CreateIntegrationUser(store.IntegrationUser{Name: name, TopicPrefix: "home" + name})
	user, err := tx.CreateUser(home.User{Email: name + "@example.com", Sub: "sub-" + name})
	if err := errors.Join(tokenErr, leafErr, keyErr, mqttErr, err); err != nil {
		return err
	}
	role := home.MemberRole
	if j == 0 {
		role = home.OwnerRole
	}
	if _, err := tx.CreateMembership(home.Membership{Home: h, User: user.ID, Role: role}); err != nil {
		return err
	}
	_, err = tx.PutSession(store.Session{ID: "session-" + name, User: user.ID, Refresh: name, CreatedAt: tx.Now(), ExpiresAt: tx.Now().Add(1e6)})
	return err
}

// moveOut removes some members, keys, sessions and devices of each network, and adds others
// and a history.
func moveOut(tx *store.Tx) error {
	for i := range 4 {
		for j := 2; j < 8; j += 3 {
			name, number := fmt.Sprintf("%d-%d", i, j), i*8+j+1
			err := errors.Join(tx.RevokeAPIKey(uint32(number)), tx.DeleteMembership(home.MembershipID(number)), tx.EndSession("session-"+name), tx.DeleteDevice(motion.DeviceKey{Kind: motion.RadarKind, ID: "csi-" + name}), tx.DeleteIntegrationUser(name))
			if err != nil {
				return err
			}
		}
		if err := moveInOne(tx, motion.NetworkID(i+1), home.ID(i+1), i, 9); err != nil {
			return err
		}
		for j := range 50 {
			event := motion.Event{NetworkID: motion.NetworkID(i + 1), Category: motion.CategoryMotion, Event: motion.MotionStoppedEvent, TS: motion.Time(lifeStart + j)}
			if _, _, err := tx.AddEvent(event, fmt.Sprint("later", j)); err != nil {
				return err
			}
		}
	}
	return nil
}

// TestWhatCanBeReadIsSalvaged damages a database at rest in many ways, with a backup and
// without. Each time it opens with true records only, and nobody who was removed is back,
// or, without a backup, says how to begin anew; and the next start finds nothing to do.
func TestWhatCanBeReadIsSalvaged(t *testing.T) {
	t.Parallel()
	l := liveOn(t)
	random := rand.New(rand.NewPCG(*corruptSeed, 7))
	count := map[string]int{}
	for round := range *corruptions {
		data, how := storetest.Corrupt(l.data, random)
		for _, backup := range [][]byte{l.backup, nil} {
			name := fmt.Sprintf("round %d, backup %v: %s", round, backup != nil, how)
			path := store.At(t, data, backup)
			outcome := l.recover(t, name, path, backup != nil)
			count[fmt.Sprintf("%v, backup %v", outcome, backup != nil)]++
		}
	}
	t.Logf("-corruptions %d -corruptions-seed %d: %v", *corruptions, *corruptSeed, count)
}

// recover opens a damaged database and returns how that ended.
func (l *life) recover(t *testing.T, name, path string, backup bool) (outcome string) {
	t.Helper()
	var log bytes.Buffer
	o := store.TestOptions(path)
	o.Logger = slog.New(slog.NewTextHandler(&log, nil))
	db, recovery, err := store.OpenOrRecover(t.Context(), o)
	if err != nil {
		if backup || !strings.Contains(err.Error(), "to begin anew on purpose") {
			t.Errorf("%s: %v\n%s", name, err, log.String())
		}
		return "refused"
	}
	whole := recovery != nil && recovery.Whole()
	outcome = "served as it is"
	switch {
	case whole:
		outcome = "the backup as a whole"
	case recovery != nil && recovery.Restored != "":
		outcome = "salvaged, with the backup"
	case recovery != nil && recovery.Aside != "" && recovery.Lost != "":
		outcome = "salvaged"
	case recovery != nil && recovery.Aside != "":
		outcome = "salvaged, nothing lost"
	case recovery != nil:
		outcome = "some records dropped"
	}
	got := store.Records(t, db)
	missing := 0
	for key, value := range l.want {
		if got[key] == "" && value != "" {
			missing++
		}
	}
	for key, value := range got {
		l.check(t, name, key, value, recovery)
	}
	if missing > 0 && db.Health().Unreadable == 0 && (recovery == nil || recovery.Lost == "" && recovery.Backup == "") {
		t.Errorf("%s: %d records are missing, and nobody is told: %+v\n%s", name, missing, recovery, log.String())
	}
	if err := db.Close(); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	db, again, err := store.OpenOrRecover(t.Context(), o)
	if err != nil || again != nil {
		t.Errorf("%s: the next start: %+v, %v", name, again, err)
		return outcome
	}
	if _, err := db.Backup(t.Context()); err != nil {
		t.Errorf("%s: backed up: %v", name, err)
	}
	if err := db.Close(); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	for _, left := range store.Leftovers(path) {
		if _, err := os.Stat(left); err == nil {
			t.Errorf("%s: %s is left", name, left)
		}
	}
	return outcome
}

// check fails when a record that is served is neither what was written last nor, where it
// could not be read, what the backup has, or was removed.
func (l *life) check(t *testing.T, name, key, value string, recovery *store.Recovery) {
	t.Helper()
	whole := recovery != nil && recovery.Whole()
	bucket, encoded, _ := strings.Cut(key, "/")
	switch {
	case l.removed[key] && !whole && !(bucket == "devices" && strings.Contains(recovery.Restored, " devices")):
		t.Errorf("%s: %s, which was removed, is back: %+v", name, key, recovery)
	case value == l.want[key], value == l.before[key] && recovery != nil && recovery.Backup != "":
	case bucket == "adoption_windows", bucket == "homes" && recovery != nil && recovery.Backup != "":
	case strings.HasPrefix(bucket, "samples_"), strings.Contains(bucket, "_by_"): // their own checksums, and none
	default:
		var id []byte
		if _, err := fmt.Sscanf(encoded, "%x", &id); err != nil {
			t.Fatal(err)
		}
		if store.Verified(id, []byte(value)) {
			t.Errorf("%s: %s is %q, want %q", name, key, value, l.want[key])
		}
	}
}
