package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"
	"github.com/prometheus/tsdb"
	"github.com/prometheus/tsdb/labels"
)

// A consumer commits this many messages at once, or what it has when none came for a
// moment.
const (
	consumerBatch = 500
	consumerPause = 10 * time.Millisecond
)

// consumed is a motion-matrix as a program that reads it from a broker declares it.
type consumed struct {
	TS            float64  `json:"ts"`
	Links         []string `json:"links"`
	Interval      int      `json:"interval"`
	Count         int      `json:"count"`
	MotionTripped int      `json:"motion_tripped"`
	LastMotion    float64  `json:"last_motion"`
	MotionEnabled int      `json:"motion_enabled"`
	Data          struct {
		LRaw [][]float64 `json:"lraw"`
		MKAI [][]float64 `json:"mkai"`
	} `json:"data"`
	Loc []string `json:"loc"`
}

// consumerRole is what a user would put behind a broker: a subscriber with a library for
// MQTT and one for JSON, and a time-series database for the values of each link. It keeps
// no events and no sums, and does not sync.
type consumerRole struct {
	client paho.Client
	db     *tsdb.DB
	same   bool // it keeps the series that ours keeps, not those of the links alone

	mu       sync.Mutex
	appender tsdb.Appender // nil: nothing is uncommitted
	refs     map[kept]uint64
	waiting  int // messages not committed
	stored   int
	last     time.Time // when something was committed
	err      error     // the first one
	done     chan struct{}
	ended    sync.WaitGroup
}

// kept is a series of a guardian: of a link, a place, or, without a name, the network.
type kept struct{ guardian, measure, of, name string }

// newConsumerRole opens a database and connects: directory, address of the broker, and "same" where it keeps the series
// that ours keeps.
func newConsumerRole(args []string) (role, error) {
	options := *tsdb.DefaultOptions
	options.WALCompression = true
	db, err := tsdb.Open(args[0], nil, nil, &options)
	if err != nil {
		return nil, err
	}
	r := &consumerRole{db: db, same: args[2] == "same", refs: map[kept]uint64{}, done: make(chan struct{})}
	r.client = paho.NewClient(paho.NewClientOptions().AddBroker("tcp://" + args[1]).SetClientID("consumer"))
	if err := finished(r.client.Connect()); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	r.ended.Go(r.commitPauses)
	return r, nil
}

// finished waits for the end of an operation and returns its error.
func finished(t paho.Token) error {
	if !t.WaitTimeout(patience) {
		return errors.New("the broker does not answer")
	}
	return t.Error()
}

func (r *consumerRole) do(what string, n int) (map[string]float64, error) {
	switch what {
	case "subscribe": // anew, with QoS n
		return nil, finished(r.client.Subscribe("#", byte(n), r.receive))
	case "await":
		return r.await(n)
	case "forget":
		r.mu.Lock()
		defer r.mu.Unlock()
		r.stored = 0
		return nil, r.err
	}
	return nil, fmt.Errorf("no such question: %s", what)
}

// receive decodes and appends a message.
func (r *consumerRole) receive(_ paho.Client, message paho.Message) {
	var m consumed
	err := json.Unmarshal(message.Payload(), &m)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		err = r.append(message.Topic(), &m)
	}
	if err == nil && r.waiting >= consumerBatch {
		err = r.commit()
	}
	if r.err == nil {
		r.err = err
	}
}

// append appends the intensity of each link at each step, and what else ours keeps of it: its motion, the share of the place
// where its source is, and both of the network. r.mu is held.
func (r *consumerRole) append(topic string, m *consumed) (err error) {
	if len(m.Data.MKAI) != len(m.Links) {
		return fmt.Errorf("%d rows of %d links", len(m.Data.MKAI), len(m.Links))
	}
	if r.appender == nil {
		r.appender = r.db.Appender()
	}
	for step := range m.Count {
		at, most := int64(m.TS*1000)+int64(step*m.Interval), 0.0
		add := func(measure, of, name string, v float64) {
			if err == nil {
				err = r.add(kept{topic, measure, of, name}, at, v)
			}
		}
		for i, link := range m.Links {
			v := m.Data.MKAI[i][step]
			add("intensity", "link", link, v)
			if r.same {
				_, place, _ := strings.Cut(link, ".")
				add("motion", "link", link, motionOf(v))
				add("share", "place", place, v)
				most = max(most, v)
			}
		}
		if r.same {
			add("intensity", "network", "", most)
			add("motion", "network", "", motionOf(most))
		}
	}
	r.waiting++
	return err
}

func motionOf(intensity float64) float64 {
	if intensity > 0 {
		return 1
	}
	return 0
}

// add appends a value to a series.
func (r *consumerRole) add(key kept, at int64, v float64) error {
	if ref := r.refs[key]; ref != 0 && r.appender.AddFast(ref, at, v) == nil {
		return nil
	}
	ref, err := r.appender.Add(labels.FromStrings("__name__", key.measure, "guardian", key.guardian, key.of, key.name), at, v)
	r.refs[key] = ref
	return err
}

// commit commits what waits; r.mu is held.
func (r *consumerRole) commit() error {
	if r.appender == nil {
		return nil
	}
	err := r.appender.Commit()
	if err == nil {
		r.stored += r.waiting
	}
	r.appender, r.waiting, r.last = nil, 0, time.Now()
	return err
}

// commitPauses commits, at intervals, what waits for further messages.
func (r *consumerRole) commitPauses() {
	tick := time.NewTicker(consumerPause)
	defer tick.Stop()
	for {
		select {
		case <-r.done:
			return
		case <-tick.C:
			r.mu.Lock()
			if err := r.commit(); r.err == nil {
				r.err = err
			}
			r.mu.Unlock()
		}
	}
}

// await waits until n messages are stored, or none has been for a while, and returns how
// many are, and how long ago the last was stored.
func (r *consumerRole) await(n int) (map[string]float64, error) {
	const lost = 3 * time.Second
	began := time.Now()
	for {
		r.mu.Lock()
		stored, last, err := r.stored, r.last, r.err
		r.mu.Unlock()
		if err != nil {
			return nil, err
		}
		now := time.Now()
		if quiet := min(now.Sub(last), now.Sub(began)); stored >= n || quiet > lost {
			return map[string]float64{"stored": float64(stored), "ago": ms(now.Sub(last))}, nil
		}
		time.Sleep(time.Millisecond)
	}
}

func (r *consumerRole) close() error {
	r.client.Disconnect(100)
	close(r.done)
	r.ended.Wait()
	return errors.Join(r.err, r.db.Close())
}
