package main

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	_ "modernc.org/sqlite" // the driver

	"sensegate/motion/series/seriestest"
)

// sqliteRole stores rows in SQLite in the usual way: a table by time, network and
// series, and a log that is synced with each commit.
type sqliteRole struct {
	*homes
	db     *sql.DB
	second int64
	row    int64
}

// newSQLiteRole opens a database: directory, profile.
func newSQLiteRole(args []string) (role, error) {
	profile := seriestest.Sparse
	if len(args) > 1 {
		var err error
		if profile, err = profileOf(args[1]); err != nil {
			return nil, err
		}
	}
	db, err := sql.Open("sqlite", filepath.Join(args[0], "peer.db"))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	_, err = db.Exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
		CREATE TABLE sample (ts INTEGER, network INTEGER, series INTEGER, intensity INTEGER, density INTEGER, PRIMARY KEY (ts, network, series)) WITHOUT ROWID;
		CREATE TABLE event (id INTEGER PRIMARY KEY, body TEXT)`)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &sqliteRole{homes: newHomes(profile, networks, 2), db: db, second: startOfDays(6)}, nil
}

func (r *sqliteRole) do(what string, n int) (map[string]float64, error) {
	before, err := written(os.Getpid())
	if err != nil {
		return nil, err
	}
	for range n {
		switch what {
		case "live":
			err = r.storeMinute()
		case "event":
			r.row++
			_, err = r.db.Exec("INSERT INTO event VALUES (?, ?)", r.row, strings.Repeat("x", 400))
		default:
			err = fmt.Errorf("no such question: %s", what)
		}
		if err != nil {
			return nil, err
		}
	}
	after, err := written(os.Getpid())
	return map[string]float64{"bytes": after - before}, err
}

// storeMinute stores a minute of all homes in one transaction.
func (r *sqliteRole) storeMinute() error {
	r.minute()
	tx, err := r.db.Begin()
	if err != nil {
		return err
	}
	insert, err := tx.Prepare("INSERT INTO sample VALUES (?, ?, ?, ?, ?)")
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	for second := range flushSeconds {
		for i, frames := range r.frames {
			step := frames[second*r.rate*columnsOfHome:]
			for k := range columnsOfHome {
				intensity, density := secondOf(step[k], step[columnsOfHome+k])
				if _, err := insert.Exec(r.second, i, k, int(1000*intensity+0.5), int(100*density)); err != nil {
					return errors.Join(err, tx.Rollback())
				}
			}
		}
		r.second++
	}
	return tx.Commit()
}

func (r *sqliteRole) close() error { return r.db.Close() }
