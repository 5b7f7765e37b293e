package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sensegate/motion"
	"sensegate/motion/home"
	"sensegate/motion/series"
)

// TestEveryFormerSchemaIsUpgraded opens what programs with former schemas have left: testdata/v4.db to
// v7.db were written by the last commit before the next schema. All is there afterwards, and a backup
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
