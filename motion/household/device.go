package household

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"

	"sensegate/motion"
	"sensegate/motion/engine/devices"
	"sensegate/motion/engine/sensing"
	"sensegate/motion/engine/state"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

// The states of a device.
const (
	DeviceRefused = "refused"
	DeviceOffline = "offline"
	DeviceWaiting = "waiting"
	DeviceOnline  = "online"
)

// Codes of why a device does not work, beside those of waiting devices, of links and of
// state.Presence.
const (
	codeNoFrames    = "no_frames"    // it is connected, and no link with it is heard
	codeWrongToken  = "wrong_token"  // who claims to be it has no right token: count
	codeBadInput    = "bad_input"    // what it sends is refused: count
	codeNotReported = "not_reported" // its network's guardian tells of it, and does so no more
	codeNotHeard    = "not_heard"    // no node hears it
)

const (
	newlyRefused motion.Seconds = 600 // what was refused before does not explain why a device does not work
	newlyHeard   motion.Seconds = 15  // a link that is silent for longer delivers nothing
)

// Viewer is somebody who looks at devices and links. Who is no resident must not learn when somebody
// is at home.
type Viewer struct {
	User     home.UserID
	Resident bool
}

// toMinute returns the beginning of the minute of a time.
func toMinute(t motion.Time) motion.Time { return motion.Time(60 * math.Floor(float64(t)/60)) }

// Device is a node or a leaf of a home, or one that waits to be let in. What is not known is zero.
type Device struct {
	Node     bool // else a leaf
	ID       motion.NodeID
	DeviceID string // of a leaf its address
	Name     string
	Room     string
	State    string
	Why      string // code of why it does not work, "" when it does
	Figures  sensing.Figures
	Address  string
	Heard    motion.Time
	Rate     float64 // frames/s that it delivers, of a leaf those that are heard from it
	RSSI     float64 // dBm, of its best link
	Entry    string  // of one that waits, for Adopt

	Other *motion.NodeFigures // what arrives of a node of another maker, Guarded for some viewers; nil: another device
}

// Devices returns the devices of a network, those with a problem first, and until when new ones are
// let in. Those that wait are listed as Adoption does. Without a part in the household one does not see
// leafs that move about or have no room, and figures of links as Links shows them.
func (h *Household) Devices(ctx context.Context, network motion.NetworkID, who Viewer) (list []Device, until motion.Time, err error) {
	until, waiting, err := h.Adoption(ctx, network)
	if err != nil {
		return nil, 0, err
	}
	view, err := h.deviceView(ctx, network, who)
	if err != nil {
		return nil, 0, err
	}
	for _, node := range view.nodes {
		list = append(list, view.node(node))
	}
	for _, leaf := range view.leafs {
		list = append(list, view.leaf(leaf))
	}
	for _, p := range waiting {
		list = append(list, waitingDevice(p))
	}
	for i := range list {
		list[i].explainOther(h.engine.State.NodeFigures(list[i].DeviceID), view.live)
		if !view.live {
			list[i].Heard = toMinute(list[i].Heard)
		}
	}
	sort.SliceStable(list, func(i, j int) bool { return byProblem(list[i], list[j]) < 0 })
	return list, until, nil
}

// byProblem orders devices: those that are refused or offline first.
func byProblem(a, b Device) int {
	rank := func(d Device) int {
		if d.State == DeviceOnline && d.Why == "" {
			return 4
		}
		return slices.Index([]string{DeviceRefused, DeviceOffline, DeviceWaiting, DeviceOnline}, d.State)
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Name, b.Name), cmp.Compare(a.DeviceID, b.DeviceID))
}

// waitingDevice describes a device that waits to be let in.
func waitingDevice(p motion.PendingDevice) Device {
	d := Device{
		Node: true, DeviceID: p.DeviceID, Name: cmp.Or(motion.NodeTitle(p.DeviceID, false), p.NodeName, p.DeviceID), State: DeviceWaiting,
		Address: p.Address, Heard: p.LastSeen, Entry: p.ID,
	}
	code, refused := devices.WaitCode(p)
	if d.Why = string(code); refused {
		d.State = DeviceRefused
	}
	return d
}

// deviceView is what is known of the devices of a network.
type deviceView struct {
	h        *Household
	now      motion.Time
	live     bool // the links are as they are now
	nodes    []motion.Node
	leafs    []motion.Leaf
	adopted  map[motion.NodeID]motion.Device
	topology map[motion.NodeID]motion.TopologyDevice
	links    []sensing.LinkState
}

func (h *Household) deviceView(ctx context.Context, network motion.NetworkID, who Viewer) (v deviceView, err error) {
	topology, err := h.engine.Inventory.Topology(network, true)
	if err != nil {
		return v, err
	}
	v = deviceView{h: h, now: h.engine.State.Now(), live: h.seesLive(network, who), adopted: map[motion.NodeID]motion.Device{}, topology: map[motion.NodeID]motion.TopologyDevice{}}
	for _, d := range topology.Devices {
		v.topology[d.ID] = d
	}
	explain := h.engine.Sensing.ExplainLinks
	if !v.live {
		explain = h.engine.Sensing.Glances
	}
	if v.links, err = explain(network); err != nil {
		return v, err
	}
	err = h.db.View(ctx, func(tx *store.Tx) error {
		if v.nodes, err = tx.Nodes(network); err != nil {
			return err
		}
		if v.leafs, err = tx.Leafs(network); err != nil {
			return err
		}
		v.hide(who)
		adopted, err := tx.NetworkDevices(network)
		for _, d := range adopted {
			if d.Kind == motion.RadarKind {
				v.adopted[d.NodeID] = d
			}
		}
		return err
	})
	return v, err
}

// hide leaves out the leafs that are kept from a viewer, and their links, whose frames would be
// counted with the nodes that hear them.
func (v *deviceView) hide(who Viewer) {
	if who.Resident {
		return
	}
	hidden := map[motion.NodeID]bool{}
	for _, leaf := range v.leafs {
		hidden[leaf.ID] = who.hides(leaf)
	}
	v.leafs = slices.DeleteFunc(v.leafs, who.hides)
	v.links = slices.DeleteFunc(v.links, func(l sensing.LinkState) bool { return hiddenEnd(l.From, hidden) })
}

// node describes a node.
func (v *deviceView) node(node motion.Node) Device {
	d := Device{
		Node: true, ID: node.ID, DeviceID: node.DeviceID, Name: cmp.Or(node.FriendlyName, node.Name), Room: node.Location,
		State: DeviceOffline, Heard: node.LastHeard, Address: v.topology[node.ID].IP,
	}
	heard := v.measure(&d)
	own, adopted := v.adopted[node.ID]
	presence := v.h.engine.State.Presence(own.DeviceKey, v.now)
	if adopted {
		d.Heard, d.Address = max(presence.LastHeard, own.LastHeard), cmp.Or(presence.Address, own.Address, d.Address)
	}
	if v.topology[node.ID].Online {
		d.State = DeviceOnline
	}
	switch count, code := v.refusals(own.DeviceKey); {
	case adopted && d.State == DeviceOffline && code == codeWrongToken, adopted && d.State == DeviceOnline && code == codeBadInput:
		d.Why, d.Figures = code, sensing.Figures{"count": float64(count)}
	case d.State == DeviceOnline && !heard && !v.idle():
		d.Why = codeNoFrames
	case d.State == DeviceOnline:
	case !adopted:
		d.Why = codeNotReported
	default:
		if d.Why = presence.Code; d.Why == state.Mute {
			d.Figures = sensing.Figures{"for_s": math.Round(presence.SilentFor)}
		}
	}
	return d
}

// leaf describes a leaf.
func (v *deviceView) leaf(leaf motion.Leaf) Device {
	d := Device{
		ID: leaf.ID, DeviceID: leaf.MAC.String(), Name: leaf.DisplayName(), Room: leaf.Location, State: DeviceOffline, Why: codeNotHeard,
		Address: leaf.IP, Heard: leaf.LastHeard,
	}
	v.measure(&d)
	if !v.topology[leaf.ID].Online {
		return d
	}
	d.State, d.Why = DeviceOnline, ""
	for i := range v.links {
		l := &v.links[i]
		if l.From.Node || l.From.ID != leaf.ID {
			continue
		}
		if l.Can != sensing.LinkBlind {
			d.Why, d.Figures = "", nil
			return d
		}
		if len(l.Reasons) > 0 {
			d.Why, d.Figures = string(l.Reasons[0].Code), l.Reasons[0].Figures
		}
	}
	return d
}

// measure fills in what the links of a device tell of it, and reports whether one was heard lately.
func (v *deviceView) measure(d *Device) (heard bool) {
	for i := range v.links {
		l := &v.links[i]
		from := l.From.Node == d.Node && l.From.ID == d.ID
		to := d.Node && l.To.Node && l.To.ID == d.ID
		if !from && !to {
			continue
		}
		lately := v.now.Since(l.Heard) <= newlyHeard
		heard = heard || lately
		if from && l.RSSI != 0 && (d.RSSI == 0 || l.RSSI > d.RSSI) {
			d.RSSI = l.RSSI
		}
		if from && !d.Node {
			d.Heard = max(d.Heard, l.Heard)
		}
		if lately && (to || !d.Node) {
			d.Rate = motion.Round(d.Rate+l.Rate, 1)
		}
	}
	return heard
}

// idle reports whether nobody expects frames: a guardian decides, or sensing is paused or off.
func (v *deviceView) idle() bool {
	expected := func(l sensing.LinkState) bool {
		return len(l.Reasons) == 0 || !slices.Contains([]sensing.Code{sensing.NetworkPaused, sensing.SoundingOff, sensing.GuardianDecides}, l.Reasons[0].Code)
	}
	return len(v.links) > 0 && !slices.ContainsFunc(v.links, expected)
}

// refusals returns how often something of a device was refused lately, and its code: what it sends,
// else who claims to be it.
func (v *deviceView) refusals(key motion.DeviceKey) (count int, code string) {
	sum := func(name string) (n int) {
		for _, r := range v.h.engine.State.Ledger.Of(name) {
			if v.now.Since(r.Last) <= newlyRefused {
				n += r.Count
			}
		}
		return n
	}
	if n := sum("client/" + key.ID); n > 0 {
		return n, codeWrongToken
	}
	if n := sum(key.String()); n > 0 {
		return n, codeBadInput
	}
	return 0, ""
}

// Links returns how the links of a network sense. Without a part in the household one does not see
// those of leafs that are hidden, nor when a link moved, nor that somebody moved while it was calibrated;
// and while no walk test runs that one has begun, figures are those of sensing.Glances and times are
// whole minutes.
func (h *Household) Links(ctx context.Context, network motion.NetworkID, who Viewer) ([]sensing.LinkState, error) {
	view, err := h.deviceView(ctx, network, who)
	if err != nil || who.Resident {
		return view.links, err
	}
	list := view.links
	for i := range list {
		list[i].LastMotion = 0
		hideDisturbance(&list[i])
		if !view.live {
			list[i].Heard = toMinute(list[i].Heard)
		}
	}
	return list, nil
}

// hideDisturbance says of a link whose calibration somebody has disturbed what it says of one that got
// too little data: that it has to be calibrated again.
func hideDisturbance(l *sensing.LinkState) {
	if l.Outcome == sensing.CalibrationDisturbed || l.Outcome == sensing.CalibrationFailed {
		l.Outcome = sensing.CalibrationRepeat
	}
	if !l.Disturbed {
		return
	}
	l.Disturbed, l.Reasons = false, slices.Clone(l.Reasons)
	for i := range l.Reasons {
		if l.Reasons[i].Code == sensing.Disturbed {
			l.Reasons[i].Code = sensing.Recalibrate
		}
	}
}

// LinkTrace returns what a link of a network could do in the last 24 hours. NotFound: there is no such
// link, or Links does not show it. Without a part in the household one gets rounded figures.
func (h *Household) LinkTrace(ctx context.Context, network motion.NetworkID, link string, who Viewer) (sensing.LinkTrace, error) {
	links, err := h.Links(ctx, network, who)
	if err != nil {
		return sensing.LinkTrace{}, err
	}
	if !slices.ContainsFunc(links, func(l sensing.LinkState) bool { return l.Link == link }) {
		return sensing.LinkTrace{}, fault.New(fault.NotFound, "link %.64q is not known", link)
	}
	trace, err := h.engine.Sensing.LinkTrace(network, link)
	if err != nil || who.Resident {
		return trace, err
	}
	return trace.Coarse(), nil
}
