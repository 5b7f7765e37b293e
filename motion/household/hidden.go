package household

import (
	"context"
	"slices"

	"sensegate/motion"
	"sensegate/motion/engine/sensing"
	"sensegate/motion/fault"
	"sensegate/store"
)

// hides reports whether a leaf is kept from a viewer: people carry about what moves, so when it is
// heard tells when they are at home. Nobody has said of a leaf without a room that it stays in its
// place: it may be a phone, and is kept from them too.
func (v Viewer) hides(leaf motion.Leaf) bool { return !v.Resident && leaf.IsMobile() }

// hidden returns the leafs of a network that are kept from a viewer.
func (h *Household) hidden(ctx context.Context, network motion.NetworkID, who Viewer) (map[motion.NodeID]bool, error) {
	if who.Resident {
		return nil, nil
	}
	leafs, err := store.Read(ctx, h.db, func(tx *store.Tx) ([]motion.Leaf, error) { return tx.Leafs(network) })
	hidden := map[motion.NodeID]bool{}
	for _, leaf := range leafs {
		hidden[leaf.ID] = who.hides(leaf)
	}
	return hidden, err
}

// hiddenEnd reports whether a link begins at a leaf that is hidden. A leaf without a record is hidden,
// too: nobody has placed it.
func hiddenEnd(from sensing.LinkEnd, hidden map[motion.NodeID]bool) bool {
	return hidden != nil && !from.Node && (from.ID == 0 || hidden[from.ID])
}

// Calibrate begins to calibrate a link of a network, or all for "". Errors are those of Calibrate of the
// engine; a link that is kept from the viewer is not known.
func (h *Household) Calibrate(ctx context.Context, network motion.NetworkID, who Viewer, link string) error {
	if err := h.mayCalibrate(ctx, network, who, link); err != nil {
		return err
	}
	_, err := h.engine.Sensing.Calibrate(network, link)
	return err
}

// CancelCalibration ends the calibration of a link of a network, or of all for "". Errors are as those
// of Calibrate.
func (h *Household) CancelCalibration(ctx context.Context, network motion.NetworkID, who Viewer, link string) error {
	if err := h.mayCalibrate(ctx, network, who, link); err != nil {
		return err
	}
	_, err := h.engine.Sensing.CancelCalibration(network, link)
	return err
}

// mayCalibrate returns the fault of a link that is not there for one that is kept from the viewer.
func (h *Household) mayCalibrate(ctx context.Context, network motion.NetworkID, who Viewer, link string) error {
	hidden, err := h.hidden(ctx, network, who)
	if err != nil || hidden == nil || link == "" {
		return err
	}
	links, err := h.engine.Sensing.ExplainLinks(network)
	if slices.ContainsFunc(links, func(l sensing.LinkState) bool { return l.Link == link && hiddenEnd(l.From, hidden) }) {
		return fault.New(fault.NotFound, "link %q is not sensed here: links shows those that are", link)
	}
	return err
}

// withoutHidden returns what a walk test has found without the links that are hidden.
func withoutHidden(s sensing.WalkState, hidden map[motion.NodeID]bool) sensing.WalkState {
	s.Rooms = slices.Clone(s.Rooms)
	for i := range s.Rooms {
		links := slices.Clone(s.Rooms[i].Links)
		for k := len(links) - 1; k >= 0; k-- {
			if hiddenEnd(s.Links[links[k].Link].From, hidden) {
				links = slices.Delete(links, k, k+1)
			}
		}
		s.Rooms[i].Links = links
	}
	return s
}
