package inventory

import (
	"encoding/json"
	"maps"
	"slices"

	"sensegate/motion"
	"sensegate/motion/engine/state"
	"sensegate/motion/fault"
	"sensegate/motion/fuse"
	"sensegate/motion/jsonwriter"
)

// NetworkStates are networks that were looked up. It is used by one caller at a time.
type NetworkStates struct {
	inventory *Inventory
	networks  []*state.Network
	writer    recordWriter
}

// NetworkStates returns those of the networks that there are, in the order of the ids.
func (in *Inventory) NetworkStates(ids []motion.NetworkID) (*NetworkStates, error) {
	found := &NetworkStates{inventory: in, networks: make([]*state.Network, 0, len(ids))}
	for _, id := range ids {
		n, err := in.state.Network(id)
		switch {
		case err == nil:
			found.networks = append(found.networks, n)
		case fault.KindOf(err) != fault.NotFound: // or else it was deleted meanwhile
			return nil, err
		}
	}
	return found, nil
}

// Len returns how many there are.
func (s *NetworkStates) Len() int { return len(s.networks) }

// Write writes the record of network i as it is now (payloads.md 4.1), with those of its nodes that are
// wanted; nil: without nodes.
func (s *NetworkStates) Write(w *jsonwriter.Writer, i int, wanted func(motion.Node) bool) {
	n, now := s.networks[i], s.inventory.state.Now()
	var guardian state.NodePresence
	s.writer.present, guardian = s.inventory.presence(s.writer.present, n, now)
	nodes := s.writer.network(w, n, guardian, now, wanted != nil)
	if wanted != nil {
		w.Other(`,"nodes":`, slices.DeleteFunc(nodes, func(node motion.Node) bool { return !wanted(node) }))
	}
	w.Raw("}")
}

// Status returns the most recent status report of a network as JSON: the guardian's own, or,
// where no guardian has ever reported, one composed from the gatekeeper records, sessions and
// links (device-protocol.md 2.5). A network of which nothing was ever heard is NotFound.
func (in *Inventory) Status(id motion.NetworkID) (json.RawMessage, error) {
	n, err := in.state.Network(id)
	if err != nil {
		return nil, err
	}
	now := in.state.Now()
	var r recordWriter
	r.present, _ = in.presence(nil, n, now)
	n.Mu.Lock()
	defer n.Mu.Unlock()
	var w jsonwriter.Writer
	if !r.status(&w, "", n, now) {
		return nil, fault.New(fault.NotFound, "network %d has never reported", id)
	}
	return w.Out, nil
}

// recordWriter writes records of networks one after another, and uses its room again for each.
type recordWriter struct {
	present state.NodePresences // of the network that is written
	nodes   []shownNode
	leafs   []shownLeaf
}

// network writes the record of a network without its end, and returns its nodes when they are to follow.
func (r *recordWriter) network(w *jsonwriter.Writer, n *state.Network, guardian state.NodePresence, now motion.Time, expand bool) []motion.Node {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	online, lastHeard := sign(n, r.present, guardian, now)
	w.Integer(`{"id":`, int64(n.ID))
	w.Text(`,"guardian_id":`, n.Record.GuardianID)
	w.Integer(`,"master_id":`, int64(n.Record.MasterID))
	w.Number(`,"created_at":`, float64(n.Record.CreatedAt))
	w.Number(`,"updated_at":`, float64(n.Record.UpdatedAt))
	w.Number(`,"last_heard":`, float64(lastHeard))
	w.Bool(`,"online":`, online)
	w.Raw(`,"meta":`)
	w.Out = append(w.Out, n.InForce.Meta...)
	w.Raw(`,"guardian_config":`)
	w.Out = append(w.Out, n.InForce.Guardian...)
	w.Raw(`,"radar_config":`)
	w.Out = append(w.Out, n.InForce.Radar...)
	if !r.status(w, `,"last_guardian_status":`, n, now) {
		w.Raw(`,"last_guardian_status":null`)
	}
	if !expand {
		return nil
	}
	return nodesOf(n, r.present, now)
}

// status writes the status report of a network, if there is one; n.Mu is held.
func (r *recordWriter) status(w *jsonwriter.Writer, lead string, n *state.Network, now motion.Time) (reported bool) {
	w.EscapeHTML = true
	defer func() { w.EscapeHTML = false }()
	if n.Status == nil {
		return r.compose(w, lead, n, now)
	}
	report := *n.Status
	report.MotionTripped, report.Leafblower = n.Tripped(now), allowed(n, report.Leafblower)
	w.Report(lead, &report)
	return true
}

// allowed returns what a guardian says of leafs with those that the settings deny as
// not sounded; n.Mu is held.
func allowed(n *state.Network, said map[string]motion.Choice) map[string]motion.Choice {
	var choices map[string]motion.Choice
	for text, choice := range said {
		mac, err := motion.ParseMAC(text)
		if err != nil || choice.Sounding == nil || !*choice.Sounding || n.MayTakePart(fuse.Link{Src: mac}) {
			continue
		}
		if choices == nil {
			choices = maps.Clone(said)
		}
		choice.Sounding = new(bool)
		choices[text] = choice
	}
	if choices == nil {
		return said
	}
	return choices
}
