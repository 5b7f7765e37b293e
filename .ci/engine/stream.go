package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// streamName is the stream that keeps what boxes send.
const streamName = "FLEET"

// centre is a program of the centre: it makes the stream and reads it.
type centre struct {
	connection *nats.Conn
	jetstream.JetStream
}

// newCentre connects to a cluster.
func newCentre(c *cluster) (*centre, error) {
	connection, err := nats.Connect(c.urls(), nats.UserInfo("centre", centrePassword), nats.MaxReconnects(-1), nats.ReconnectWait(100*time.Millisecond))
	if err != nil {
		return nil, fmt.Errorf("connect to the cluster: %w", err)
	}
	js, err := jetstream.New(connection)
	if err != nil {
		return nil, fmt.Errorf("use JetStream: %w", err)
	}
	return &centre{connection, js}, nil
}

// makeStream makes the stream of the example, docs/fleet/stream.json.
func (c *centre) makeStream(ctx context.Context, config jetstream.StreamConfig) error {
	var err error
	for range 50 { // until the nodes have chosen who leads them
		if _, err = c.CreateOrUpdateStream(ctx, config); err == nil || ctx.Err() != nil {
			break
		}
		time.Sleep(200 * time.Millisecond)
	}
	if err != nil {
		return fmt.Errorf("make the stream: %w", err)
	}
	return nil
}

// leader returns the name of the node that leads a stream.
func (c *centre) leader(ctx context.Context, stream string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	s, err := c.Stream(ctx, stream)
	if err != nil {
		return "", err
	}
	return s.CachedInfo().Cluster.Leader, nil
}

// found is what a stream holds of one network.
type found struct {
	ids      map[string]int // _id → how often
	doubles  int            // messages whose _id is there before them
	disorder int            // first ones that come after one of a later number
	last     int            // the latest number
}

// readAll reads a stream's events from the first to the last, by network.
func (c *centre) readAll(ctx context.Context) (map[string]*found, error) {
	s, err := c.Stream(ctx, streamName)
	if err != nil {
		return nil, fmt.Errorf("find the stream: %w", err)
	}
	info, err := s.Info(ctx)
	if err != nil {
		return nil, fmt.Errorf("ask about the stream: %w", err)
	}
	all := map[string]*found{}
	if info.State.Msgs == 0 {
		return all, nil
	}
	consumer, err := c.OrderedConsumer(ctx, streamName, jetstream.OrderedConsumerConfig{FilterSubjects: []string{"sensegate.*.*.event"}})
	if err != nil {
		return nil, fmt.Errorf("make a consumer: %w", err)
	}
	for {
		batch, err := consumer.Fetch(1000, jetstream.FetchMaxWait(2*time.Second))
		if err != nil {
			return nil, fmt.Errorf("read the stream: %w", err)
		}
		count := 0
		for message := range batch.Messages() {
			count++
			if err := take(all, message); err != nil {
				return nil, err
			}
		}
		if err := batch.Error(); err != nil && !errors.Is(err, nats.ErrTimeout) {
			return nil, fmt.Errorf("read the stream: %w", err)
		}
		if count == 0 {
			return all, nil
		}
	}
}

// take counts one message.
func take(all map[string]*found, message jetstream.Msg) error {
	var event struct {
		ID     string `json:"_id"`
		Number int    `json:"number"`
	}
	if err := json.Unmarshal(message.Data(), &event); err != nil {
		return fmt.Errorf("read a message of %s: %w", message.Subject(), err)
	}
	network := strings.Split(message.Subject(), ".")[2]
	f := all[network]
	if f == nil {
		f = &found{ids: map[string]int{}}
		all[network] = f
	}
	f.ids[event.ID]++
	switch {
	case f.ids[event.ID] > 1:
		f.doubles++
	case event.Number < f.last:
		f.disorder++
	default:
		f.last = event.Number
	}
	return nil
}
