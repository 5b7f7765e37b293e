package store

import (
	"context"
	"slices"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/sensor"
)

// Import takes in a network of another box. Its history is stored under an id that no network has
// yet, so that nothing shows it, in commits of a bounded size; Commit makes all of it a network
// of this box in one commit. Without that, also after a power cut, nothing of it stays. Its
// methods must not be called concurrently.
type Import struct {
	db      *DB
	copied  NetworkCopy
	options ImportOptions
	staged  staged
	nodes   map[motion.NodeID]motion.NodeID
	people  people
	things  map[sensor.DeviceID]sensor.DeviceID
	waiting []HistoryRecord
	size    int   // about the bytes of those
	oldest  int64 // second at which the oldest block of samples begins

	Skipped int // records of the history that were left out: they are of no form that is known here
}

// ImportOptions say what is taken in.
type ImportOptions struct {
	Copy    string   // names the copy: one that was taken in already is not taken in again
	Receipt string   // of the copy
	Join    []string // addresses of accounts of this box that belong to the person of that address, as somebody says who must know
	Bytes   int64    // of its history, about
}

// Person is somebody who comes along.
type Person struct {
	Email  string      `json:"email"`
	Role   home.Role   `json:"role"`
	ID     home.UserID `json:"id"`     // of the account here
	Joined bool        `json:"joined"` // this box had the account: its password counts
}

// Network returns the id of the network here.
func (i *Import) Network() motion.NetworkID { return i.staged.Network }

// Nodes returns the ids of nodes and leafs here, by those on the other box.
func (i *Import) Nodes() map[motion.NodeID]motion.NodeID { return i.nodes }

// People returns who comes along.
func (i *Import) People() (list []Person) {
	if i.copied.Household == nil {
		return nil
	}
	for _, p := range i.copied.Household.People {
		there := p.Membership.User
		list = append(list, Person{p.Account.Email, p.Membership.Role, i.people.ids[there], i.people.joined[there]})
	}
	return list
}

// Arrival is a network that came from another box.
type Arrival struct {
	Copy    string           `json:"copy"`
	Receipt string           `json:"receipt"`
	Network motion.NetworkID `json:"network"`
	Home    home.ID          `json:"home,omitempty"` // 0: it has none
	At      motion.Time      `json:"at"`
}

const (
	arrivalsKey  = "arrivals"  // where the meta bucket keeps the last arrivals
	importingKey = "importing" // and what an import has staged
	maxArrivals  = 64

	importChunk = 256 << 10 // bytes of the history in one commit, about
)

// staged is where the history of a network lies that is being taken in.
type staged struct {
	Network motion.NetworkID `json:"network"`
	Home    home.ID          `json:"home,omitempty"`
}

// Arrived returns the network that a copy has become when it was taken in before.
func (tx *Tx) Arrived(named string) (a Arrival, found bool, err error) {
	var all []Arrival
	err = tx.getMeta(arrivalsKey, &all)
	i := slices.IndexFunc(all, func(a Arrival) bool { return a.Copy == named && tx.requireStored(a.Network) == nil })
	if i < 0 {
		return a, false, err
	}
	return all[i], true, err
}

// BeginImport begins to take in a network. Conflict: something of it is here already, with what
// to do about each, or another import runs. Unavailable: there is no room for it. The caller
// ends it by Commit or Abort.
func (db *DB) BeginImport(ctx context.Context, c NetworkCopy, o ImportOptions) (*Import, error) {
	if !db.importing.TryLock() {
		return nil, fault.New(fault.Conflict, "another network is being taken in: wait until that is done")
	}
	i := &Import{db: db, copied: c, options: o, oldest: -1}
	err := db.requireImportRoom(o.Bytes)
	if err == nil {
		err = db.dropStaged(ctx)
	}
	if err == nil {
		err = db.Update(ctx, i.begin)
	}
	if err != nil {
		db.importing.Unlock()
		return nil, err
	}
	return i, nil
}

// requireImportRoom returns an Unavailable fault unless there is room for a history of so many
// bytes, with its indexes and what a commit needs.
func (db *DB) requireImportRoom(bytes int64) error {
	if err := db.Writable(); err != nil {
		return err
	}
	stats, err := db.file.Stats()
	if err != nil {
		return err
	}
	const spare = 16 << 20
	if need := bytes + bytes/2 + spare; stats.Free < need {
		return fault.New(fault.Unavailable, "the network takes about %d MB and there are %d MB: make room first", need>>20, stats.Free>>20)
	}
	return nil
}

// begin looks for what is here already, and gives out ids.
func (i *Import) begin(tx *Tx) (err error) {
	if err := i.refuse(tx); err != nil {
		return err
	}
	sequence, err := tx.bucket(networks.name).NextSequence()
	if err != nil {
		return err
	}
	i.staged.Network = motion.NetworkID(sequence)
	i.nodes = map[motion.NodeID]motion.NodeID{}
	for _, n := range i.copied.Nodes {
		if i.nodes[n.ID], err = tx.nextNodeID(); err != nil {
			return err
		}
	}
	for _, l := range i.copied.Leafs {
		if i.nodes[l.ID], err = tx.nextNodeID(); err != nil {
			return err
		}
	}
	if err := i.beginHousehold(tx); err != nil {
		return err
	}
	return tx.putMeta(importingKey, i.staged)
}

// refuse returns a Conflict fault that names all that is here already.
func (i *Import) refuse(tx *Tx) error {
	if i.copied.Network.GuardianID == "" {
		return fault.New(fault.Invalid, "guardian_id: must not be empty")
	}
	var met fault.Details
	if n, found, err := networks.by(tx, "networks_by_guardian", keyText(i.copied.Network.GuardianID)); err != nil {
		return err
	} else if found {
		met.Add("guardian_id", i.copied.Network.GuardianID, "this box has a network of the same devices already, network %d: when they have only come here by themselves, or when it is an old copy, delete it first (sensegate network delete %[1]d)", n.ID)
		return conflict(met)
	}
	for _, n := range i.copied.Nodes {
		other, found, err := nodes.by(tx, "nodes_by_device", keyText(n.DeviceID))
		if err != nil {
			return err
		}
		if found {
			met.Add("nodes", n.DeviceID, "device %s is in network %d of this box: delete its node there first", n.DeviceID, other.NetworkID)
		}
	}
	for _, d := range i.copied.Devices {
		if other, found, err := devices.get(tx, d.DeviceKey); err != nil {
			return err
		} else if found {
			met.Add("devices", d.String(), "device %s is in network %d of this box: remove it there first (sensegate device remove %s)", d.DeviceKey, other.NetworkID, d.ID)
		}
	}
	if err := i.refusePeople(tx, &met); err != nil {
		return err
	}
	return conflict(met)
}

// conflict returns a Conflict fault with all that was met, nil for nothing.
func conflict(met fault.Details) error {
	if len(met) == 0 {
		return nil
	}
	return &fault.Error{Kind: fault.Conflict, Message: "something of the network is here already", Details: met}
}

// Abort ends the import and removes what was stored of it; after Commit it does nothing.
func (i *Import) Abort(ctx context.Context) error {
	if i.db == nil {
		return nil
	}
	db := i.db
	i.db = nil
	defer db.importing.Unlock()
	return db.dropStaged(ctx)
}

// dropStaged removes what an import that did not come to its end has stored.
func (db *DB) dropStaged(ctx context.Context) error {
	for more := true; more; {
		err := db.Update(ctx, func(tx *Tx) (err error) {
			more, err = tx.dropSomeStaged()
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// dropSomeStaged removes up to recordsPerTx records of an import, and says whether there may be more.
func (tx *Tx) dropSomeStaged() (more bool, err error) {
	var left staged
	if err := tx.getMeta(importingKey, &left); err != nil || left.Network == 0 {
		return false, err
	}
	for _, part := range []struct {
		table  untyped
		prefix []byte
	}{{events.untyped(), key32(left.Network)}, {armed.untyped(), key32(left.Network)}, {detections.untyped(), unlessZero(left.Home, key32[home.ID])}} {
		if len(part.prefix) == 0 {
			continue
		}
		keys := part.table.keys(tx, part.prefix)
		keys = keys[:min(len(keys), recordsPerTx)]
		if len(keys) > 0 {
			return true, part.table.removeAll(tx, keys)
		}
	}
	if err := tx.samples().DeleteJournal(left.Network); err != nil {
		return false, err
	}
	if err := tx.dueToWipe(false, left.Network); err != nil {
		return false, err
	}
	return false, tx.bucket(metaBucket).Delete([]byte(importingKey))
}
