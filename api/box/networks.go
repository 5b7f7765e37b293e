package box

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"strconv"
	"time"

	"sensegate/api/box/moving"
	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store"
)

// How a network is on this box.
const (
	NetworkHere  = "here"
	NetworkAside = "set aside" // a copy is on its way to another box: nothing is read or changed here
	NetworkMoved = "moved"     // its devices are sent to another box
	NetworkGone  = "deleted"   // it had moved, and nothing of it is here any more; its devices are sent there still
)

// Network is a network as an administrator sees it: nothing of what its household does.
type Network struct {
	ID       motion.NetworkID `json:"id"`
	Guardian string           `json:"guardian_id"`
	State    string           `json:"state"`
	Devices  int              `json:"devices"` // adopted ones
	People   int              `json:"people"`
	Since    motion.Time      `json:"since,omitzero"`   // of set aside and moved
	To       string           `json:"to,omitempty"`     // of moved: the gatekeeper of the other box
	Left     []string         `json:"left,omitempty"`   // of moved: devices that were not sent there yet
	Others   []string         `json:"others,omitempty"` // of moved: nodes of other makers, which somebody has to point there
}

// Networks returns all networks, by id.
func (b *Box) Networks(ctx context.Context) (list []Network, err error) {
	err = b.DB.View(ctx, func(tx *store.Tx) error {
		all, err := tx.Networks()
		if err != nil {
			return err
		}
		for _, n := range all {
			shown, err := networkOf(tx, n)
			if err != nil {
				return err
			}
			list = append(list, shown)
		}
		gone, err := tx.DepartedNetworks()
		for _, d := range gone {
			list = append(list, Network{ID: d.Network, Guardian: d.Guardian, State: NetworkGone, Devices: len(d.Devices), Since: d.At, To: d.To})
		}
		return err
	})
	return list, err
}

func networkOf(tx *store.Tx, n motion.Network) (shown Network, err error) {
	shown = Network{ID: n.ID, Guardian: n.GuardianID, State: NetworkHere}
	h, away, err := tx.Handover(n.ID)
	if err != nil {
		return shown, err
	}
	if away {
		shown.State, shown.Since, shown.To = NetworkAside, h.Since, h.To
	}
	if h.To != "" {
		shown.State = NetworkMoved
	}
	devices, err := tx.NetworkDevices(n.ID)
	for _, d := range devices {
		if d.Kind != motion.RadarKind {
			continue
		}
		shown.Devices++
		_, sent := h.Sent[d.ID]
		switch {
		case h.To == "" || sent:
		case motion.IsNodeID(d.ID):
			shown.Others = append(shown.Others, d.ID)
		default:
			shown.Left = append(shown.Left, d.ID)
		}
	}
	house, found, err2 := tx.HomeOfNetwork(n.ID)
	if err = errors.Join(err, err2); err != nil || !found {
		return shown, err
	}
	members, err := tx.MembershipsOfHome(house.ID)
	shown.People = len(members)
	return shown, err
}

// SetNetworkAside closes a network, so that a copy of it lacks nothing: engine.SetAside has the rules.
func (b *Box) SetNetworkAside(ctx context.Context, by store.Actor, id motion.NetworkID) (h store.Handover, err error) {
	wanted := store.Handover{Network: id, Copy: moving.NewReceipt(), Receipt: moving.NewReceipt()}
	err = b.change(ctx, by, "network_set_aside", networkName(id), func(_ context.Context, note *store.AuditNote) error {
		if h, err = b.Engine.SetAside(ctx, wanted, func(tx *store.Tx) error { return tx.AddAuditNote(note) }); err == nil && h.Copy != wanted.Copy {
			return errNothing
		}
		return err
	})
	return h, err
}

// ExportNetwork returns a network to be written into a file, and notes that it is handed out. NotFound:
// there is none.
func (b *Box) ExportNetwork(ctx context.Context, by store.Actor, id motion.NetworkID) (s moving.Source, err error) {
	s.Samples = b.Engine.State.Series
	s.Header = moving.Header{
		Copy: moving.NewReceipt(), Receipt: moving.NewReceipt(), Made: motion.TimeOf(time.Now()), Network: id,
		ClockUnset: b.Engine.State.OwnClock.Unset.Load(),
	}
	if _, away := b.Engine.State.Away(id); !away { // what it holds in memory goes along
		if err := b.Engine.Flush(ctx); err != nil {
			return s, err
		}
	}
	err = b.DB.View(ctx, func(tx *store.Tx) (err error) {
		if s.Network, s.Header.Left, err = tx.CopyNetwork(id); err != nil {
			return err
		}
		s.Header.Guardian = s.Network.Network.GuardianID
		h, away, err := tx.Handover(id)
		if away {
			s.Header.Copy, s.Header.Receipt, s.Header.Moves = h.Copy, h.Receipt, true
		}
		return err
	})
	if err == nil {
		s.Header.Bytes, err = b.DB.HistoryBytes(ctx, id)
	}
	if err != nil {
		return s, err
	}
	return s, b.change(ctx, by, "network_exported", networkName(id), func(_ context.Context, note *store.AuditNote) error {
		note.Add("moves", strconv.FormatBool(s.Header.Moves))
		return nil
	})
}

// ImportNetwork takes in what a file holds, all of it or nothing: moving.Stage has the errors.
func (b *Box) ImportNetwork(ctx context.Context, by store.Actor, file io.Reader, join []string) (t moving.Taken, err error) {
	if b.Engine.State.OwnClock.Unset.Load() {
		return t, fault.New(fault.Unavailable, "the clock of this box is not set, so what comes would be in its future: set it first")
	}
	staged, err := moving.Stage(ctx, b.DB, file, join)
	if err != nil {
		return t, err
	}
	err = b.change(context.WithoutCancel(ctx), by, "network_imported", "", func(ctx context.Context, note *store.AuditNote) error {
		for key, value := range staged.Details() {
			note.Add(key, value)
		}
		note.About(networkName(staged.Network()))
		if t, err = staged.Commit(ctx); err == nil && t.Again {
			return errNothing
		}
		return err
	})
	if err != nil || t.Again {
		return t, err
	}
	return t, b.Engine.Arrived(context.WithoutCancel(ctx), t.Network)
}

// HandOverNetwork sends the devices of a network to the box that has taken it in: engine.HandOver has
// the rules. Conflict: to is this box, or nothing answers there.
func (b *Box) HandOverNetwork(ctx context.Context, by store.Actor, id motion.NetworkID, to, receipt string) (h store.Handover, err error) {
	err = b.change(ctx, by, "network_handed_over", networkName(id), func(ctx context.Context, note *store.AuditNote) error {
		note.Add("to", to)
		if err := b.elsewhere(ctx, to); err != nil {
			return err
		}
		h, err = b.Engine.HandOver(ctx, id, to, receipt)
		return err
	})
	return h, err
}

// answerTime is how long another box may take to answer.
const answerTime = 5 * time.Second

// elsewhere returns an error unless a gatekeeper answers at an address, and it is not that of this box.
func (b *Box) elsewhere(ctx context.Context, to string) error {
	at, err := url.Parse(to)
	if err != nil || at.Host == "" || b.Ready == nil {
		return nil // told by the rules; without an appliance that runs, the other box may be off too
	}
	port := at.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[at.Scheme]
	}
	dialer := net.Dialer{Timeout: answerTime}
	conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(at.Hostname(), port))
	if err != nil {
		return fault.New(fault.Conflict, "nothing answers at %s, so devices sent there would be lost: check the address, and that the other box runs", at.Host)
	}
	defer conn.Close()
	near, _, _ := net.SplitHostPort(conn.LocalAddr().String())
	far, _, _ := net.SplitHostPort(conn.RemoteAddr().String())
	if near == far && b.Ports != nil && slices.Contains(b.Ports(), port) {
		return fault.New(fault.Conflict, "%s is this box itself: want the address of the other one", at.Host)
	}
	return nil
}

// TakeBackNetwork lets a network that was set aside or handed over go on here. It returns how it was
// on its way. NotFound: it was not.
func (b *Box) TakeBackNetwork(ctx context.Context, by store.Actor, id motion.NetworkID) (h store.Handover, err error) {
	err = b.change(ctx, by, "network_taken_back", networkName(id), func(ctx context.Context, _ *store.AuditNote) error {
		h, err = b.Engine.TakeBack(ctx, id)
		return err
	})
	return h, err
}

// DeleteNetwork deletes a network with all that belongs to it, whether it is here or has moved. Of one
// that is here, with nobody in it, its devices may form a new one. Conflict: people belong to one that
// is here. NotFound: there is none.
func (b *Box) DeleteNetwork(ctx context.Context, by store.Actor, id motion.NetworkID) error {
	return b.change(ctx, by, "network_deleted", networkName(id), func(ctx context.Context, _ *store.AuditNote) error {
		if _, away := b.Engine.State.Away(id); away {
			if b.Uplinks != nil {
				if err := b.Uplinks.HasSent(ctx, id); err != nil {
					return err
				}
			}
			return b.Engine.Devices.DeleteAway(ctx, id)
		}
		return b.Engine.Devices.DeleteNetwork(ctx, id, func(tx *store.Tx) error {
			house, found, err := tx.HomeOfNetwork(id)
			if err != nil || !found {
				return err
			}
			members, err := tx.MembershipsOfHome(house.ID)
			if err == nil && len(members) > 0 {
				err = fault.New(fault.Conflict, "network %d: %d people belong to it: its owner deletes it in the app", id, len(members))
			}
			return err
		})
	})
}

func networkName(id motion.NetworkID) string { return fmt.Sprint("network ", id) }
