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

// The load of L1: 50 networks with 7 messages a second each.
const (
	liveRate   = 7
	liveRound  = 8 * time.Second
	liveRounds = 3
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

// live is the same traffic through the product and its peers: a broker alone, and one with a relay behind it.
type live struct {
	ours, peer, relayed *traffic

	broker *mosquitto // of the relay
	relay  *worker
}

// measureLatency measures L1: the time from a device's publish to a viewer's websocket
// frame, in turn with that from a publish to a subscriber of mosquitto, and to the frame of a relay behind another one.
func measureLatency(ctx context.Context, b *bench, a *appliance, m *mosquitto) (_ []figure, err error) {
	l, err := b.liveTraffic(ctx, a, m)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	var figures []figure
	took := [3][]float64{}
	for range liveRounds {
		for side, t := range []*traffic{l.ours, l.peer, l.relayed} {
			round, stop := context.WithTimeout(ctx, liveRound)
			found, err := t.run(round)
			stop()
			if err != nil {
				_, relayed := l.relay.ask("error", 0)
				return nil, errors.Join(err, relayed)
			}
			took[side] = append(took[side], found...)
		}
	}
	for _, q := range []float64{0.5, 0.99} {
		what := fmt.Sprintf("device's publish → viewer's frame, 350 messages/s, 50 viewers, p%.0f", 100*q)
		figures = append(figures, figure{
			Name: "L1", What: what, Unit: "ms", Ours: quantile(took[0], q),
			Reach: atMostOfPeer(2), Peer: "mosquitto, publish → subscriber", Peers: quantile(took[1], q),
		}, figure{
			Name: "L1", What: what, Unit: "ms", Ours: quantile(took[0], q),
			Reach: atMostOfPeer(2), Peer: "mosquitto → paho, encoding/json, gorilla/websocket → viewer", Peers: quantile(took[2], q),
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
	l := &live{ours: &traffic{devices: guardians}, peer: &traffic{devices: guardians}, relayed: &traffic{devices: guardians}}
	if l.ours.publishers, err = dialAll(a.mqtt, guardians); err != nil {
		return nil, err
	}
	if l.peer.publishers, err = dialAll(m.addr, strangers(guardians)); err != nil {
		return nil, errors.Join(err, l.close())
	}
	port, err := l.startRelay(ctx, b)
	if err != nil {
		return nil, errors.Join(err, l.close())
	}
	if l.relayed.publishers, err = dialAll(l.broker.addr, strangers(guardians)); err != nil {
		return nil, errors.Join(err, l.close())
	}
	for _, d := range guardians {
		v, err := view(fmt.Sprintf("127.0.0.1:%.0f", port), "/"+topicOf(d), "")
		if err != nil {
			return nil, errors.Join(err, l.close())
		}
		l.relayed.receivers = append(l.relayed.receivers, v)
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

// startRelay starts a broker with a relay behind it, and returns the port of that.
func (l *live) startRelay(ctx context.Context, b *bench) (port float64, err error) {
	if l.broker, err = b.mosquitto(ctx); err != nil {
		return 0, err
	}
	dir, err := b.temp("relay")
	if err == nil {
		l.relay, err = b.start(ctx, nil, "relay", dir, l.broker.addr)
	}
	if err != nil {
		return 0, err
	}
	where, err := l.relay.ask("port", 0)
	return where["port"], err
}

func (l *live) close() error {
	var err error
	for _, t := range []*traffic{l.ours, l.peer, l.relayed} {
		for _, r := range t.receivers {
			err = errors.Join(err, r.Close())
		}
		err = errors.Join(err, hangUp(t.publishers))
	}
	if l.relay != nil {
		err = errors.Join(err, l.relay.stop())
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

// run publishes until ctx ends and returns the latency of each message, in ms.
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
			own, err := t.receive(i, under)
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

// receive receives the messages of home i in order and returns their latencies, in ms.
func (t *traffic) receive(i int, under <-chan sent) ([]float64, error) {
	var took []float64
	for s := range under {
		text, err := t.receivers[i].next()
		if err != nil {
			return took, err
		}
		if !bytes.HasPrefix(text, []byte(s.head)) {
			return took, fmt.Errorf("got %.60s, want what begins with %s", text, s.head)
		}
		took = append(took, ms(time.Since(s.at)))
	}
	return took, nil
}
