package engine

import (
	"context"
	"net/url"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store"
)

// SetAside closes a network that goes to another box: its devices are refused, to come again with
// what was not acknowledged, and nothing of it is read or written here any more. All that was
// acknowledged is in the database when it returns, so that a copy that is made from then on lacks
// nothing. It returns how the network is on its way; one that is so already is left as it is. first
// runs in the transaction. NotFound: there is no such network.
func (e *Engine) SetAside(ctx context.Context, h store.Handover, first func(*store.Tx) error) (store.Handover, error) {
	already, found, err := e.handover(ctx, h.Network)
	if err != nil || found {
		return already, err
	}
	if err := e.State.Known(h.Network); err != nil {
		return h, err
	}
	if err := e.State.Close(h.Network); err != nil {
		return h, err
	}
	defer e.State.Reopen(h.Network)
	if err := e.Commands.Cancel(ctx, h.Network, 0); err != nil {
		return h, err
	}
	if err := e.Flush(ctx); err != nil { // where devices were last, and what their links have learned
		return h, err
	}
	if err := e.Devices.EndSessionsOf(ctx, h.Network, "network goes to another box"); err != nil {
		return h, err
	}
	err = e.afterEvents(context.WithoutCancel(ctx), func(tx *store.Tx) error {
		h.Since = tx.Now()
		if err := e.State.Series.SealSamples(tx, h.Network); err != nil {
			return err
		}
		if err := tx.PutHandover(h); err != nil {
			return err
		}
		return first(tx)
	})
	if err != nil {
		return h, err
	}
	e.State.SetAway(h)
	e.State.ForgetNetwork(h.Network)
	e.State.Log.Info("network on its way to another box", "network", h.Network)
	return h, nil
}

// afterEvents runs a change in the order of events: those that were queued before are stored before.
func (e *Engine) afterEvents(ctx context.Context, change func(*store.Tx) error) error {
	if !e.running.Load() {
		return e.State.DB.Update(ctx, change)
	}
	return e.Events.RecordChange(ctx, func(tx *store.Tx) ([]motion.Event, error) { return nil, change(tx) })
}

// handover returns how a network is on its way to another box.
func (e *Engine) handover(ctx context.Context, id motion.NetworkID) (h store.Handover, found bool, err error) {
	err = e.State.DB.View(ctx, func(tx *store.Tx) error {
		h, found, err = tx.Handover(id)
		return err
	})
	return h, found, err
}

// HandOver sends the devices of a network that was set aside to the gatekeeper of the box that has
// taken it in, as receipt shows. NotFound: the network is not set aside. Invalid: to is no address
// of a gatekeeper, or the receipt is not that of its copy.
func (e *Engine) HandOver(ctx context.Context, id motion.NetworkID, to, receipt string) (h store.Handover, err error) {
	at, err := url.Parse(to)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" || len(to) > 255 {
		return h, fault.New(fault.Invalid, "gatekeeper: want the address of the other box's, such as http://192.168.10.3:8080/gatekeeper")
	}
	if at.Path == "" || at.Path == "/" {
		at.Path = "/gatekeeper"
	}
	err = e.State.DB.Update(ctx, func(tx *store.Tx) (err error) {
		var found bool
		h, found, err = tx.Handover(id)
		switch {
		case err != nil:
			return err
		case !found:
			return fault.New(fault.NotFound, "network %d is not on its way to another box: export it first (sensegate network export -move %[1]d)", id)
		case receipt != h.Receipt:
			return fault.New(fault.Invalid, "receipt: is not what the other box has shown when it took the network in (sensegate network import)")
		}
		if to := at.String(); to != h.To {
			h.To, h.Sent = to, nil // nobody was sent there yet
		}
		return tx.PutHandover(h)
	})
	if err != nil {
		return h, err
	}
	e.State.SetAway(h)
	e.State.Log.Info("devices of a network are sent to another box", "network", id)
	return h, nil
}

// TakeBack lets a network that was set aside, or handed over, go on here. It returns how it was on
// its way. Of one whose copy was deleted here, the devices may join and form networks here again.
// NotFound: it was not on its way.
func (e *Engine) TakeBack(ctx context.Context, id motion.NetworkID) (h store.Handover, err error) {
	var departed bool
	err = e.State.DB.Update(ctx, func(tx *store.Tx) (err error) {
		var found bool
		if departed, err = tx.RemoveDeparted(func(d store.Departed) bool { return d.Network == id }); err != nil || departed {
			h.Network = id
			return err
		}
		if h, found, err = tx.Handover(id); err == nil && !found {
			err = fault.New(fault.NotFound, "network %d is not on its way to another box", id)
		}
		if err != nil {
			return err
		}
		return tx.DeleteHandover(id)
	})
	if err != nil {
		return h, err
	}
	if departed {
		return h, e.readDeparted(ctx)
	}
	e.State.ForgetAway(id)
	return h, e.Arrived(context.WithoutCancel(ctx), id)
}

// readDeparted brings the memory up to date with which networks have departed.
func (e *Engine) readDeparted(ctx context.Context) error {
	all, err := store.Read(context.WithoutCancel(ctx), e.State.DB, (*store.Tx).DepartedNetworks)
	if err == nil {
		e.State.SetDeparted(all)
	}
	return err
}

// Arrived brings the memory up to date with a network that was stored as a whole.
func (e *Engine) Arrived(ctx context.Context, id motion.NetworkID) error {
	if err := e.State.Reload(ctx, id); err != nil {
		return err
	}
	back := false // a network that had departed
	err := e.State.DB.Update(ctx, func(tx *store.Tx) error {
		network, err := tx.Network(id)
		if err == nil {
			back, err = tx.RemoveDeparted(func(d store.Departed) bool { return d.Guardian == network.GuardianID })
		}
		return err
	})
	if err == nil && back {
		err = e.readDeparted(ctx)
	}
	if err != nil {
		return err
	}
	return e.Alerts.Requeue(ctx)
}
