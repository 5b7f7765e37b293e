package inventory

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"
	"strconv"

	"sensegate/motion"
	"sensegate/motion/engine/state"
	"sensegate/motion/fault"
	"sensegate/motion/setting"
)

// SoundingState is what sounding makes of a node or client.
type SoundingState struct {
	Warmup          *int32         `json:"sounding_warmup" nullable:"true" doc:"Seconds until its newest link knows its quiet (radar configuration, warmup_s); null: it does, or a guardian does the sensing" example:"12"`
	Status          bool           `json:"sounding_status" doc:"Whether a link of it is sounded now"`
	Score           float64        `json:"sounding_status_score" minimum:"-1" maximum:"1" doc:"Selection score of the guardian, else the share of the sounding that succeeds; -1: no link" example:"0.98"`
	Reason          string         `json:"sounding_status_reason" enum:"N/A,OFFLINE,DENIED,MOBILE,LOW_SCORE,LINK_LIMIT,PAUSED" doc:"Why it is not sounded; N/A: it is, or nothing speaks against it"`
	SensitivityMode string         `json:"sensitivity_mode" enum:"global,override"`
	Sensitivity     int32          `json:"sensitivity" minimum:"1" maximum:"4" doc:"In force: 1 High, 2 Medium, 3 Low, 4 Very Low"`
	Links           []SoundingLink `json:"links" nullable:"false" doc:"Links that are there now"`

	leftOut string // the reason why the leaf blower leaves all its links out; "": it does not
}

// SoundingLink is a link from a device to the node that sounds it.
type SoundingLink struct {
	NodeID  motion.NodeID `json:"src_id" doc:"The node at the other end" example:"133"`
	RSSI    string        `json:"rssi" doc:"dBm" example:"-59"`
	Channel int32         `json:"if_ch" doc:"Wi-Fi channel; 0: unknown" example:"1"`
}

// SoundingNode is a node in the answer of sounding/clients.
type SoundingNode struct {
	ID           motion.NodeID `json:"id" example:"133"`
	DeviceID     string        `json:"device_id" example:"csi-a-02aa00000110"`
	IsNode       bool          `json:"is_node" doc:"true"`
	IsRoot       bool          `json:"is_root"`
	IsExtender   bool          `json:"is_extender"`
	FriendlyName string        `json:"friendly_name" example:"Gateway"`
	Location     string        `json:"location" example:"Living room"`
	Online       bool          `json:"is_online"`
	OmotVersion  string        `json:"omot_version" doc:"Of its sensing agent; empty: unknown" example:"1.9.2"`
	Mesh         string        `json:"sounding_mesh" enum:"allow,deny" doc:"Whether its links to other nodes are sounded"`
	SoundingState
}

// SoundingLeaf is a client in the answer of sounding/clients.
type SoundingLeaf struct {
	MAC          motion.MAC        `json:"mac" example:"02:bb:00:00:00:31"`
	IsNode       bool              `json:"is_node" doc:"false"`
	IsExtender   bool              `json:"is_extender" doc:"false"`
	FriendlyName string            `json:"friendly_name" example:"Kitchen speaker"`
	Location     string            `json:"location" doc:"Empty with a client that moves about" example:"Kitchen"`
	Online       bool              `json:"is_online"`
	Mode         string            `json:"sounding_mode" enum:"allow,deny" doc:"In force: its own, else that of the network"`
	DeviceInfo   motion.DeviceInfo `json:"device_info"`
	SoundingState

	id motion.NodeID
}

// SoundingClients are the nodes and clients of a network as sounding sees them.
type SoundingClients struct {
	Nodes []SoundingNode
	Leafs []SoundingLeaf // without the multi-link devices with peer_type 2
}

// SoundingClients returns the nodes and clients of a network as sounding sees them
// now, by id (payloads.md 4.5). NotFound: no such network.
func (in *Inventory) SoundingClients(id motion.NetworkID) (SoundingClients, error) {
	n, err := in.state.Network(id)
	if err != nil {
		return SoundingClients{}, err
	}
	now := in.state.Now()
	present, _ := in.presence(nil, n, now)
	n.Mu.Lock()
	defer n.Mu.Unlock()
	clients := SoundingClients{Nodes: []SoundingNode{}, Leafs: []SoundingLeaf{}}
	for id, node := range n.Nodes {
		clients.Nodes = append(clients.Nodes, soundingNode(n, node, n.NodeOnline(id, present, now), now))
	}
	for _, leaf := range n.Leafs {
		if !state.MultiLink(leaf) {
			clients.Leafs = append(clients.Leafs, soundingLeaf(n, leaf, now))
		}
	}
	sort.Slice(clients.Nodes, func(i, j int) bool { return clients.Nodes[i].ID < clients.Nodes[j].ID })
	sort.Slice(clients.Leafs, func(i, j int) bool { return clients.Leafs[i].id < clients.Leafs[j].id })
	return clients, nil
}

// soundingNode describes a node; n.Mu is held.
func soundingNode(n *state.Network, node motion.Node, online bool, now motion.Time) SoundingNode {
	algos, _ := node.Version["algos"].(map[string]any)
	omot, _ := algos["omot"].(string)
	d := SoundingNode{
		ID: node.ID, DeviceID: node.DeviceID, IsNode: true, IsRoot: node.Role == motion.MeshRoot, IsExtender: node.Role != motion.MeshRoot,
		FriendlyName: node.FriendlyName, Location: node.Location, Online: online, OmotVersion: omot, Mesh: setting.Allow,
	}
	denied := slices.Contains(n.Radar.MeshSounding.Disabled, node.DeviceID)
	if denied {
		d.Mesh = setting.Deny
	}
	d.SoundingState = soundingState(n, node.ID, setting.Client(n.Radar, state.Addresses(node, n.Radars[node.ID].Interfaces)...), now)
	if !d.Status {
		d.Reason = whyNot(n, d.SoundingState, online, denied || n.Radar.Sounding.Enabled == 0, false)
	}
	if len(d.Links) == 0 && online && d.Reason == state.ReasonOffline { // such as the root: it is at the other end of all links
		d.Reason = state.ReasonNone
	}
	return d
}

// soundingLeaf describes a client; n.Mu is held.
func soundingLeaf(n *state.Network, leaf motion.Leaf, now motion.Time) SoundingLeaf {
	own := setting.Client(n.Radar, leaf.MAC)
	d := SoundingLeaf{
		MAC: leaf.MAC, FriendlyName: leaf.DisplayName(), Location: leaf.Location,
		Mode: cmp.Or(own.Mode, n.Radar.Sounding.Mode), DeviceInfo: leaf.DeviceInfo, id: leaf.ID,
	}
	d.DeviceInfo.MAC = leaf.MAC
	d.DeviceInfo.Hostname = cmp.Or(leaf.DeviceInfo.Hostname, leaf.Hostname)
	d.SoundingState = soundingState(n, leaf.ID, own, now)
	if score, rated := n.Rated(leaf.MAC, now); rated {
		d.Score = score
	}
	d.Online = len(d.Links) > 0
	if !d.Status {
		denied := d.Mode == setting.Deny || n.Radar.Sounding.Enabled == 0
		d.Reason = whyNot(n, d.SoundingState, d.Online, denied, moves(n, leaf))
	}
	return d
}

// soundingState describes the links of a node or leaf and its settings; n.Mu is
// held.
func soundingState(n *state.Network, id motion.NodeID, own motion.SoundingClient, now motion.Time) SoundingState {
	s := SoundingState{Score: -1, Reason: state.ReasonNone, SensitivityMode: setting.Global, Sensitivity: int32(n.Guardian.MotionEvents.Sens), Links: []SoundingLink{}}
	if own.Sens != 0 {
		s.SensitivityMode, s.Sensitivity = setting.Override, int32(own.Sens)
	}
	for _, link := range n.Links {
		if link.Src != id || !n.LinkOnline(link, now) {
			continue
		}
		if left, running := n.Sense.Calibrating(link.Name); running && n.Source.Holder == state.OwnHolds {
			warmup := max(int32(math.Ceil(left)), *cmp.Or(s.Warmup, new(int32)))
			s.Warmup = &warmup
		}
		s.Links = append(s.Links, SoundingLink{NodeID: link.Dst, RSSI: strconv.Itoa(link.RSSI), Channel: int32(link.Channel)})
		s.Status = s.Status || n.SoundsNow(link, now) && !n.Record.Paused()
		s.Score = max(s.Score, state.ScoreOf(link))
		if s.leftOut == "" || link.LeftOut == state.ReasonLinkLimit { // the link that scores enough
			s.leftOut = link.LeftOut
		}
	}
	sort.Slice(s.Links, func(i, j int) bool { return s.Links[i].NodeID < s.Links[j].NodeID })
	return s
}

// whyNot returns why a device is not sounded; n.Mu is held.
func whyNot(n *state.Network, s SoundingState, online, denied, mobile bool) string {
	switch {
	case n.Record.Paused():
		return state.ReasonPaused
	case !online || len(s.Links) == 0:
		return state.ReasonOffline
	case denied:
		return state.ReasonDenied
	case s.leftOut != "":
		return s.leftOut
	case mobile:
		return state.ReasonMobile
	case s.Score < n.Guardian.Leafblower.Cutoff:
		return state.ReasonLowScore
	case soundedLinks(n) >= n.Guardian.Leafblower.LinkLimit:
		return state.ReasonLinkLimit
	}
	return state.ReasonNone
}

// soundedLinks returns how many links of leafs devices say they sound; n.Mu is held.
func soundedLinks(n *state.Network) int {
	count := 0
	for _, link := range n.Links {
		if link.Online && link.Sounding && !link.Mesh && !n.Denied(link) {
			count++
		}
	}
	return count
}

// EditClients changes the settings, places and names of nodes and clients, all of
// them or none (payloads.md 4.5). found is what is wrong with the request so far. Invalid:
// all that is wrong. Conflict: motion is paused, and more than places and names is to be
// changed. push is as in ChangeConfig.
func (in *Inventory) EditClients(ctx context.Context, id motion.NetworkID, push bool, changes []setting.SoundingClientChange, found fault.Details) error {
	c := clientChange{deviceChange: deviceChange{mistakes: found}, changes: changes}
	_, err := in.ChangeConfig(ctx, id, push, c.apply)
	return err
}
