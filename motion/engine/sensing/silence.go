package sensing

import (
	"context"
	"fmt"
	"math"

	"sensegate/motion"
	"sensegate/motion/engine/inventory"
	"sensegate/motion/engine/state"
	"sensegate/motion/fault"
	"sensegate/motion/fuse"
	"sensegate/store"
)

// disconnectLinks notes links as gone.
func (se *Sensing) disconnectLinks(ctx context.Context, n *network, names []string, now motion.Time) error {
	n.Mu.Lock()
	record := n.Record
	n.Mu.Unlock()
	err := se.inventory.Apply(ctx, n.Network, func(tx *store.Tx) (*inventory.Update, error) {
		v := inventory.NewUpdate(tx, record, now)
		v.Silent = true
		for _, name := range names {
			link, err := tx.Link(n.ID, name)
			if err != nil || !link.Online {
				continue
			}
			if err := v.Disconnect(link); err != nil {
				return nil, err
			}
		}
		return v, nil
	})
	if fault.KindOf(err) != 0 {
		se.state.Log.Error("silent links not recorded", "network", n.ID, "err", err)
		return nil
	}
	return err
}

// advanceNetwork moves one network on and returns the names of the links that
// are sensed here and have fallen silent.
func (se *Sensing) advanceNetwork(n *network, now motion.Time) (silent []string) {
	n.Mu.Lock()
	defer n.Mu.Unlock()
	if length := motion.Seconds(n.Guardian.LiveMotion.Interval) / 1000; n.Record.Paused() && math.Abs(now.Since(n.live.paused)) >= length {
		n.live.paused = now
		se.publishLive(n, fuse.Silence(now, length))
	}
	if n.walk != nil {
		n.walk.Advance(now)
	}
	n.chooseLinks(now)
	n.pipeline.fuser.Advance(now)
	se.absorb(n)
	if transition, ended := n.pipeline.machine.Advance(n.Reach.At(now)); ended {
		se.transition(n, transition)
	}
	for name, link := range n.Links {
		if state.SensedHere(link.Link) && link.Online && now.Since(max(link.Heard, link.LastHeard, se.state.Begun())) > state.SilentAfter {
			silent = append(silent, name)
		}
	}
	return silent
}

// Advance moves networks on whose links are silent: their samples become "no
// data", and links that were silent for long are noted as gone.
func (se *Sensing) Advance(ctx context.Context, now motion.Time) error {
	for _, n := range se.state.All() {
		var silent []string
		_ = se.state.Contained.Run(fmt.Sprintf("advance network %d", n.ID), func() error {
			silent = se.advanceNetwork(networkOf(n), now)
			networkOf(n).trace(now)
			return nil
		})
		if len(silent) == 0 {
			continue
		}
		if err := se.disconnectLinks(ctx, networkOf(n), silent, now); err != nil {
			return err
		}
	}
	return nil
}
