package store

import (
	"context"
	"io"
	"sync"

	"github.com/VictoriaMetrics/metrics"

	"sensegate/motion"
	"sensegate/motion/fault"
)

// healthKey is where the meta bucket keeps a Health, without ReadOnly.
const healthKey = "health"

// Health is what has befallen the database, for who looks after the appliance.
type Health struct {
	ReadOnly     string      `json:"read_only,omitempty"`    // why nothing is stored at present; "" = it is
	UncleanStops int64       `json:"unclean_stops"`          // how often the process ended without closing the file, ever
	LastUnclean  motion.Time `json:"last_unclean,omitempty"` // when that was last noticed, seconds
	Unreadable   int         `json:"unreadable"`             // records met since the start that cannot be read and are left out of lists
	SamplesLost  int64       `json:"samples_lost"`           // seconds of networks given up since the start, because nothing could be stored for too long
	Recovery     *Recovery   `json:"recovery,omitempty"`     // the last one, nil: never
}

// health guards what Health returns.
type health struct {
	mu    sync.Mutex
	known Health
}

// lose counts seconds of a network's samples as lost; first is true for the first ones.
func (h *health) lose(seconds int64) (first bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	first = h.known.SamplesLost == 0
	h.known.SamplesLost += seconds
	return first
}

// Health returns what has befallen the database.
func (db *DB) Health() Health {
	db.health.mu.Lock()
	defer db.health.mu.Unlock()
	known := db.health.known
	known.Unreadable = db.unreadable.count()
	if err := db.Writable(); err != nil {
		known.ReadOnly = err.Error()
	}
	return known
}

// Metrics writes the health of the database in the Prometheus text format.
func (db *DB) Metrics(w io.Writer) {
	known, readOnly := db.Health(), uint64(0)
	if known.ReadOnly != "" {
		readOnly = 1
	}
	metrics.WriteGaugeUint64(w, "sensegate_store_read_only", readOnly)
	metrics.WriteGaugeUint64(w, "sensegate_store_unreadable_records", uint64(known.Unreadable))
	metrics.WriteCounterUint64(w, "sensegate_store_samples_lost_seconds_total", uint64(known.SamplesLost))
	metrics.WriteCounterUint64(w, "sensegate_store_unclean_stops_total", uint64(known.UncleanStops))
}

// noteHealth reads what is known of former runs and adds how the last one ended and
// from what the file was recovered. On a full disk it is kept in memory alone.
func (db *DB) noteHealth(wasUnclean bool, recovery *Recovery) error {
	var known Health
	err := db.View(context.Background(), func(tx *Tx) error { return tx.getMeta(healthKey, &known) })
	if err != nil {
		return err
	}
	known.SamplesLost, known.Unreadable = 0, 0 // of that run
	if wasUnclean {
		known.UncleanStops, known.LastUnclean = known.UncleanStops+1, motion.TimeOf(db.now())
		db.logger.Warn("the last run did not end in order: a power cut, a kill or a crash", "unclean_stops", known.UncleanStops)
	}
	if recovery != nil {
		known.Recovery = recovery
	}
	db.health.mu.Lock()
	db.health.known = known
	db.health.mu.Unlock()
	if !wasUnclean && recovery == nil {
		return nil
	}
	err = db.Update(context.Background(), func(tx *Tx) error { return tx.putMeta(healthKey, known) })
	if fault.KindOf(err) == fault.Unavailable {
		return nil
	}
	return err
}

// ToldRecovery notes that the networks' histories tell of the last recovery.
func (db *DB) ToldRecovery(ctx context.Context) error {
	db.health.mu.Lock()
	known := db.health.known
	if known.Recovery != nil {
		told := *known.Recovery
		told.Untold = false
		known.Recovery = &told
	}
	db.health.known = known
	db.health.mu.Unlock()
	return db.Update(ctx, func(tx *Tx) error { return tx.putMeta(healthKey, known) })
}
