package sensing

import (
	"context"
	"maps"
	"strings"

	"sensegate/motion"
	"sensegate/motion/detect"
	"sensegate/motion/engine/inventory"
	"sensegate/store"
)

// RemoveLeaf forgets a leaf of a network with its links and what they have learned. It comes back,
// without its name and room, when a node is heard from it. NotFound: no such leaf.
func (se *Sensing) RemoveLeaf(ctx context.Context, id motion.NetworkID, leaf motion.NodeID) error {
	n, err := se.network(id)
	if err != nil {
		return err
	}
	n.Mu.Lock()
	record := n.Record
	n.Mu.Unlock()
	var mac motion.MAC
	err = se.inventory.Apply(ctx, n.Network, func(tx *store.Tx) (*inventory.Update, error) {
		v := inventory.NewUpdate(tx, record, se.state.Now())
		mac, err = v.DropLeaf(leaf)
		return v, err
	})
	if err != nil {
		return err
	}
	n.Mu.Lock()
	defer n.Mu.Unlock()
	for key := range n.pipeline.sensors {
		if key.Src == mac {
			delete(n.pipeline.sensors, key)
			n.pipeline.fuser.Remove(key)
		}
	}
	from := func(name string, _ detect.Learned) bool { return strings.HasPrefix(name, mac.Name()+">") }
	maps.DeleteFunc(n.pipeline.learned.Links, from)
	maps.DeleteFunc(n.pipeline.learned.Coarse, from)
	return nil
}
