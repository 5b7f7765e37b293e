package store

import (
	"context"
	"strconv"

	"sensegate/motion/alert"
	"sensegate/motion/fault"
)

// Commit makes what was taken in a network of this box, in one commit, and returns it. The caller
// brings the memory up to date.
func (i *Import) Commit(ctx context.Context) (a Arrival, err error) {
	if i.db == nil {
		return a, fault.New(fault.Conflict, "the import has ended")
	}
	if err := i.flush(ctx); err != nil {
		return a, err
	}
	err = i.db.Update(ctx, func(tx *Tx) error {
		a, err = i.commit(tx)
		return err
	})
	if err != nil {
		return a, err
	}
	i.db.importing.Unlock()
	i.db = nil
	return a, nil
}

// commit stores everything but the history.
func (i *Import) commit(tx *Tx) (a Arrival, err error) {
	if err := i.refuse(tx); err != nil { // it may have come meanwhile
		return a, err
	}
	for _, step := range []func(*Tx) error{i.storeNetwork, i.storeTopology, i.storeDevices, i.storeSettings, i.storeHousehold, i.sumUp} {
		if err := step(tx); err != nil {
			return a, err
		}
	}
	if err := tx.bucket(metaBucket).Delete([]byte(importingKey)); err != nil {
		return a, err
	}
	var all []Arrival
	if err := tx.getMeta(arrivalsKey, &all); err != nil {
		return a, err
	}
	a = Arrival{Copy: i.options.Copy, Receipt: i.options.Receipt, Network: i.staged.Network, Home: i.staged.Home, At: tx.now}
	all = append(all, a)
	return a, tx.putMeta(arrivalsKey, all[max(0, len(all)-maxArrivals):])
}

// storeNetwork stores the network. It stays here, wherever it was sent before, and lets in devices
// that nobody knows when its household says so here.
func (i *Import) storeNetwork(tx *Tx) error {
	n := i.copied.Network
	n.ID, n.MasterID = i.staged.Network, i.nodes[n.MasterID]
	n.Meta = n.Meta.Clone()
	delete(n.Meta, "gatekeeper_redirect")
	if err := networks.put(tx, n.ID, n); err != nil {
		return err
	}
	return tx.SetAdoptionUntil(n.ID, tx.now)
}

// storeTopology stores nodes, leafs and links.
func (i *Import) storeTopology(tx *Tx) error {
	c, network := &i.copied, i.staged.Network
	for _, n := range c.Nodes {
		there := n.ID
		n.ID, n.NetworkID = i.nodes[there], network
		if _, err := tx.PutNode(n); err != nil {
			return err
		}
		radar, known := c.Radars[there]
		if !known {
			continue
		}
		if err := tx.PutRadar(n.ID, radar); err != nil {
			return err
		}
	}
	for _, l := range c.Leafs {
		l.ID, l.NetworkID, l.NodeID = i.nodes[l.ID], network, i.nodes[l.NodeID]
		if _, err := tx.PutLeaf(l); err != nil {
			return err
		}
	}
	for _, l := range c.Links {
		l.NetworkID, l.Dst, l.Src = network, i.nodes[l.Dst], i.nodes[l.Src]
		if err := tx.PutLink(l); err != nil {
			return err
		}
	}
	if c.Status == nil {
		return nil
	}
	report := *c.Status
	report.NetworkID = network
	return tx.PutStatus(report)
}

// storeDevices stores the devices with their tokens.
func (i *Import) storeDevices(tx *Tx) error {
	for _, d := range i.copied.Devices {
		d.NetworkID, d.NodeID = i.staged.Network, i.nodes[d.NodeID]
		if err := tx.PutDevice(d.Device); err != nil {
			return err
		}
		if err := deviceTokens.put(tx, d.DeviceKey, d.Tokens); err != nil {
			return err
		}
	}
	return nil
}

// storeSettings stores what the network has learned, its settings and its alerts.
func (i *Import) storeSettings(tx *Tx) error {
	c, network := &i.copied, i.staged.Network
	if c.Learned != nil {
		if err := tx.PutDetectorState(network, c.Learned); err != nil {
			return err
		}
	}
	if c.Detecting != nil {
		if err := tx.PutEventState(network, c.Detecting); err != nil {
			return err
		}
	}
	if c.Settings != nil {
		c.Settings.NetworkID = network
		if err := tx.PutApplicationSettings(*c.Settings); err != nil {
			return err
		}
	}
	for _, a := range c.Alerts {
		if err := i.storeAlert(tx, a); err != nil {
			return err
		}
	}
	return nil
}

func (i *Import) storeAlert(tx *Tx, a Alert) (err error) {
	if a.Number, err = tx.bucket(alerts.name).NextSequence(); err != nil {
		return err
	}
	text := strconv.FormatUint(a.Number, 10)
	a.State.JobID, a.Rule.ID = text, text
	a.Rule.ExternalID, a.Rule.NetworkID = i.staged.Network, i.staged.Network
	for _, list := range []*[]alert.Action{&a.Rule.NoMotion, &a.Rule.Motion, &a.Rule.NoHistory} {
		*list = i.people.mapActions(*list)
	}
	return alerts.put(tx, a.Key(), a)
}
