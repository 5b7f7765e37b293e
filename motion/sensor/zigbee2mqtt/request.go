package zigbee2mqtt

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"sensegate/motion/fault"
)

// answerLimit is how long the bridge may take to answer: it waits ten seconds for a
// sleeping device.
const answerLimit = 12 * time.Second

// requests are those that wait for their response, by transaction.
type requests struct {
	mu      sync.Mutex
	waiting map[string]chan response
}

// open notes a new request; close forgets it.
func (r *requests) open() (transaction string, answer chan response) {
	transaction, answer = uuid.NewString(), make(chan response, 1)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiting == nil {
		r.waiting = map[string]chan response{}
	}
	r.waiting[transaction] = answer
	return transaction, answer
}

func (r *requests) close(transaction string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.waiting, transaction)
}

// answer hands a response to whoever waits for it; one that nobody waits for was
// somebody else's.
func (r *requests) answer(one response) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if waiting, ok := r.waiting[one.transaction()]; ok {
		waiting <- one
		delete(r.waiting, one.transaction())
	}
}

// refusal is an answer of the bridge that says no.
type refusal struct{ error }

// request sends a request and waits for its response. A bridge that is away, or does
// not answer, is an Unavailable fault, one that refuses a refusal.
func (b *Bridge) request(ctx context.Context, path string, message map[string]any) error {
	b.state.mu.Lock()
	online := b.state.online
	b.state.mu.Unlock()
	if !online {
		return away("the Zigbee bridge is offline")
	}
	transaction, answer := b.requests.open()
	defer b.requests.close(transaction)
	message["transaction"] = transaction
	payload, err := json.Marshal(message)
	if err != nil {
		return fmt.Errorf("encode request to the bridge: %w", err)
	}
	if err := b.broker.Publish(b.base+"bridge/request/"+path, payload); err != nil {
		if fault.KindOf(err) == fault.Unavailable {
			return away("the Zigbee bridge is not connected")
		}
		return fmt.Errorf("ask the bridge: %w", err)
	}
	limit := time.NewTimer(answerLimit)
	defer limit.Stop()
	select {
	case got := <-answer:
		if err := got.err(); err != nil {
			return refusal{err}
		}
		return nil
	case <-limit.C:
		return away("the Zigbee bridge does not answer")
	case <-ctx.Done():
		return away("the Zigbee bridge did not answer in time")
	}
}

// isRefusal reports whether the bridge said no.
func isRefusal(err error) bool {
	var no refusal
	return errors.As(err, &no)
}

// away returns an Unavailable fault that asks to come back in half a minute.
func away(text string) error {
	err := fault.New(fault.Unavailable, "%s", text)
	err.RetryAfter = 30 * time.Second
	return err
}
