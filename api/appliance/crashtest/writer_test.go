package crashtest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"sensegate/motion"
	"sensegate/motion/command"
	"sensegate/motion/home"
	"sensegate/store"
	"sensegate/store/storetest"
)

// receipt names an acknowledgement in the bytes that the product sends.
type receipt string

func ofPacket(id uint16) receipt  { return receipt("PUBACK " + strconv.Itoa(int(id))) }
func ofRequest(id string) receipt { return receipt("X-Request-Id " + id) }
func ofCommand(n int) receipt     { return receipt("administration " + strconv.Itoa(n)) }

// The acknowledgement of a command: it prints that it is done. That of a start: the log
// says that the product is ready.
const (
	ofOutput = receipt("output")
	ofReady  = receipt("ready")
)

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
		h.keys(), h.memberships(),
	}
}

// What can be wrong with what is stored after a crash. Anything else is a start that is
// refused (errRefusedStart) or a database that is not clean.
var (
	errLost    = errors.New("lost")
	errDoubled = errors.New("stored although it was not made, or more than once")
)

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
			if stored, err := strconv.Atoi(got); err != nil || stored < n {
				return fmt.Errorf("%w: %s: %d was acknowledged, %q is stored", errLost, name, n, got)
			} else if stored > n+1 {
				return fmt.Errorf("%w: %s: %d was acknowledged, %q is stored", errDoubled, name, n, got)
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
			events, err := storetest.Events(tx, network)
			for _, e := range events {
				times[e.Event]++
			}
			for i := range n {
				if got := times[fmt.Sprintf(kind, i)]; got == 0 {
					return fmt.Errorf("%w: event %d of %d", errLost, i, n)
				} else if got > 1 {
					return fmt.Errorf("%w: event %d of %d is stored %d times", errDoubled, i, n, got)
				}
			}
			if times[fmt.Sprintf(kind, n)] > 1 || times[fmt.Sprintf(kind, n+1)] > 0 {
				return fmt.Errorf("%w: after %d events more than one more is stored", errDoubled, n)
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
					return fmt.Errorf("%w: command of operation %d was not made", errLost, 2*i)
				}
				c, err := tx.Command(ids[i])
				if err != nil {
					return fmt.Errorf("%w: command %d of operation %d: %w", errLost, ids[i], 2*i, err)
				}
				if 2*i+1 < n && c.State != command.Done {
					return fmt.Errorf("%w: command %d: its result was acknowledged, it is %s", errLost, ids[i], c.State)
				}
			}
			return nil
		},
	}
}

// keys creates two API keys and revokes the first of them, over and over.
func (h *house) keys() *writer {
	const name = "crash %d"
	ids := map[int]uint32{} // by the operation that created the key
	return &writer{
		name: "key",
		act: func(ctx context.Context, v *visit, n int) (receipt, error) {
			if n%3 == 2 {
				got, err := v.administer(ctx, "DELETE", fmt.Sprintf("/apikeys/%d", ids[n-2]), "", nil)
				if refusedWith(err, http.StatusUnprocessableEntity) { // it was revoked before the crash
					return v.administer(ctx, "GET", "/apikeys", "", nil)
				}
				return got, err
			}
			var made store.APIKey
			body := fmt.Sprintf(`{"name": %q, "scopes": ["core:read"], "all_networks": true}`, fmt.Sprintf(name, n))
			got, err := v.administer(ctx, "POST", "/apikeys", body, &made)
			if refusedWith(err, http.StatusUnprocessableEntity) { // it was created before the crash
				var keys []store.APIKey
				got, err = v.administer(ctx, "GET", "/apikeys", "", &keys)
				at := slices.IndexFunc(keys, func(k store.APIKey) bool { return k.Name == fmt.Sprintf(name, n) })
				if err == nil && at < 0 {
					err = fmt.Errorf("%w: key %d is neither there nor created", errRefused, n)
				}
				if err == nil {
					made = keys[at]
				}
			}
			ids[n] = made.ID
			return got, err
		},
		check: func(tx *store.Tx, n int) error {
			stored := map[string]bool{}
			keys, err := tx.APIKeys()
			for _, k := range keys {
				stored[k.Name] = true
			}
			for i := range n + 2 {
				isThere := stored[fmt.Sprintf(name, i)]
				switch revoked := i%3 == 0; {
				case i%3 == 2, i == n, revoked && i+2 == n: // no key, or its operation is under way
				case i < n && !(revoked && i+2 < n) && !isThere:
					return fmt.Errorf("%w: key %d of %d operations", errLost, i, n)
				case i < n && revoked && i+2 < n && isThere:
					return fmt.Errorf("%w: key %d is back, which was revoked by operation %d of %d", errDoubled, i, i+2, n)
				case i > n && isThere:
					return fmt.Errorf("%w: key %d after %d operations", errDoubled, i, n)
				}
			}
			return err
		},
	}
}

// memberships makes both guests members of the home, one after the other, and removes
// them again in the same order.
func (h *house) memberships() *writer {
	return &writer{
		name: "membership",
		act: func(ctx context.Context, v *visit, n int) (receipt, error) {
			guest, joins := h.guests[n%2], n%4 < 2
			var members struct {
				Data []struct {
					ID   home.MembershipID
					User home.UserID
				}
			}
			got, err := v.call(ctx, "GET", fmt.Sprintf("/api/v1/network_memberships?network_id=%d", h.home), "", &members)
			if err != nil {
				return "", err
			}
			for _, m := range members.Data {
				if m.User == guest && joins {
					return got, nil // since before the crash
				}
				if m.User == guest {
					return v.call(ctx, "DELETE", fmt.Sprintf("/api/v1/network_memberships/%d", m.ID), "", nil)
				}
			}
			if !joins {
				return got, nil
			}
			body := fmt.Sprintf(`{"role": "member", "network_id": %d, "user_id": %d}`, h.home, guest)
			return v.call(ctx, "POST", "/api/v1/network_memberships", body, nil)
		},
		check: func(tx *store.Tx, n int) error {
			if _, isOwner, err := tx.MembershipOf(h.home, h.user); err != nil || !isOwner {
				return errors.Join(fmt.Errorf("%w: the owner's membership", errLost), err)
			}
			settled := h.guests[(n+1)%2] // the other one may be coming or going
			_, isMember, err := tx.MembershipOf(h.home, settled)
			switch joined := n%4 == 1 || n%4 == 2; {
			case err != nil:
				return err
			case joined && !isMember:
				return fmt.Errorf("%w: the membership of operation %d", errLost, n-1)
			case !joined && isMember:
				return fmt.Errorf("%w: the membership that operation %d ended", errDoubled, n-1)
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
