package main

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"
)

// box is a simulated box with one network: it sends events one after the other, several under way,
// and sends again from the first that was not acknowledged when the connection has ended.
type box struct {
	id, address string
	confirm     bool          // an event counts when the stream has it, not when the broker has acknowledged it
	pause       time.Duration // between events
	made, done  int           // events that exist; events that count, from the first

	lock      sync.Mutex
	confirmed int // of the events that the stream has, the latest number
	resent    int
}

// window is how many events are under way.
const window = 8

// run sends events until ctx ends, then the rest.
func (b *box) run(ctx context.Context, end context.Context) error {
	for {
		err := b.connection(ctx, end)
		if err == nil || end.Err() != nil {
			return err
		}
		select {
		case <-end.Done():
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// connection sends over one connection for as long as it lasts.
func (b *box) connection(ctx, end context.Context) error {
	options := mqtt.NewClientOptions().AddBroker("tcp://" + b.address).SetClientID("sensegate-" + b.id).
		SetUsername("box-" + b.id).SetPassword("p").SetCleanSession(true).SetAutoReconnect(false).
		SetConnectTimeout(5 * time.Second).SetKeepAlive(10 * time.Second).SetProtocolVersion(4)
	client := mqtt.NewClient(options)
	if err := waitFor(end, client.Connect(), 10*time.Second); err != nil {
		return err
	}
	defer client.Disconnect(0)
	if b.confirm {
		hear := func(_ mqtt.Client, m mqtt.Message) {
			var event struct{ Number int }
			if json.Unmarshal(m.Payload(), &event) == nil {
				b.lock.Lock()
				if event.Number == b.confirmed+1 {
					b.confirmed = event.Number
				}
				b.lock.Unlock()
			}
		}
		if err := waitFor(end, client.Subscribe("stored/sensegate/"+b.id+"/+/event", 0, hear), 10*time.Second); err != nil {
			return err
		}
	}
	type sent struct {
		number int
		token  mqtt.Token
	}
	var under []sent
	next := b.done + 1
	for {
		for len(under) < window && (next <= b.made || ctx.Err() == nil) {
			if next > b.made {
				b.made = next
				select {
				case <-ctx.Done():
				case <-time.After(b.pause):
				}
			} else {
				b.resent++
			}
			payload := fmt.Sprintf(`{"_id":"%s-%d","number":%d,"type":"motion","at":1790000000,"filler":"%0200d"}`, b.id, next, next, 0)
			under = append(under, sent{next, client.Publish("sensegate/"+b.id+"/home"+b.id+"/event", 1, false, payload)})
			next++
		}
		if len(under) == 0 {
			return nil
		}
		if err := waitFor(end, under[0].token, 10*time.Second); err != nil {
			return err
		}
		if b.confirm {
			if err := b.awaitStored(end, client, under[0].number); err != nil {
				return err
			}
		}
		b.done = under[0].number
		under = under[1:]
	}
}

// awaitStored waits until the stream has told that it has an event.
func (b *box) awaitStored(end context.Context, client mqtt.Client, number int) error {
	deadline := time.Now().Add(5 * time.Second)
	for {
		b.lock.Lock()
		have := b.confirmed
		b.lock.Unlock()
		if have >= number {
			return nil
		}
		if time.Now().After(deadline) || end.Err() != nil || !client.IsConnectionOpen() {
			return fmt.Errorf("event %d was acknowledged, and the stream has not told of it", number)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// waitFor waits for an answer of the broker.
func waitFor(ctx context.Context, token mqtt.Token, patience time.Duration) error {
	select {
	case <-token.Done():
		return token.Error()
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(patience):
		return fmt.Errorf("no answer within %s", patience)
	}
}
