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

// answerLimit is the time-out of a request: the bridge waits ten seconds for a sleeping device.
const answerLimit = 12 * time.Second

// requests are the pending requests, by transaction.
type requests struct {
	mu      sync.Mutex
	waiting map[string]chan response
}

// open adds a request; close removes it.
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

// answer passes a response to the pending request. It ignores responses to other clients.
func (r *requests) answer(reply response) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if waiting, ok := r.waiting[reply.transaction()]; ok {
		waiting <- reply
		delete(r.waiting, reply.transaction())
	}
}

// refusal is a negative answer of the bridge.
type refusal struct{ error }

// request sends a request and waits for the response. It returns an Unavailable fault if the
// bridge is offline or does not answer, and a refusal if the bridge refuses.
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

// isRefusal reports whether the bridge refused.
func isRefusal(err error) bool {
	var no refusal
	return errors.As(err, &no)
}

// away returns an Unavailable fault to retry after half a minute.
func away(text string) error {
	err := fault.New(fault.Unavailable, "%s", text)
	err.RetryAfter = 30 * time.Second
	return err
}
