package devices

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

const (
	// pendingLimit is how many entries can wait for adoption
	// (device-protocol.md 1).
	pendingLimit = 256
	// pendingNodes is how many of them can be of nodes of other makers.
	pendingNodes = 64
	// approvalHolds is how long an approval by hand waits for the device's next post.
	approvalHolds motion.Seconds = 24 * 3600
	// pendingNamed is how many entries a message lists at most.
	pendingNamed = 8
)

// pendingList holds the devices that wait for adoption. What is stored of it may be as
// old as what links have learned: devices that wait post again within a minute. An
// approval is stored at once.
type pendingList struct {
	mu      sync.Mutex
	entries []motion.PendingDevice
	stale   bool // an entry came, went or waits for another reason since it was stored
}

// same reports whether a post shows what an entry holds. The network of a peer's
// location_id may have been formed meanwhile.
func same(entry, shown motion.PendingDevice) bool {
	return entry.DeviceID == shown.DeviceID && entry.NodeName == shown.NodeName &&
		entry.LocationID == shown.LocationID && entry.RootMode == shown.RootMode && entry.Address == shown.Address &&
		(entry.NetworkID == shown.NetworkID || entry.NetworkID == 0 && !shown.Mesh && shown.RootMode != motion.RootModeMaster)
}

// note lists a post that was refused, or counts it where it shows what an entry holds.
// When the list is full, the entry that was seen longest ago goes; those approved by
// hand go last, so that a flood of strangers does not undo an approval, and nodes of other makers, which
// cost less to invent, first.
func (l *pendingList) note(shown motion.PendingDevice, now motion.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.entries, func(p motion.PendingDevice) bool { return same(p, shown) })
	if i < 0 {
		if len(l.entries) >= pendingLimit || motion.NodeKindOf(shown.DeviceID) != "" && l.nodes() >= pendingNodes {
			oldest := slices.MaxFunc(l.entries, byEviction)
			l.entries = slices.DeleteFunc(l.entries, func(p motion.PendingDevice) bool { return p.ID == oldest.ID })
		}
		shown.ID, shown.FirstSeen = store.NewPendingID(), now
		l.entries, l.stale = append(l.entries, shown), true
		i = len(l.entries) - 1
	}
	entry := &l.entries[i]
	l.stale = l.stale || entry.Reason != shown.Reason || entry.NetworkID != shown.NetworkID
	entry.Reason, entry.NetworkID, entry.Mesh, entry.LastSeen = shown.Reason, shown.NetworkID, shown.Mesh, now
	entry.Posts++
}

// nodes returns how many entries are of nodes of other makers, without those approved by hand.
func (l *pendingList) nodes() (n int) {
	for _, p := range l.entries {
		if motion.NodeKindOf(p.DeviceID) != "" && !p.Approved {
			n++
		}
	}
	return n
}

// byEviction orders entries by how soon they may go: the last goes first.
func byEviction(a, b motion.PendingDevice) int {
	if a.Approved != b.Approved {
		if a.Approved {
			return -1
		}
		return 1
	}
	if a, b := motion.NodeKindOf(a.DeviceID) != "", motion.NodeKindOf(b.DeviceID) != ""; a != b {
		if b {
			return -1
		}
		return 1
	}
	return cmp.Compare(b.LastSeen, a.LastSeen)
}

// list returns the entries, those seen last first.
func (l *pendingList) list() []motion.PendingDevice {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := slices.Clone(l.entries)
	sort.SliceStable(list, func(i, j int) bool { return list[j].LastSeen < list[i].LastSeen })
	return list
}

// approvals returns the entries that hold exactly what a post shows and were approved by
// hand.
func (l *pendingList) approvals(shown motion.PendingDevice) (list []motion.PendingDevice) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.entries {
		if p.Approved && same(p, shown) {
			list = append(list, p)
		}
	}
	return list
}

// approve marks an entry as approved by hand, as approval says, or not approved.
func (l *pendingList) approve(id string, approval motion.PendingDevice) (motion.PendingDevice, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.entries {
		if p := &l.entries[i]; p.ID == id {
			p.Approved, p.ApprovedBy, p.ApprovedFor, p.ApprovedAt = approval.Approved, approval.ApprovedBy, approval.ApprovedFor, approval.ApprovedAt
			p.Installer = approval.Installer
			l.stale = true
			return *p, nil
		}
	}
	return motion.PendingDevice{}, notPending(id)
}

// notPending is the fault of a device that does not wait.
func notPending(id string) error {
	return fault.New(fault.NotFound, "pending device %s: not found", id)
}

// take removes the entries that match and returns them.
func (l *pendingList) take(match func(motion.PendingDevice) bool) (taken []motion.PendingDevice) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = slices.DeleteFunc(l.entries, func(p motion.PendingDevice) bool {
		gone := match(p)
		if gone {
			taken = append(taken, p)
		}
		return gone
	})
	l.stale = l.stale || len(taken) > 0
	return taken
}

// putBack lists entries again that were taken in vain.
func (l *pendingList) putBack(taken []motion.PendingDevice) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries, l.stale = append(l.entries, taken...), true
}

// Due reports whether there is something to store, and takes it as stored: the caller
// stores it, and says Unstored when that fails.
func (l *pendingList) Due() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	due := l.stale
	l.stale = false
	return due
}

// Store stores the entries.
func (l *pendingList) Store(tx *store.Tx) error { return tx.SetPending(l.list()) }

// Unstored says that what Due has told of could not be stored.
func (l *pendingList) Unstored() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stale = true
}

// Pending returns the devices that wait for adoption, those seen last first. An approval
// that has ended is none.
func (f *Fleet) Pending() []motion.PendingDevice {
	list := f.Waiting.list()
	_ = f.state.DB.View(context.Background(), func(tx *store.Tx) error { // it can only be closed, and then nobody is let in
		for i := range list {
			holds, err := f.holds(tx, list[i])
			list[i].Approved = holds && err == nil
		}
		return nil
	})
	return list
}

// holds reports whether an entry was approved by hand not too long ago, by the administrator
// or by who owns still what they owned then.
func (f *Fleet) holds(tx *store.Tx, p motion.PendingDevice) (bool, error) {
	if !p.Approved || f.state.Now().Since(p.ApprovedAt) >= approvalHolds {
		return false, nil
	}
	owner, err := ownerOf(tx, p.ApprovedBy)
	return owner == p.ApprovedFor, err
}

// Adopt approves an entry of the waiting list, named by its id or by its deviceId: the
// next post that shows what it holds, within a day, is answered with tokens. by is the
// network whose owner does that, 0 for the administrator; the approval ends with that
// ownership. NotFound: nothing waits by
// that name. Conflict: several entries show that deviceId; the message lists them.
func (f *Fleet) Adopt(ctx context.Context, name string, by motion.NetworkID) (motion.PendingDevice, error) {
	return f.AdoptBy(ctx, name, by, 0)
}

// AdoptBy is Adopt by an installer of the network, whom the event of the device names; 0 is nobody.
func (f *Fleet) AdoptBy(ctx context.Context, name string, by motion.NetworkID, installer home.UserID) (motion.PendingDevice, error) {
	entry, err := Choose(f.Waiting.list(), name)
	if err != nil {
		return motion.PendingDevice{}, err
	}
	if by != 0 && entry.NetworkID == 0 && entry.RootMode == motion.RootModeMaster {
		return motion.PendingDevice{}, fault.New(fault.Conflict, "device_id: %s asks to lead a network that there is not: the administrator lets it in", entry.DeviceID)
	}
	approval := motion.PendingDevice{Approved: true, ApprovedBy: by, ApprovedAt: f.state.Now(), Installer: uint64(installer)}
	err = f.state.DB.View(ctx, func(tx *store.Tx) error {
		approval.ApprovedFor, err = ownerOf(tx, by)
		return err
	})
	if err != nil {
		return motion.PendingDevice{}, err
	}
	if entry, err = f.Waiting.approve(entry.ID, approval); err != nil {
		return motion.PendingDevice{}, err
	}
	err = f.state.DB.Update(ctx, f.Waiting.Store)
	if err != nil {
		_, _ = f.Waiting.approve(entry.ID, motion.PendingDevice{}) // gone meanwhile is as well
		return motion.PendingDevice{}, err
	}
	return entry, nil
}

// Choose returns the entry of list with that id, or else the only one of that deviceId.
// Its errors are those of Adopt.
func Choose(list []motion.PendingDevice, name string) (motion.PendingDevice, error) {
	var found []motion.PendingDevice
	for _, p := range list {
		if p.ID == name {
			return p, nil
		}
		if p.DeviceID == name {
			found = append(found, p)
		}
	}
	switch len(found) {
	case 0:
		return motion.PendingDevice{}, notPending(name)
	case 1:
		return found[0], nil
	}
	places := make([]string, 0, pendingNamed)
	for _, p := range found[:min(len(found), pendingNamed)] {
		places = append(places, fmt.Sprintf("%s (%s of location_id %s, from %s)", p.ID, p.Role(), p.LocationID, p.Address))
	}
	more := ""
	if n := len(found) - len(places); n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return motion.PendingDevice{}, fault.New(fault.Conflict, "device_id: %d entries wait as %s, name one by its id: %s%s", len(found), name, strings.Join(places, ", "), more)
}
