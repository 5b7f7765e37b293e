package crashtest

import (
	"context"
	"fmt"
	"strconv"

	"sensegate/motion"
	"sensegate/motion/command"
	"sensegate/store"
)

// receipt names an acknowledgement in the bytes that the product sends.
type receipt string

func ofPacket(id uint16) receipt  { return receipt("PUBACK " + strconv.Itoa(int(id))) }
func ofRequest(id string) receipt { return receipt("X-Request-Id " + id) }

// published is what a device's publish returned.
func published(id uint16, err error) (receipt, error) { return ofPacket(id), err }

// writer makes its operations one after the other; one that was not acknowledged
// is made again after a crash.
type writer struct {
	name  string
	acked []receipt
	// act makes operation n and returns when it is acknowledged.
	act func(ctx context.Context, v *visit, n int) (receipt, error)
	// check wants exactly the operations before n to be stored, and perhaps n.
	check func(tx *store.Tx, n int) error
}

// run makes operations until ctx or the product ends, or until there are limit.
func (w *writer) run(ctx context.Context, v *visit, limit int) error {
	for len(w.acked) < limit {
		got, err := w.act(ctx, v, len(w.acked))
		if err != nil {
			return fmt.Errorf("%s %d: %w", w.name, len(w.acked), err)
		}
		w.acked = append(w.acked, got)
	}
	return nil
}

// settingWriter is the place of the writer of a setting among all.
const settingWriter = 2

// writers returns one of each kind, none of which has done anything yet.
func (h *house) writers() []*writer {
	return []*writer{
		h.events(), h.commands(),
		counter("setting", "/core/network/1/meta", `{"crash": "%d"}`, func(tx *store.Tx) (string, error) {
			n, err := tx.Network(network)
			return n.Meta.Text("crash"), err
		}),
		counter("alert", "/core/api/v1/universal-alert/"+h.alert+"?network_id=1", `{"enabled": true, "alert_name": "%d"}`, func(tx *store.Tx) (string, error) {
			a, err := tx.Alert(store.AlertKey{Network: network, UUID: h.alert})
			return a.Rule.AlertName, err
		}),
		counter("user meta", "/api/v1/user/meta", `{"crash": "%d"}`, func(tx *store.Tx) (string, error) {
			meta, err := tx.UserMeta(h.user)
			return meta.Text("crash"), err
		}),
	}
}

// counter writes n+1 at operation n into a record that held 0.
func counter(name, path, body string, value func(*store.Tx) (string, error)) *writer {
	return &writer{
		name: name,
		act: func(ctx context.Context, v *visit, n int) (receipt, error) {
			return v.call(ctx, "PATCH", path, fmt.Sprintf(body, n+1), nil)
		},
		check: func(tx *store.Tx, n int) error {
			got, err := value(tx)
			if err != nil {
				return err
			}
			if got != strconv.Itoa(n) && got != strconv.Itoa(n+1) {
				return fmt.Errorf("%s: %d was acknowledged, %q is stored", name, n, got)
			}
			return nil
		},
	}
}

// events has the guardian raise one event after the other, each of its own kind.
func (h *house) events() *writer {
	const kind, id = "CrashTest_%d", "c4a54000-0000-7000-8000-%012x"
	return &writer{
		name: "event",
		act: func(ctx context.Context, v *visit, n int) (receipt, error) {
			event := motion.Event{Category: motion.CategorySystem, Event: fmt.Sprintf(kind, n), TS: now()}
			return published(v.guardian.Publish(ctx, 1, motion.EventReport{Event: event, UUID: fmt.Sprintf(id, n)}))
		},
		check: func(tx *store.Tx, n int) error {
			times := map[string]int{}
			err := tx.EachEvent(network, func(e motion.Event) error {
				times[e.Event]++
				return nil
			})
			for i := range n {
				if got := times[fmt.Sprintf(kind, i)]; got != 1 {
					return fmt.Errorf("event %d of %d is stored %d times", i, n, got)
				}
			}
			if times[fmt.Sprintf(kind, n)] > 1 || times[fmt.Sprintf(kind, n+1)] > 0 {
				return fmt.Errorf("after %d events more than one more is stored", n)
			}
			return err
		},
	}
}

// commands creates a command at each even operation, and the node answers it at the
// odd one that follows.
func (h *house) commands() *writer {
	var ids []command.ID
	return &writer{
		name: "command",
		act: func(ctx context.Context, v *visit, n int) (receipt, error) {
			if n%2 == 0 {
				body := fmt.Sprintf(`{"network_id": %d, "node_id": %d, "executeNow": true, "payload": {"command": "ping"}}`, network, h.node)
				var made struct{ ID command.ID }
				got, err := v.call(ctx, "POST", "/core/manage/create", body, &made)
				if err == nil {
					ids, v.created = append(ids, made.ID), made.ID
				}
				return got, err
			}
			id := ids[n/2]
			if v.created == id { // else it was sent before the crash
				if err := v.sent(ctx, id); err != nil {
					return "", err
				}
			}
			return published(v.radar.Publish(ctx, 1, motion.ManageResult{ID: int64(id), State: string(command.Done)}))
		},
		check: func(tx *store.Tx, n int) error {
			for i := range (n + 1) / 2 {
				if i == len(ids) {
					return fmt.Errorf("command of operation %d was not made", 2*i)
				}
				c, err := tx.Command(ids[i])
				if err != nil {
					return fmt.Errorf("command %d of operation %d: %w", ids[i], 2*i, err)
				}
				if 2*i+1 < n && c.State != command.Done {
					return fmt.Errorf("command %d: its result was acknowledged, it is %s", ids[i], c.State)
				}
			}
			return nil
		},
	}
}

// checkAll wants of each writer the operations before its place in done.
func checkAll(tx *store.Tx, writers []*writer, done []int) error {
	for i, w := range writers {
		if err := w.check(tx, done[i]); err != nil {
			return err
		}
	}
	return nil
}
