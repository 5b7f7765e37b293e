package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"sensegate/broker/guard/guardtest"
	"sensegate/motion"
)

// The load of M1: each guardian sends fewer messages than the burst of 500 that its rate
// limit allows, so that the brokers are the limit.
const (
	ingestNetworks = 200
	ingestMessages = 400
	ingestWindow   = 20 // unacknowledged messages of QoS 1
	ingestRounds   = 5
	ingestApart    = 1.001 // s between two messages of 2 steps: none covers a time of another
)

// measureIngest measures M1: it saturates the real binary with motion of 200 networks,
// up to the samples in memory, mosquitto without a subscriber with the same bytes, and
// what a user would run instead: mosquitto and a consumer that stores the values.
func measureIngest(ctx context.Context, b *bench, a *appliance, m *mosquitto) (_ []figure, err error) {
	guardians, _, err := a.adoptMany(ctx, ingestNetworks)
	if err != nil {
		return nil, err
	}
	alone, err := b.start(ctx, nil, "broker", b.dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, alone.stop()) }()
	where, err := alone.ask("port", 0)
	if err != nil {
		return nil, err
	}
	sides := []*flooded{
		{addr: a.mqtt, devices: guardians, pids: []int{a.pid()}},
		{addr: fmt.Sprintf("127.0.0.1:%.0f", where["port"]), devices: strangers(guardians), pids: []int{alone.cmd.Process.Pid}},
		{addr: m.addr, devices: strangers(guardians), pids: []int{m.cmd.Process.Pid}},
	}
	for _, keeps := range []string{"links", "same"} {
		feeding, err := b.mosquitto(ctx, "max_queued_messages 0", "max_inflight_messages 0") // it drops nothing
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, feeding.stop()) }()
		consumer, err := b.startInNew(ctx, "consumer", feeding.addr, keeps)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, consumer.stop()) }()
		sides = append(sides, &flooded{addr: feeding.addr, devices: strangers(guardians), pids: []int{feeding.cmd.Process.Pid, consumer.cmd.Process.Pid}, consumer: consumer})
	}
	for _, s := range sides {
		if s.clients, err = dialAll(s.addr, s.devices); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, hangUp(s.clients)) }()
	}
	var figures []figure
	begin := motion.TimeOf(time.Now()).Add(-2 * ingestRounds * ingestMessages * ingestApart)
	for qos, least := range []bound{atLeastOfPeer(0.3).then(0.5), atLeastOfPeer(0.9)} {
		for _, s := range sides[3:] {
			if _, err := s.consumer.ask("subscribe", qos); err != nil {
				return figures, err
			}
		}
		if begin, err = b.ingestInTurn(ctx, sides, byte(qos), begin); err != nil {
			return figures, err
		}
		figures = append(figures, ingestFigures(sides, qos, least)...)
	}
	return figures, a.checkStored(ctx, guardians, begin)
}

// ingestChecked is how many guardians checkStored looks at: a caller may not ask for more
// at once.
const ingestChecked = 50

// checkStored returns an error unless the appliance holds every second of the last round
// of the first guardians.
func (a *appliance) checkStored(ctx context.Context, guardians []device, end motion.Time) error {
	if err := a.makeKey(ctx); err != nil {
		return err
	}
	to := end.Second()
	from := end.Add(-ingestMessages*ingestApart).Second() + 1
	for _, d := range guardians[:ingestChecked] {
		var points [][2]*float64
		path := fmt.Sprintf("/core/network/%d/motion/history/intensity?from=%d&to=%d&bucket=1", d.network, from, to)
		if err := a.call(ctx, http.MethodGet, path, "", &points); err != nil {
			return err
		}
		missing := to - from
		for _, p := range points {
			if p[0] != nil {
				missing--
			}
		}
		if missing > 0 {
			return fmt.Errorf("network %d: %d of %d seconds were not stored", d.network, missing, to-from)
		}
	}
	return nil
}

// ingestFigures returns the rows of the sides that measureIngest compares.
func ingestFigures(sides []*flooded, qos int, least bound) []figure {
	rate := func(i int) float64 { return median(sides[i].rates) }
	cost := func(i int) float64 { return median(sides[i].costs) }
	with := fmt.Sprintf(", QoS %d", qos)
	figures := []figure{{
		Name: "M1", What: "saturated ingest of motion into memory, 200 networks of 6 links" + with, Unit: "msg/s", Ours: rate(0),
		Reach: least, Peer: "mosquitto without a subscriber", Peers: rate(2),
	}, {
		Name: "M1", What: "the broker alone, nothing decoded" + with, Unit: "msg/s", Ours: rate(1),
		Peer: "mosquitto without a subscriber", Peers: rate(2),
	}, {
		Name: "M1", What: "CPU of a message, the broker alone" + with, Unit: "µs", Ours: cost(1),
		Peer: "mosquitto without a subscriber", Peers: cost(2),
	}}
	for i, keeps := range []string{"the links' values", "the values that ours keeps"} {
		peer := "mosquitto → paho, encoding/json, " + prometheus + " with " + keeps
		if lost := sides[3+i].lost; lost > 0 {
			peer += fmt.Sprintf(" (%d messages lost)", lost)
		}
		figures = append(figures, figure{
			Name: "M1", What: "saturated ingest, messages stored" + with, Unit: "msg/s", Ours: rate(0),
			Reach: []bound{{}, atLeastOfPeer(5)}[i], Peer: peer, Peers: rate(3 + i),
		}, figure{
			Name: "M1", What: "CPU of a stored message, all processes but the devices'" + with, Unit: "µs", Ours: cost(0),
			Peer: peer, Peers: cost(3 + i),
		})
	}
	return figures
}

// flooded is a broker and the devices that are connected to it.
type flooded struct {
	addr     string
	devices  []device
	clients  []*client
	pids     []int   // of its processes
	consumer *worker // that counts what is stored; nil: all that the broker has read

	rates []float64 // of the rounds, in messages a second
	costs []float64 // CPU time of a message, in µs
	lost  int       // messages of all rounds that the consumer did not get
}

// strangers returns the devices without tokens, for a broker without passwords.
func strangers(devices []device) []device {
	var all []device
	for _, d := range devices {
		all = append(all, device{key: d.key})
	}
	return all
}

// ingestInTurn floods the sides in turn with motion from begin, and returns where that
// ends.
func (b *bench) ingestInTurn(ctx context.Context, sides []*flooded, qos byte, begin motion.Time) (motion.Time, error) {
	for _, s := range sides {
		s.rates, s.costs, s.lost = nil, nil, 0
	}
	sending, sent := cpuTime(), 0
	for range ingestRounds {
		payloads, err := seconds(begin, ingestMessages)
		if err != nil {
			return begin, err
		}
		begin = begin.Add(ingestMessages * ingestApart)
		for _, s := range sides {
			if err := s.flood(payloads, qos); err != nil {
				return begin, err
			}
			sent += len(s.clients) * len(payloads)
		}
		if err := rest(ctx, time.Second); err != nil { // the rate limit refills
			return begin, err
		}
	}
	b.say("M1: the devices took %s µs of CPU a message", number(float64((cpuTime()-sending).Microseconds())/float64(sent)))
	return begin, nil
}

// seconds returns n messages of a home, of two steps each.
func seconds(begin motion.Time, n int) ([]string, error) {
	var payloads []string
	for i := range n {
		payload, err := matrix(begin.Add(float64(i)*ingestApart), 2)
		if err != nil {
			return nil, err
		}
		payloads = append(payloads, payload)
	}
	return payloads, nil
}

// flood sends all payloads from all clients concurrently, and notes the rate, until the
// broker has read the last or the consumer has stored it, and the CPU time.
func (s *flooded) flood(payloads []string, qos byte) error {
	used, err := cpuOf(s.pids...)
	if err != nil {
		return err
	}
	begin := time.Now()
	var all errgroup.Group
	for i, c := range s.clients {
		all.Go(func() error { return c.pour(topicOf(s.devices[i]), payloads, qos) })
	}
	if err := all.Wait(); err != nil {
		return err
	}
	took, n := time.Since(begin), len(s.clients)*len(payloads)
	if s.consumer != nil {
		values, err := s.consumer.ask("await", n)
		if err != nil {
			return err
		}
		took = time.Since(begin) - time.Duration(values["ago"]*float64(time.Millisecond))
		s.lost += n - int(values["stored"])
		n = int(values["stored"])
		if _, err := s.consumer.ask("forget", 0); err != nil {
			return err
		}
	}
	after, err := cpuOf(s.pids...)
	s.rates = append(s.rates, float64(n)/took.Seconds())
	s.costs = append(s.costs, float64((after-used).Microseconds())/float64(n))
	return err
}

// pour sends messages in batches. With QoS 1 it waits for the acknowledgements of each
// batch; at the end the answer to a ping shows that the broker has read all.
func (c *client) pour(topic string, payloads []string, qos byte) error {
	var batch []byte
	for i, payload := range payloads {
		batch = append(batch, guardtest.Publish{Topic: topic, Payload: payload, QoS: qos, ID: uint16(i + 1)}.Bytes()...)
		if (i+1)%ingestWindow != 0 {
			continue
		}
		if _, err := c.Write(batch); err != nil {
			return err
		}
		batch = batch[:0]
		for range ingestWindow * int(qos) {
			if _, err := c.await(0x40); err != nil {
				return err
			}
		}
	}
	if _, err := c.Write([]byte{0xc0, 0}); err != nil {
		return err
	}
	_, err := c.await(0xd0)
	return err
}
