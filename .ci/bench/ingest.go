package main

import (
	"context"
	"errors"
	"fmt"
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
)

// measureIngest measures M1: it saturates the real binary with motion of 200 networks,
// up to the samples in memory, and mosquitto without a subscriber with the same bytes.
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
		{addr: a.mqtt, devices: guardians},
		{addr: fmt.Sprintf("127.0.0.1:%.0f", where["port"]), devices: strangers(guardians)},
		{addr: m.addr, devices: strangers(guardians)},
	}
	for _, s := range sides {
		if s.clients, err = dialAll(s.addr, s.devices); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, hangUp(s.clients)) }()
	}
	var figures []figure
	for qos, least := range []float64{1.2, 0.9} {
		rates, err := ingestInTurn(sides, byte(qos))
		if err != nil {
			return figures, err
		}
		f := figure{
			Name: "M1", What: fmt.Sprintf("saturated ingest of motion into memory, 200 networks of 6 links, QoS %d", qos), Unit: "msg/s", Ours: rates[0],
			Reach: atLeastOfPeer(least), Peer: "mosquitto without a subscriber", Peers: rates[2],
		}
		alone := f
		alone.What, alone.Ours, alone.Reach = fmt.Sprintf("the broker alone, nothing decoded, QoS %d", qos), rates[1], bound{}
		figures = append(figures, f, alone)
	}
	return figures, nil
}

// flooded is a broker and the devices that are connected to it.
type flooded struct {
	addr    string
	devices []device
	clients []*client
}

// strangers returns the devices without tokens, for a broker without passwords.
func strangers(devices []device) []device {
	var all []device
	for _, d := range devices {
		all = append(all, device{key: d.key})
	}
	return all
}

// ingestInTurn returns the median rate of each side, in messages a second.
func ingestInTurn(sides []*flooded, qos byte) ([]float64, error) {
	rates := make([][]float64, len(sides))
	for range ingestRounds {
		payloads, err := seconds(ingestMessages)
		if err != nil {
			return nil, err
		}
		for i, s := range sides {
			took, err := s.flood(payloads, qos)
			if err != nil {
				return nil, err
			}
			rates[i] = append(rates[i], float64(len(s.clients)*len(payloads))/took.Seconds())
		}
		time.Sleep(time.Second) // the rate limit refills
	}
	var medians []float64
	for _, r := range rates {
		medians = append(medians, median(r))
	}
	return medians, nil
}

// seconds returns n messages of a home, 1 ms apart, that end now.
func seconds(n int) ([]string, error) {
	begin := motion.TimeOf(time.Now()).Add(-float64(n) / 1000)
	var payloads []string
	for i := range n {
		payload, err := matrix(begin.Add(float64(i)/1000), 2)
		if err != nil {
			return nil, err
		}
		payloads = append(payloads, payload)
	}
	return payloads, nil
}

// flood sends all payloads from all clients concurrently, and returns the time until the
// broker has read the last.
func (s *flooded) flood(payloads []string, qos byte) (time.Duration, error) {
	begin := time.Now()
	var all errgroup.Group
	for i, c := range s.clients {
		all.Go(func() error { return c.pour(topicOf(s.devices[i]), payloads, qos) })
	}
	err := all.Wait()
	return time.Since(begin), err
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
