package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"sensegate/broker/guard/guardtest"
	"sensegate/motion"
)

// The load of L1: 50 networks with 7 messages a second each. Rounds are short and many, so that a second
// in which the machine did something else is one round's. A side has been silent while the others had their turn:
// what its first messages take is not counted.
const (
	liveRate   = 7
	liveRound  = 4 * time.Second
	liveRounds = 9
	liveWarmUp = time.Second / 2
)

// receiver gets the messages of a home.
type receiver interface {
	next() ([]byte, error)
	Close() error
}

// traffic is homes whose guardians publish motion, each to one receiver.
type traffic struct {
	devices    []device
	publishers []*client
	receivers  []receiver
}

// live is the same traffic through the product and its peers: a broker alone, one with a relay behind it, and the
// product's libraries with nothing between them.
type live struct {
	ours, peer, relayed, bare *traffic

	broker      *mosquitto // of the relay
	relay, libs *worker
}

func (l *live) all() []*traffic { return []*traffic{l.ours, l.peer, l.relayed, l.bare} }

// measureLatency measures L1: the time from a device's publish to a viewer's websocket
// frame, in turn with that from a publish to a subscriber of mosquitto, to the frame of a relay behind another one, and
// to that of the libraries alone.
func measureLatency(ctx context.Context, b *bench, a *appliance, m *mosquitto) (_ []figure, err error) {
	l, err := b.liveTraffic(ctx, a, m)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	var figures []figure
	quantiles := []float64{0.5, 0.99}
	took := [4][2][]float64{} // by side and quantile, of each round
	for range liveRounds {
		for side, t := range l.all() {
			round, stop := context.WithTimeout(ctx, liveRound)
			found, err := t.run(round)
			stop()
			if err != nil {
				_, relayed := l.relay.ask("error", 0)
				_, bare := l.libs.ask("error", 0)
				return nil, errors.Join(err, relayed, bare)
			}
			for i, q := range quantiles {
				took[side][i] = append(took[side][i], quantile(found, q))
			}
		}
	}
	for i, q := range quantiles {
		side := func(k int) float64 { return median(took[k][i]) }
		what := fmt.Sprintf("device's publish → viewer's frame, 350 messages/s, 50 viewers, p%.0f", 100*q)
		figures = append(figures, figure{
			Name: "L1", What: what, Unit: "ms", Ours: side(0),
			Reach: atMostOfPeer(2), Peer: "mosquitto, publish → subscriber", Peers: side(1),
		}, figure{
			Name: "L1", What: what, Unit: "ms", Ours: side(0),
			Reach: atMostOfPeer(2), Peer: "mosquitto → paho, encoding/json, gorilla/websocket → viewer", Peers: side(2),
		}, figure{
			Name: "L1", What: "our libraries alone, mochi → gorilla/websocket, nothing decoded or sensed, p" + number(100*q), Unit: "ms", Ours: side(3),
			Peer: "mosquitto, publish → subscriber", Peers: side(1),
		})
	}
	return figures, nil
}

// liveTraffic connects devices and receivers of 50 networks to the product and its peer.
func (b *bench) liveTraffic(ctx context.Context, a *appliance, m *mosquitto) (*live, error) {
	guardians, _, err := a.adoptMany(ctx, networks)
	if err == nil {
		err = a.makeKey(ctx)
	}
	if err != nil {
		return nil, err
	}
	l := &live{ours: &traffic{devices: guardians}, peer: &traffic{devices: guardians}, relayed: &traffic{devices: guardians}, bare: &traffic{devices: guardians}}
	if l.ours.publishers, err = dialAll(a.mqtt, guardians); err != nil {
		return nil, err
	}
	if l.peer.publishers, err = dialAll(m.addr, strangers(guardians)); err != nil {
		return nil, errors.Join(err, l.close())
	}
	if err := errors.Join(l.startRelay(ctx, b), l.startLibraries(ctx, b)); err != nil {
		return nil, errors.Join(err, l.close())
	}
	for _, d := range guardians {
		v, err := view(a.http, fmt.Sprintf("/core/network/%d/motion/live", d.network), a.key)
		if err != nil {
			return nil, errors.Join(err, l.close())
		}
		l.ours.receivers = append(l.ours.receivers, v)
		c, err := dial(m.addr, device{key: motion.DeviceKey{Kind: motion.Guardian, ID: "viewer-" + d.key.ID}})
		if err != nil {
			return nil, errors.Join(err, l.close())
		}
		l.peer.receivers = append(l.peer.receivers, c)
		if err := c.subscribe(topicOf(d), 0); err != nil {
			return nil, errors.Join(err, l.close())
		}
	}
	return l, nil
}

// startRelay starts a broker with a relay behind it, and connects devices and viewers.
func (l *live) startRelay(ctx context.Context, b *bench) (err error) {
	if l.broker, err = b.mosquitto(ctx); err != nil {
		return err
	}
	if l.relay, err = b.startInNew(ctx, "relay", l.broker.addr); err != nil {
		return err
	}
	return l.relayed.connect(l.broker.addr, l.relay)
}

// startLibraries starts the libraries with nothing between them, and connects devices and viewers.
func (l *live) startLibraries(ctx context.Context, b *bench) (err error) {
	if l.libs, err = b.startInNew(ctx, "libs"); err != nil {
		return err
	}
	where, err := l.libs.ask("mqtt", 0)
	if err != nil {
		return err
	}
	return l.bare.connect(fmt.Sprintf("127.0.0.1:%.0f", where["port"]), l.libs)
}

// connect connects devices to a broker, and a viewer of each to the outlets of a worker.
func (t *traffic) connect(broker string, outlets *worker) (err error) {
	if t.publishers, err = dialAll(broker, strangers(t.devices)); err != nil {
		return err
	}
	where, err := outlets.ask("port", 0)
	if err != nil {
		return err
	}
	for _, d := range t.devices {
		v, err := view(fmt.Sprintf("127.0.0.1:%.0f", where["port"]), "/"+topicOf(d), "")
		if err != nil {
			return err
		}
		t.receivers = append(t.receivers, v)
	}
	return nil
}

func (l *live) close() error {
	var err error
	for _, t := range l.all() {
		for _, r := range t.receivers {
			err = errors.Join(err, r.Close())
		}
		err = errors.Join(err, hangUp(t.publishers))
	}
	for _, w := range []*worker{l.relay, l.libs} {
		if w != nil {
			err = errors.Join(err, w.stop())
		}
	}
	if l.broker != nil {
		err = errors.Join(err, l.broker.stop())
	}
	return err
}

// sent is a published message: the time, and the start of its text.
type sent struct {
	at   time.Time
	head string
}

// run publishes until ctx ends and returns the latency of each message after the first ones, in ms.
func (t *traffic) run(ctx context.Context) ([]float64, error) {
	var mu sync.Mutex
	var took []float64
	var all errgroup.Group
	begin := time.Now()
	for i := range t.devices {
		under := make(chan sent, 64)
		all.Go(func() error {
			defer close(under)
			return t.publish(ctx, i, begin.Add(time.Second*time.Duration(i)/time.Duration(liveRate*len(t.devices))), under)
		})
		all.Go(func() error {
			own, err := t.receive(i, under, begin.Add(liveWarmUp))
			mu.Lock()
			defer mu.Unlock()
			took = append(took, own...)
			return err
		})
	}
	err := all.Wait()
	return took, err
}

// publish sends the messages of home i, the first one at due.
func (t *traffic) publish(ctx context.Context, i int, due time.Time, under chan<- sent) error {
	for ; ctx.Err() == nil; due = due.Add(time.Second / liveRate) {
		if rest(ctx, time.Until(due)) != nil {
			return nil
		}
		payload, err := matrix(motion.TimeOf(due), 1)
		if err != nil {
			return err
		}
		packet := guardtest.Publish{Topic: topicOf(t.devices[i]), Payload: payload}.Bytes()
		head, _, _ := strings.Cut(payload, ",")
		under <- sent{time.Now(), head}
		if _, err := t.publishers[i].Write(packet); err != nil {
			return err
		}
	}
	return nil
}

// receive receives the messages of home i in order and returns the latencies of those sent after since, in ms.
func (t *traffic) receive(i int, under <-chan sent, since time.Time) ([]float64, error) {
	var took []float64
	for s := range under {
		text, err := t.receivers[i].next()
		if err != nil {
			return took, err
		}
		if !bytes.HasPrefix(text, []byte(s.head)) {
			return took, fmt.Errorf("got %.60s, want what begins with %s", text, s.head)
		}
		if s.at.After(since) {
			took = append(took, ms(time.Since(s.at)))
		}
	}
	return took, nil
}
