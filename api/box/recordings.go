package box

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"sensegate/api/box/recording"
	"sensegate/motion"
	"sensegate/motion/engine/sensing"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/household"
	"sensegate/store"
)

// Recordings are those that somebody may see: at the terminal all, in the web app those of homes
// where they live.
type Recordings struct {
	Running  *recording.Recording  `json:"running"` // nil: none that they may see
	Busy     bool                  `json:"busy"`    // one runs, whether they may see it or not
	Complete []recording.Recording `json:"complete"`
}

// recorder returns the recorder of the running appliance.
func (b *Box) recorder() (*recording.Recorder, error) {
	if b.Recorder == nil || b.Household == nil {
		return nil, fault.New(fault.Unavailable, "the running appliance records: start it first")
	}
	return b.Recorder, nil
}

// StartRecording begins to record raw CSI of a network, 0: of the only one. Its household is told.
// Its errors are those of recording.Start and household.Recordable. NotFound: a link is not known.
func (b *Box) StartRecording(ctx context.Context, by store.Actor, order recording.Order) (begun recording.Recording, err error) {
	r, err := b.recorder()
	if err != nil {
		return begun, err
	}
	err = b.change(ctx, by, "recording_started", "", func(ctx context.Context, note *store.AuditNote) error {
		err := b.DB.View(ctx, func(tx *store.Tx) (err error) {
			if order.Network, err = oneNetwork(tx, order.Network); err != nil {
				return err
			}
			house, err := household.Recordable(tx, order.Network, by.UserID)
			order.Home, order.User = house.ID, by.UserID
			return err
		})
		if err := cmp.Or(err, b.knowsLinks(order)); err != nil {
			return err
		}
		if begun, err = r.Start(order); err != nil {
			return err
		}
		note.About(begun.Name)
		note.Add("network", fmt.Sprint(order.Network))
		note.Add("minutes", fmt.Sprint(order.Minutes))
		note.Add("links", cmp.Or(strings.Join(order.Links, " "), "all"))
		if order.Home == 0 {
			return nil
		}
		return b.Household.TellRecording(ctx, order.Home, by.UserID, order.Minutes)
	})
	if err != nil && begun.Name != "" { // nobody was told
		_, stopped := r.Stop()
		return recording.Recording{}, errors.Join(err, stopped, r.Delete(begun.Name))
	}
	return begun, err
}

// oneNetwork returns the network that was named, or the only one when none (0) was.
func oneNetwork(tx *store.Tx, named motion.NetworkID) (motion.NetworkID, error) {
	all, err := tx.Networks()
	switch {
	case named != 0 || err != nil:
		return named, err
	case len(all) != 1:
		return 0, fault.New(fault.Invalid, "there are %d networks: add -network ID for the one to record", len(all))
	}
	return all[0].ID, nil
}

// knowsLinks returns NotFound for a link that the network does not have.
func (b *Box) knowsLinks(order recording.Order) error {
	if len(order.Links) == 0 {
		return nil
	}
	known, err := b.Engine.Sensing.ExplainLinks(order.Network)
	if err != nil {
		return err
	}
	for _, link := range order.Links {
		if !slices.ContainsFunc(known, func(l sensing.LinkState) bool { return l.Link == link }) {
			return fault.New(fault.NotFound, "link %.40q is not known", link)
		}
	}
	return nil
}

// Recordings returns the recordings that somebody may see, the newest first.
func (b *Box) Recordings(ctx context.Context, by store.Actor) (found Recordings, err error) {
	r, err := b.recorder()
	if err != nil {
		return found, err
	}
	running, _, busy := r.Running()
	list, err := r.List()
	if err != nil {
		return found, err
	}
	err = b.DB.View(ctx, func(tx *store.Tx) (err error) {
		if found.Busy = busy; busy {
			if sees, err := mayHave(tx, by, running); err != nil {
				return err
			} else if sees {
				found.Running = &running
			}
		}
		found.Complete, err = keep(list, func(one recording.Recording) (bool, error) { return mayHave(tx, by, one) })
		return err
	})
	return found, err
}

// mayHave reports whether somebody may see a recording.
func mayHave(tx *store.Tx, by store.Actor, of recording.Recording) (bool, error) {
	if by.Kind != store.ByAccount {
		return true, nil
	}
	kept, err := belongs(tx, of)
	if err != nil || !kept || of.Home == 0 {
		return false, err
	}
	_, lives, err := tx.MembershipOf(of.Home, by.UserID)
	return lives, err
}

// belongs reports whether a recording is of the household that its network has now, or of none.
func belongs(tx *store.Tx, of recording.Recording) (bool, error) {
	house, err := household.Recordable(tx, of.Network, 0)
	if fault.KindOf(err) == fault.NotFound {
		return false, nil
	}
	return house.ID == of.Home && house.ClaimedAt <= of.Started, err
}

// LabelRecording says what happens while the recording runs. NotFound: none runs that they may see.
func (b *Box) LabelRecording(ctx context.Context, by store.Actor, label recording.Label) error {
	if err := b.seesRunning(ctx, by); err != nil {
		return err
	}
	return b.Recorder.Label(label)
}

// StopRecording ends the recording that runs. NotFound: none runs that they may see.
func (b *Box) StopRecording(ctx context.Context, by store.Actor) (recording.Recording, error) {
	if err := b.seesRunning(ctx, by); err != nil {
		return recording.Recording{}, err
	}
	return b.Recorder.Stop()
}

func (b *Box) seesRunning(ctx context.Context, by store.Actor) error {
	found, err := b.Recordings(ctx, by)
	if err == nil && found.Running == nil {
		err = fault.New(fault.NotFound, "no recording runs")
	}
	return err
}

// findRecording returns a complete recording. NotFound: there is none that they may see.
func (b *Box) findRecording(ctx context.Context, by store.Actor, name string) (recording.Recording, error) {
	found, err := b.Recordings(ctx, by)
	for _, one := range found.Complete {
		if one.Name == name {
			return one, nil
		}
	}
	return recording.Recording{}, cmp.Or(err, error(fault.New(fault.NotFound, "recording %.80q is not known", name)))
}

// ReadRecording notes that somebody reads a recording, and returns it: WriteRecording and
// OpenRecording read its files. NotFound: there is none that they may see.
func (b *Box) ReadRecording(ctx context.Context, by store.Actor, name string) (found recording.Recording, err error) {
	err = b.change(ctx, by, "recording_read", name, func(ctx context.Context, _ *store.AuditNote) (err error) {
		found, err = b.findRecording(ctx, by, name)
		return err
	})
	return found, err
}

// WriteRecording writes the files of a recording as one zip archive.
func (b *Box) WriteRecording(w io.Writer, of recording.Recording) error {
	return b.Recorder.WriteZip(w, of)
}

// OpenRecording opens a file of a recording; the caller closes it.
func (b *Box) OpenRecording(name, file string) (io.ReadCloser, error) {
	r, err := b.recorder()
	if err != nil {
		return nil, err
	}
	return r.Open(name, file)
}

// DeleteRecording deletes a recording. NotFound: there is none that they may see.
func (b *Box) DeleteRecording(ctx context.Context, by store.Actor, name string) error {
	return b.change(ctx, by, "recording_deleted", name, func(ctx context.Context, _ *store.AuditNote) error {
		if _, err := b.findRecording(ctx, by, name); err != nil {
			return err
		}
		return b.Recorder.Delete(name)
	})
}

// RightsChanged has Run look soon whether somebody records who may not any more, and whether
// recordings have lost their household. It does not wait.
func (b *Box) RightsChanged() {
	select {
	case b.changed <- struct{}{}:
	default:
	}
}

// DropForsaken ends the recording of somebody who may not record any more, and deletes those
// whose household is gone.
func (b *Box) DropForsaken(ctx context.Context) error {
	running, user, busy := b.Recorder.Running()
	list, err := b.Recorder.List()
	if err != nil {
		return err
	}
	goesOn := true
	err = b.DB.View(ctx, func(tx *store.Tx) (err error) {
		if busy {
			if goesOn, err = mayGoOn(tx, running, user); err != nil {
				return err
			}
		}
		list, err = keep(list, func(one recording.Recording) (bool, error) {
			kept, err := belongs(tx, one)
			return !kept, err
		})
		return err
	})
	if err != nil {
		return err
	}
	for _, one := range list {
		b.Log.Info("recording deleted: its household is gone", "recording", one.Name)
		err = errors.Join(err, b.Recorder.Delete(one.Name))
	}
	if goesOn || err != nil {
		return err
	}
	if _, err := b.Recorder.Stop(); err != nil && fault.KindOf(err) != fault.NotFound {
		return err
	}
	return b.DropForsaken(ctx) // it may be one to delete
}

// mayGoOn reports whether whoever has begun a recording might still begin it.
func mayGoOn(tx *store.Tx, running recording.Recording, user home.UserID) (bool, error) {
	kept, err := belongs(tx, running)
	if err != nil || !kept || user == 0 {
		return kept, err
	}
	if _, lives, err := tx.MembershipOf(running.Home, user); err != nil || !lives {
		return false, err
	}
	return tx.IsAdministrator(user)
}

// keep returns the recordings for which is is true.
func keep(list []recording.Recording, is func(recording.Recording) (bool, error)) ([]recording.Recording, error) {
	kept := []recording.Recording{}
	for _, one := range list {
		yes, err := is(one)
		if err != nil {
			return nil, err
		}
		if yes {
			kept = append(kept, one)
		}
	}
	return kept, nil
}
