package homeassistant

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"sensegate/motion"
	"sensegate/motion/peer"
	"sensegate/motion/uplink"
)

// run is one connection of a Part. Its goroutine alone uses it.
type run struct {
	*Part
	peer     uplink.Peer
	in       *inbox
	follower Follower
	describe describer

	kept    Published                      // what may be retained at the broker
	groups  map[motion.NetworkID]Published // what is wanted, by network; 0: of the appliance
	sent    map[string]string              // payloads by topic
	limit   *peer.Buckets[struct{}]
	touched []motion.NetworkID // networks that commands were about
	repeat  bool               // tell again what is told once a minute
}

// work does what the inbox has.
func (r *run) work(ctx context.Context, w work) error {
	r.touched = nil
	for _, c := range w.commands {
		r.carryOut(ctx, c)
	}
	for _, id := range r.touched {
		if !slices.Contains(w.networks, id) {
			w.networks = append(w.networks, id)
		}
	}
	if w.all {
		if err := r.all(ctx, w.anew); err != nil {
			return err
		}
	}
	for _, id := range w.networks {
		if w.all || !slices.Contains(r.follower.Networks(), id) {
			continue
		}
		list, ok, err := r.network(ctx, id)
		if err == nil && ok {
			err = r.tell(ctx, map[motion.NetworkID][]message{id: list})
		}
		if err != nil {
			return err
		}
	}
	for _, e := range w.events {
		m := r.describe.event(&e)
		if err := r.peer.Publish(ctx, uplink.Message{Topic: m.topic, Payload: m.payload, QoS: m.qos}); err != nil {
			return err
		}
	}
	return nil
}

// all tells everything that differs from what was told on this connection; anew: everything.
func (r *run) all(ctx context.Context, anew bool) error {
	if anew {
		clear(r.sent)
	}
	box, err := r.follower.Box(ctx)
	if err != nil {
		return err
	}
	r.describe = describer{r.o, box}
	wanted := map[motion.NetworkID][]message{0: r.describe.boxMessages()}
	for _, id := range r.follower.Networks() {
		list, ok, err := r.network(ctx, id)
		if err != nil {
			return err
		}
		if ok {
			wanted[id] = list
		}
	}
	for id := range r.groups {
		if wanted[id] == nil {
			delete(r.groups, id)
		}
	}
	err = r.tell(ctx, wanted)
	r.repeat = false
	return err
}

// network returns the messages about a network, false when there is none.
func (r *run) network(ctx context.Context, id motion.NetworkID) ([]message, bool, error) {
	n, ok, err := r.follower.Network(ctx, id)
	if err != nil || !ok {
		return nil, false, err
	}
	return r.describe.network(&n), true, nil
}

// tell keeps which topics are wanted of some groups, clears what is no longer wanted, and publishes
// what differs. Topics are kept before they are published: after a power cut they can be cleared.
func (r *run) tell(ctx context.Context, groups map[motion.NetworkID][]message) error {
	for id, list := range groups {
		topics := Published{}
		for _, m := range list {
			topics[m.topic] = m.parts
		}
		r.groups[id] = topics
	}
	wanted := Published{}
	for _, topics := range r.groups {
		maps.Copy(wanted, topics)
	}
	if err := r.keep(ctx, r.kept.with(wanted)); err != nil {
		return err
	}
	if err := r.clear(ctx, wanted); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(groups)) {
		for _, m := range groups[id] {
			if err := r.publish(ctx, m); err != nil {
				return err
			}
		}
	}
	return r.keep(ctx, wanted)
}

// with returns what is published with what is to be: of an entity that changes its platform the
// former one.
func (p Published) with(more Published) Published {
	both := maps.Clone(more)
	for topic, parts := range p {
		merged := maps.Clone(both[topic])
		for key, platform := range parts {
			if merged == nil {
				merged = map[string]string{}
			}
			merged[key] = platform
		}
		both[topic] = merged
	}
	return both
}

// publish sends a retained message unless the broker has it. Before entities of a device go, a message
// with nothing but their platform makes Home Assistant forget them.
func (r *run) publish(ctx context.Context, m message) error {
	before, told := r.sent[m.topic]
	same, due := told && before == string(m.payload), r.repeat || !told
	if m.payload == nil || same && !(m.repeat && due) || m.slow && !due {
		return nil
	}
	payloads := [][]byte{m.payload}
	if gone := removed(r.kept[m.topic], m.parts); len(gone) > 0 {
		payloads = [][]byte{withComponents(m.payload, gone), m.payload}
	}
	for _, payload := range payloads {
		if err := r.peer.Publish(ctx, uplink.Message{Topic: m.topic, Payload: payload, QoS: m.qos, Retain: true}); err != nil {
			return err
		}
	}
	r.sent[m.topic] = string(m.payload)
	return nil
}

// removed returns the entities that are no longer there, or have another platform now.
func removed(before, after map[string]string) map[string]string {
	gone := maps.Clone(before)
	maps.DeleteFunc(gone, func(key, platform string) bool { return after[key] == platform })
	return gone
}

// withComponents returns discovery in which some entities have nothing but their platform.
func withComponents(discovery []byte, platforms map[string]string) []byte {
	var whole map[string]any
	if err := json.Unmarshal(discovery, &whole); err != nil {
		panic(err)
	}
	components := whole["components"].(map[string]any)
	for key, platform := range platforms {
		components[key] = object{"platform": platform}
	}
	return encode(whole)
}

// clear removes from the broker what is no longer wanted.
func (r *run) clear(ctx context.Context, wanted Published) error {
	for _, topic := range slices.Sorted(maps.Keys(r.kept)) {
		if _, stays := wanted[topic]; stays {
			continue
		}
		if err := r.peer.Publish(ctx, uplink.Message{Topic: topic, QoS: 1, Retain: true}); err != nil {
			return err
		}
		delete(r.sent, topic)
	}
	return nil
}

// keep stores what may be retained at the broker, when it differs.
func (r *run) keep(ctx context.Context, p Published) error {
	if maps.EqualFunc(r.kept, p, maps.Equal) {
		return nil
	}
	if err := r.o.Kept.Store(ctx, p); err != nil {
		return err
	}
	r.kept = p
	return nil
}

// tellIntensity tells the newest intensities, which the broker does not keep.
func (r *run) tellIntensity() {
	for _, id := range r.follower.Networks() {
		if v, known := r.follower.Intensity(id); known {
			r.peer.Offer(uplink.Message{Topic: r.describe.topic(id, "intensity"), Payload: strconv.AppendFloat(nil, v, 'f', 2, 64)})
		}
	}
}
