package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"sensegate/broker/guard/guardtest"
	"sensegate/broker/wire"
	"sensegate/motion"
)

// syncOperations is the number of times that S5 makes each operation.
const syncOperations = 20

// operation is a request whose effect is durable when it is answered.
type operation struct {
	name string
	make func(ctx context.Context, n int) error
}

// measureSyncs runs the real binary under strace and counts the syncs of an event, a
// command and a setting (S5). The peer is a row in SQLite.
func measureSyncs(ctx context.Context, b *bench) (_ []figure, err error) {
	dir, err := b.temp("syncs")
	if err != nil {
		return nil, err
	}
	t, err := b.tracer(dir)
	if err != nil {
		return nil, err
	}
	a, err := b.serve(ctx, dir, t.line...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, a.stop()) }()
	operations, done, err := a.operations(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	peer, err := b.sqliteSyncs(ctx)
	if err != nil {
		return nil, err
	}
	var figures []figure
	for _, o := range operations {
		most := 0
		for n := range syncOperations {
			used, err := t.during(func() error { return o.make(ctx, n) })
			if err == nil && used == 0 {
				err = errors.New("answered without a sync: it was not stored")
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", o.name, err)
			}
			most = max(most, used)
		}
		figures = append(figures, figure{
			Name: "S5", What: "syncs of " + o.name + ", the most of 20", Unit: "syncs", Ours: float64(most), Reach: atMost(3),
			Peer: "SQLite (WAL), one row", Peers: peer,
		})
	}
	return figures, nil
}

// during returns the number of syncs while fn runs and in the 20 ms after it.
func (t *tracer) during(fn func() error) (int, error) {
	before, err := t.syncs()
	if err != nil {
		return 0, err
	}
	err = fn()
	time.Sleep(20 * time.Millisecond)
	after, unknown := t.syncs()
	return after - before, errors.Join(err, unknown)
}

// sqliteSyncs returns the mean number of syncs of SQLite for one row.
func (b *bench) sqliteSyncs(ctx context.Context) (_ float64, err error) {
	dir, err := b.temp("sqlite")
	if err != nil {
		return 0, err
	}
	t, err := b.tracer(dir)
	if err != nil {
		return 0, err
	}
	peer, err := b.start(ctx, t.line, "sqlite", dir)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, peer.stop()) }()
	if _, err := peer.ask("event", 1); err != nil { // creates the log
		return 0, err
	}
	used, err := t.during(func() error { _, err := peer.ask("event", syncOperations); return err })
	return float64(used) / syncOperations, err
}

// operations prepares a home and returns the operations on it; the caller calls done.
func (a *appliance) operations(ctx context.Context) (_ []operation, done func() error, err error) {
	if err := a.makeKey(ctx); err != nil {
		return nil, nil, err
	}
	guardian, radar, err := a.adopt(ctx, 0)
	if err != nil {
		return nil, nil, err
	}
	c, err := dial(a.mqtt, guardian)
	if err != nil {
		return nil, nil, err
	}
	var node motion.Node
	if err := a.call(ctx, http.MethodGet, "/core/node/find/device/"+radar.key.ID, "", &node); err != nil {
		return nil, nil, errors.Join(err, c.Close())
	}
	network := fmt.Sprintf("/core/network/%d", guardian.network)
	if err := rest(ctx, 2*time.Second); err != nil { // for work left over from the start
		return nil, nil, errors.Join(err, c.Close())
	}
	return []operation{
		{"an event of a device", func(_ context.Context, n int) error { return c.event(guardian, n) }},
		{"a command", func(ctx context.Context, n int) error {
			body := fmt.Sprintf(`{"network_id": %d, "node_id": %d, "executeNow": false, "payload": {"command": "ping", "n": "%d"}}`, guardian.network, node.ID, n)
			return a.call(ctx, http.MethodPost, "/core/manage/create", body, nil)
		}},
		{"a setting", func(ctx context.Context, n int) error {
			return a.call(ctx, http.MethodPatch, network+"/meta", fmt.Sprintf(`{"bench": "%d"}`, n), nil)
		}},
	}, func() error { return hangUp([]*client{c}) }, nil
}

// event sends an event and waits for its acknowledgement.
func (c *client) event(d device, n int) error {
	armed := 1
	report := motion.EventReport{UUID: fmt.Sprintf("00000000-0000-7000-8000-%012d", n), Event: motion.Event{
		Category: motion.CategoryMotion, Event: motion.MotionDetectedEvent, GuardianID: d.key.ID, TS: motion.TimeOf(time.Now()), Armed: &armed,
	}}
	name, format, payload, err := wire.Encode(report)
	if err != nil {
		return err
	}
	message := guardtest.Publish{Topic: wire.EventTopic(d.key, name, format), Payload: string(payload), QoS: 1, ID: uint16(n + 1)}
	if _, err := c.Write(message.Bytes()); err != nil {
		return err
	}
	_, err = c.await(0x40)
	return err
}
