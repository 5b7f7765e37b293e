package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sensegate/motion"
	"sensegate/motion/home"
	"sensegate/motion/series"
)

// TestEveryFormerSchemaIsUpgraded opens what programs with former schemas have left: testdata/v4.db to
// v8.db were written by the last commit before the next schema. All is there afterwards, and a backup
// from before.
func TestEveryFormerSchemaIsUpgraded(t *testing.T) {
	t.Parallel()
	for schema := 4; schema < migrations()[len(migrations())-1].version; schema++ { // 3 was never released, 1 and 2 have tests of their own
		t.Run(fmt.Sprint("schema ", schema), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(fmt.Sprintf("testdata/v%d.db", schema))
			if err != nil {
				t.Fatalf("a schema without what its program has left: %v", err)
			}
			options := testOptions(filepath.Join(t.TempDir(), "sensegate.db"))
			if err := os.WriteFile(options.Path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			db, err := Open(options)
			if err != nil {
				t.Fatal(err)
			}
			var network motion.NetworkID
			err = db.View(t.Context(), func(tx *Tx) error {
				n, err := tx.NetworkByGuardian("a41f00c2d97b4e5580136c2e")
				if err != nil {
					return err
				}
				list, err := tx.Events(EventQuery{Network: n.ID, Ascending: true})
				if err != nil || len(list) != 2 || list[0].TS != 1764000000.5 {
					t.Errorf("events %+v", list)
				}
				h, _, err2 := tx.HomeOfNetwork(n.ID)
				members, err3 := tx.MembershipsOfHome(h.ID)
				if h.Name != "Home" || len(members) != 1 || members[0].Role != home.OwnerRole {
					t.Errorf("home %+v, members %+v", h, members)
				}
				network = n.ID
				keys, err4 := tx.APIKeys()
				if len(keys) != 1 || n.Meta.Text("guardian_env") != "local" {
					t.Errorf("keys %+v, network %+v", keys, n)
				}
				return errors.Join(err, err2, err3, err4)
			})
			if schema > 6 {
				thousandthsAreThere(t, db, network)
			}
			if schema > 7 {
				blocksGoOn(t, db)
			}
			if err := errors.Join(err, db.Check(context.Background()), db.Close()); err != nil {
				t.Fatal(err)
			}
			made, err := Backups(options.Path)
			if err != nil || len(made) == 0 || !strings.Contains(made[len(made)-1].Path, fmt.Sprintf("-schema%d.backup", schema)) {
				t.Errorf("backups %+v, %v", made, err)
			}
		})
	}
}

// thousandthsAreThere checks the samples of v7.db, in which seconds, sums and a journal hold intensities below
// 0.2 in thousandths.
func thousandthsAreThere(t *testing.T, db *DB, network motion.NetworkID) {
	t.Helper()
	samples, err := OpenSamples(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[series.Query]string{
		{From: 1764000000, To: 1764000005, Bucket: 1}: "[[0.034,1764000000],[0.047,1764000001],[0.013,1764000002],[0.352,1764000003],[0,1764000004]]",
		{From: 1764004195, To: 1764004200, Bucket: 1}: "[[0.034,1764004195],[0.047,1764004196],[0.013,1764004197],[0.352,1764004198],[0,1764004199]]",
		{From: 1764000000, To: 1764000010, Bucket: 5}: "[[0.352,1764000000],[0.352,1764000005]]",
	} {
		set, err := samples.Set(t.Context(), network, at.From, at.To, at.Bucket)
		if err != nil {
			t.Fatal(err)
		}
		if got, _, err := set.AppendJSON(nil, series.Query{Measure: series.Intensity, From: at.From, To: at.To, Bucket: at.Bucket}); err != nil || string(got) != want {
			t.Errorf("%+v: %s, %v", at, got, err)
		}
	}
}

// formerValue returns the intensity that networks 2 and 3 of v8.db have in a second from 1764010800 to 1764015300,
// the last 900 of which are in its journal.
func formerValue(network motion.NetworkID, second int64) float64 {
	switch {
	case second/600%5 == 4:
		return float64(200+(second*37+int64(network)*11)%700) / 1000
	case second%(3+int64(network)) == 0:
		return float64(1+second%7) / 100
	}
	return 0.04
}

// blocksGoOn adds to the blocks that v8.db holds of several networks, each in a value of its own: what is
// late, what follows, and a network. All is there, and is when one network has been deleted.
func blocksGoOn(t *testing.T, db *DB) {
	t.Helper()
	const first, end, late = 1764010800, 1764010800 + 4500, 1764010800 + 700
	db.now = func() time.Time { return time.Unix(end+1800, 0) }
	samples, err := OpenSamples(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	flush := func(change func(*Tx) error) {
		t.Helper()
		if err := db.Update(t.Context(), func(tx *Tx) error { return errors.Join(change(tx), samples.Flush(tx)) }); err != nil {
			t.Fatal(err)
		}
	}
	flush(func(tx *Tx) error {
		_, err := tx.CreateNetwork(motion.Network{GuardianID: "a41f00c2d97b4e5580136c31"})
		return err
	})
	kitchen := series.Link("kitchen")
	for _, network := range []motion.NetworkID{2, 3, 4} {
		for second := int64(end); second < end+900; second++ {
			samples.Add(network, motion.Time(second), []Value{{ID: series.Network, Value: formerValue(network, second)}})
		}
		samples.Add(network, late, []Value{{ID: kitchen, Value: 0.5}})
	}
	flush(func(*Tx) error { return nil })
	isThere := func(network motion.NetworkID, from int64) {
		t.Helper()
		set, err := samples.Set(t.Context(), network, first, end+900, 1)
		if err != nil {
			t.Fatal(err)
		}
		text, _, err := set.AppendJSON(nil, series.Query{Measure: series.Intensity, From: from, To: end + 900, Bucket: 1})
		var points [][2]float64
		if err := errors.Join(err, json.Unmarshal(text, &points)); err != nil || int64(len(points)) != end+900-from {
			t.Fatalf("network %d: %d seconds, %v", network, len(points), err)
		}
		for i, p := range points {
			if want := formerValue(network, from+int64(i)); math.Abs(p[0]-want) > 1e-9 {
				t.Fatalf("network %d has %v at second %v, want %v", network, p[0], p[1], want)
			}
		}
		query := series.Query{Series: kitchen, Measure: series.Intensity, From: late, To: late + 2, Bucket: 1}
		if text, _, err = set.AppendJSON(nil, query); string(text) != "[[0.5,1764011500],[null,1764011501]]" || err != nil {
			t.Errorf("network %d: what came late is %s, %v", network, text, err)
		}
	}
	isThere(2, first)
	isThere(3, first)
	isThere(4, end)
	flush(func(tx *Tx) error { return tx.DeleteNetwork(3) })
	if err := db.Wipe(t.Context()); err != nil {
		t.Fatal(err)
	}
	isThere(2, first)
	isThere(4, end)
	if set, err := samples.Set(t.Context(), 3, first, end+900, 1); err != nil || len(set.Series()) > 0 {
		t.Errorf("network 3 was deleted and has series: %v", err)
	}
}
