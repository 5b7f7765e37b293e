package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// The streams: the one of the example, and the one in which NATS keeps MQTT messages until whoever wants
// them has them.
const (
	streamName  = "FLEET"
	mqttStream  = "$MQTT_msgs"
	centreUser  = "centre"
	askPatience = 5 * time.Second // for each answer of the cluster
)

// centre is a program of the centre: it makes the stream and reads it.
type centre struct {
	connection *nats.Conn
	jetstream.JetStream
}

// newCentre connects to a cluster.
func newCentre(c *cluster) (*centre, error) {
	connection, err := nats.Connect(c.urls(), nats.UserInfo(centreUser, centrePassword), nats.MaxReconnects(-1), nats.ReconnectWait(100*time.Millisecond))
	if err != nil {
		return nil, fmt.Errorf("connect to the cluster: %w", err)
	}
	js, err := jetstream.New(connection)
	if err != nil {
		return nil, fmt.Errorf("use JetStream: %w", err)
	}
	return &centre{connection, js}, nil
}

// makeStream makes the stream of a file, and waits until it has begun to take what boxes send. $MQTT_msgs
// has to exist: NATS makes it for the first MQTT client of the account.
func (c *centre) makeStream(ctx context.Context, file string) error {
	raw, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read the example: %w", err)
	}
	var config jetstream.StreamConfig
	if err := json.Unmarshal(raw, &config); err != nil {
		return fmt.Errorf("read the example: %w", err)
	}
	return until(ctx, "make the stream", func(ctx context.Context) error {
		if _, err := c.CreateOrUpdateStream(ctx, config); err != nil || len(config.Sources) == 0 {
			return err
		}
		source, err := c.Stream(ctx, mqttStream)
		if err == nil && source.CachedInfo().State.Consumers == 0 {
			err = errors.New("it has not begun")
		}
		return err
	})
}

// until tries something until it succeeds or ctx ends.
func until(ctx context.Context, what string, try func(context.Context) error) error {
	for {
		asked, cancel := context.WithTimeout(ctx, askPatience)
		err := try(asked)
		cancel()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", what, err)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// leader returns the name of the node that leads a stream.
func (c *centre) leader(ctx context.Context, stream string) (name string, err error) {
	err = until(ctx, "ask who leads "+stream, func(ctx context.Context) error {
		s, err := c.Stream(ctx, stream)
		if err != nil {
			return err
		}
		if name = s.CachedInfo().Cluster.Leader; name == "" {
			return errors.New("nobody")
		}
		return nil
	})
	return name, err
}

// readAll returns the ids of all events in the stream, in their order there, by subject.
func (c *centre) readAll(ctx context.Context) (map[string][]string, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	all := map[string][]string{}
	consumer, err := c.CreateConsumer(ctx, streamName, jetstream.ConsumerConfig{
		AckPolicy: jetstream.AckNonePolicy, FilterSubject: "sensegate.*.*.event", InactiveThreshold: time.Minute,
	})
	if err != nil {
		return nil, fmt.Errorf("make a consumer: %w", err)
	}
	info, err := consumer.Info(ctx)
	if err != nil {
		return nil, fmt.Errorf("ask a consumer: %w", err)
	}
	for left := int(info.NumPending); left > 0; { // what was there when the reading began
		batch, err := consumer.Fetch(min(left, 1000), jetstream.FetchMaxWait(askPatience))
		if err != nil {
			return nil, fmt.Errorf("read the stream: %w", err)
		}
		before := left
		for message := range batch.Messages() {
			left--
			var event struct {
				ID string `json:"_id"`
			}
			if err := json.Unmarshal(message.Data(), &event); err != nil {
				return nil, fmt.Errorf("read a message of %s: %w", message.Subject(), err)
			}
			all[message.Subject()] = append(all[message.Subject()], event.ID)
		}
		if err := batch.Error(); err != nil {
			return nil, fmt.Errorf("read the stream: %w", err)
		}
		if left == before {
			return nil, errors.New("read the stream: it says nothing")
		}
	}
	return all, nil
}
