package house

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"sensegate/motion"
	"sensegate/motion/engine/sensing"
	"sensegate/motion/engine/state"
	"sensegate/motion/home"
	"sensegate/motion/series"
	"sensegate/motion/uplink/homeassistant"
	"sensegate/store"
)

// view is a network on its way to be shown.
type view struct {
	homeassistant.Network
	since motion.Time // its household has lived there since
	near  map[motion.MAC]string
}

// Agreed is the key in a user's own area of meta storage by which they agree that uplinks which are
// allowed to may show whether they are at home. Nobody else writes that area.
const Agreed = "home_assistant_presence"

// view returns what the records say of a network. NotFound: it is not there.
func (f *follower) view(ctx context.Context, id motion.NetworkID) (*view, error) {
	n, err := f.Engine.State.Network(id)
	if err != nil {
		return nil, err
	}
	v := &view{Network: homeassistant.Network{ID: id}, near: map[motion.MAC]string{}}
	nodes := f.Engine.Inventory.NodesOf(n)
	n.Mu.Lock()
	v.Paused, v.Sensitivity, v.Leafs = n.Record.Paused(), n.Guardian.MotionEvents.Sens, len(n.Leafs)
	rooms := map[string]bool{}
	for _, node := range nodes {
		v.addNode(n, node, rooms)
	}
	for _, leaf := range n.Leafs {
		if leaf.Location != "" {
			rooms[leaf.Location] = true
			v.near[leaf.MAC] = leaf.Location
		}
	}
	n.Mu.Unlock()
	names := slices.Sorted(maps.Keys(rooms))
	ids, err := f.roomIDs(ctx, id, names)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		v.Rooms = append(v.Rooms, homeassistant.Room{ID: ids[name], Name: name})
	}
	return v, f.DB.View(ctx, func(tx *store.Tx) error { return f.people(tx, v) })
}

// addNode adds a node; the mutex of its network is held.
func (v *view) addNode(n *state.Network, node motion.Node, rooms map[string]bool) {
	radar := n.Radars[node.ID]
	shown := homeassistant.Node{
		ID: node.ID, Name: cmp.Or(node.FriendlyName, node.DeviceID), Room: node.Location, Online: node.Online, LastSeen: node.LastHeard, Firmware: node.FWVersion,
	}
	shown.MAC = node.EthMAC
	for _, mac := range state.Addresses(node, radar.Interfaces) {
		if shown.MAC.IsZero() {
			shown.MAC = mac
		}
		v.near[mac] = node.Location
	}
	for _, link := range n.Links {
		if (link.Dst == node.ID || link.Src == node.ID) && link.RSSI != 0 && (shown.RSSI == 0 || link.RSSI > shown.RSSI) {
			shown.RSSI = link.RSSI
		}
	}
	if node.Online {
		v.Online++
		shown.Uptime, _ = strconv.ParseFloat(radar.Uptime, 64) // 0 where it says none
	}
	if node.Location != "" {
		rooms[node.Location] = true
	}
	if node.ID == n.Record.MasterID {
		v.Version = node.FWVersion
	}
	v.Nodes = append(v.Nodes, shown)
}

// roomIDs returns the ids of the rooms of a network.
func (f *follower) roomIDs(ctx context.Context, id motion.NetworkID, names []string) (ids map[string]uint32, err error) {
	all := false
	err = f.DB.View(ctx, func(tx *store.Tx) error {
		ids, all, err = tx.RoomIDs(id, names)
		return err
	})
	if err != nil || all {
		return ids, err
	}
	err = f.DB.Update(ctx, func(tx *store.Tx) error {
		ids, err = tx.GiveRoomIDs(id, names)
		return err
	})
	return ids, err
}

// people adds what concerns the household.
func (f *follower) people(tx *store.Tx, v *view) error {
	record, ok, err := tx.HomeOfNetwork(v.ID)
	if err != nil || !ok || !record.Claimed() {
		return err
	}
	v.Home, v.Away, v.Name, v.since = true, record.Scene == home.Away, record.Name, record.ClaimedAt
	if !f.Members {
		return nil
	}
	members, err := tx.MembershipsOfHome(record.ID)
	if err != nil {
		return err
	}
	for _, m := range members {
		agreed, err := tx.UserMeta(m.User)
		if err != nil {
			return err
		}
		if m.Unasked || agreed[Agreed] != true {
			continue
		}
		u, err := tx.User(m.User)
		if err != nil {
			return err
		}
		v.Members = append(v.Members, homeassistant.Member{
			ID: uint64(m.User), Name: cmp.Or(u.FirstName, fmt.Sprint("Member ", m.User)), Present: m.IsPresent, Updated: m.PresenceAt,
		})
	}
	return nil
}

// figures are what is known of a network by the minute.
type figures struct {
	density    *float64
	rooms      map[string]roomFigure
	down, slow int
}

type roomFigure struct {
	density *float64
	last    motion.Time
}

const (
	minute = 60
	day    = 24 * 3600
)

// somewhere is the share of a minute, in percent, from which there was motion in a room; that of
// another room leaves less.
const somewhere = 100.0 / 60

// figures brings the figures of a network up to the last whole minute.
func (f *follower) figures(ctx context.Context, id motion.NetworkID, v *view) error {
	to := state.FloorTo(f.Engine.State.Now().Second(), minute)
	f.mu.Lock()
	w := f.watches[id]
	if w == nil || w.figured == to {
		f.mu.Unlock()
		return nil
	}
	from := to - minute
	if w.figured == 0 {
		from = to - day
	}
	before := w.figures
	f.mu.Unlock()
	now, err := f.read(ctx, id, v, from, to)
	if err != nil {
		return err
	}
	for name, former := range before.rooms {
		r := now.rooms[name]
		r.last = max(r.last, former.last)
		now.rooms[name] = r
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	w.figured, w.figures = to, now
	return nil
}

// read reads the figures of the minutes from, up to to, seconds.
func (f *follower) read(ctx context.Context, id motion.NetworkID, v *view, from, to int64) (now figures, err error) {
	now.rooms = map[string]roomFigure{}
	set, err := f.Engine.State.SamplesFor(ctx, id, from, to, minute)
	if err != nil || set == nil {
		return now, err
	}
	whole, err := set.Points(series.Query{Series: series.Network, Measure: series.Density, From: to - minute, To: to, Bucket: minute})
	if err != nil {
		return now, err
	}
	if whole.Len() > 0 {
		if share, _, ok := whole.At(whole.Len() - 1); ok {
			now.density = &share
		}
	}
	shares, err := set.Shares(from, to, minute)
	if err != nil {
		return now, err
	}
	now.rooms = roomFigures(shares, v.near, to)
	if f.Engine.State.Now().Since(f.Engine.State.Started) < state.SilentAfter {
		return now, nil // what was not heard yet need not be down
	}
	links, err := f.Engine.Sensing.ExplainLinks(id)
	for i := range links {
		now.count(&links[i])
	}
	return now, err
}

// roomFigures adds up the shares of the devices in each room, minute by minute. The last one begins a
// minute before to.
func roomFigures(shares []series.LocationPoints, near map[motion.MAC]string, to int64) map[string]roomFigure {
	rooms := map[string]roomFigure{}
	if len(shares) == 0 {
		return rooms
	}
	for i := range shares[0].Points.Len() {
		sums, start := map[string]float64{}, shares[0].Points.Start+int64(i)*shares[0].Points.Bucket
		for _, device := range shares {
			if share, _, ok := device.Points.At(i); ok && near[device.MAC] != "" {
				sums[near[device.MAC]] += share
			}
		}
		for name, share := range sums {
			r := rooms[name]
			if share = min(share, 100); share >= somewhere {
				r.last = motion.Time(start)
			}
			if start == to-minute {
				r.density = &share
			}
			rooms[name] = r
		}
	}
	return rooms
}

// count counts a link that has a fault. Those of what moves about come and go.
func (g *figures) count(l *sensing.LinkState) {
	moves := !l.From.Node && l.From.Room == ""
	for _, why := range l.Reasons {
		switch why.Code {
		case sensing.NotHeard, sensing.Silent, sensing.FewFigures, sensing.LateFigures, sensing.FewSubcarriers, sensing.FewFrames:
			if !moves {
				g.down++
			}
			return
		case sensing.SlowLink, sensing.Gaps:
			if !moves {
				g.slow++
			}
			return
		}
	}
}
