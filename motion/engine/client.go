package engine

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"

	"sensegate/motion"
	"sensegate/motion/fuse"
	"sensegate/motion/setting"
)

// Reasons why a device is not sounded (payloads.md 4.5).
const (
	reasonNone      = "N/A"
	reasonPaused    = "PAUSED"
	reasonOffline   = "OFFLINE"
	reasonDenied    = "DENIED"
	reasonMobile    = "MOBILE"
	reasonLowScore  = "LOW_SCORE"
	reasonLinkLimit = "LINK_LIMIT"
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

	left string // the reason why the leaf blower leaves all its links out; "": it does not
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
func (e *Engine) SoundingClients(id motion.NetworkID) (SoundingClients, error) {
	n, err := e.network(id)
	if err != nil {
		return SoundingClients{}, err
	}
	now := e.now()
	present := e.nodePresence(n, now)
	n.mu.Lock()
	defer n.mu.Unlock()
	clients := SoundingClients{Nodes: []SoundingNode{}, Leafs: []SoundingLeaf{}}
	for id, node := range n.nodes {
		clients.Nodes = append(clients.Nodes, n.soundingNode(node, n.nodeOnline(id, present, now), now))
	}
	for _, leaf := range n.leafs {
		if !multiLink(leaf) {
			clients.Leafs = append(clients.Leafs, n.soundingLeaf(leaf, now))
		}
	}
	slices.SortFunc(clients.Nodes, func(a, b SoundingNode) int { return cmp.Compare(a.ID, b.ID) })
	slices.SortFunc(clients.Leafs, func(a, b SoundingLeaf) int { return cmp.Compare(a.id, b.id) })
	return clients, nil
}

// multiLink reports whether a leaf is a multi-link device with peer_type 2, which
// is neither listed nor configurable.
func multiLink(leaf motion.Leaf) bool {
	return leaf.PeerType == motion.PeerClient && !leaf.MLDMAC.IsZero()
}

// soundingNode describes a node; n.mu is held.
func (n *network) soundingNode(node motion.Node, online bool, now motion.Time) SoundingNode {
	algos, _ := node.Version["algos"].(map[string]any)
	omot, _ := algos["omot"].(string)
	d := SoundingNode{
		ID: node.ID, DeviceID: node.DeviceID, IsNode: true, IsRoot: node.Role == motion.MeshRoot, IsExtender: node.Role != motion.MeshRoot,
		FriendlyName: node.FriendlyName, Location: node.Location, Online: online, OmotVersion: omot, Mesh: setting.Allow,
	}
	denied := slices.Contains(n.radar.MeshSounding.Disabled, node.DeviceID)
	if denied {
		d.Mesh = setting.Deny
	}
	d.SoundingState = n.soundingState(node.ID, setting.Client(n.radar, addresses(node, n.radars[node.ID])...), now)
	if !d.Status {
		d.Reason = n.whyNot(d.SoundingState, online, denied || n.radar.Sounding.Enabled == 0, false)
	}
	if len(d.Links) == 0 && online && d.Reason == reasonOffline { // such as the root: it is at the other end of all links
		d.Reason = reasonNone
	}
	return d
}

// soundingLeaf describes a client; n.mu is held.
func (n *network) soundingLeaf(leaf motion.Leaf, now motion.Time) SoundingLeaf {
	own := setting.Client(n.radar, leaf.MAC)
	d := SoundingLeaf{
		MAC: leaf.MAC, FriendlyName: leaf.DisplayName(), Location: leaf.Location,
		Mode: cmp.Or(own.Mode, n.radar.Sounding.Mode), DeviceInfo: leaf.DeviceInfo, id: leaf.ID,
	}
	d.DeviceInfo.MAC = leaf.MAC
	d.DeviceInfo.Hostname = cmp.Or(leaf.DeviceInfo.Hostname, leaf.Hostname)
	d.SoundingState = n.soundingState(leaf.ID, own, now)
	if score, rated := n.rated(leaf.MAC, now); rated {
		d.Score = score
	}
	d.Online = len(d.Links) > 0
	if !d.Status {
		denied := d.Mode == setting.Deny || n.radar.Sounding.Enabled == 0
		d.Reason = n.whyNot(d.SoundingState, d.Online, denied, n.moves(leaf))
	}
	return d
}

// soundingState describes the links of a node or leaf and its settings; n.mu is
// held.
func (n *network) soundingState(id motion.NodeID, own motion.SoundingClient, now motion.Time) SoundingState {
	s := SoundingState{Score: -1, Reason: reasonNone, SensitivityMode: setting.Global, Sensitivity: int32(n.guardian.MotionEvents.Sens), Links: []SoundingLink{}}
	if own.Sens != 0 {
		s.SensitivityMode, s.Sensitivity = setting.Override, int32(own.Sens)
	}
	sensors := n.sensorsByName()
	for _, link := range n.links {
		if link.Src != id || !n.linkOnline(link, now) {
			continue
		}
		if sensor := sensors[link.Name]; sensor != nil && n.source.Holder == ownHolds {
			s.warmUp(sensor)
		}
		s.Links = append(s.Links, SoundingLink{NodeID: link.Dst, RSSI: strconv.Itoa(link.RSSI), Channel: int32(link.Channel)})
		s.Status = s.Status || n.soundsNow(link, now) && !n.record.Paused()
		s.Score = max(s.Score, scoreOf(link))
		if s.left == "" || link.left == reasonLinkLimit { // the link that scores enough
			s.left = link.left
		}
	}
	slices.SortFunc(s.Links, func(a, b SoundingLink) int { return cmp.Compare(a.NodeID, b.NodeID) })
	return s
}

// warmUp takes in how long a link of the device still learns its quiet.
func (s *SoundingState) warmUp(sensor *sensor) {
	for _, d := range sensor.detectors() {
		c := d.Calibration()
		left := int32(math.Ceil(c.Left))
		if c.Running && (s.Warmup == nil || left > *s.Warmup) {
			s.Warmup = &left
		}
	}
}

// rated returns the best selection score that a guardian which is alive gives a
// leaf; n.mu is held.
func (n *network) rated(mac motion.MAC, now motion.Time) (score float64, rated bool) {
	if n.status == nil || now.Since(n.reported) > silentAfter {
		return 0, false
	}
	score = -1
	for _, s := range n.status.Leafblower[mac.String()].AP {
		score, rated = max(score, min(s, 1)), true
	}
	return score, rated
}

// whyNot returns why a device is not sounded; n.mu is held.
func (n *network) whyNot(s SoundingState, online, denied, mobile bool) string {
	switch {
	case n.record.Paused():
		return reasonPaused
	case !online || len(s.Links) == 0:
		return reasonOffline
	case denied:
		return reasonDenied
	case s.left != "":
		return s.left
	case mobile:
		return reasonMobile
	case s.Score < n.guardian.Leafblower.Cutoff:
		return reasonLowScore
	case n.soundedLinks() >= n.guardian.Leafblower.LinkLimit:
		return reasonLinkLimit
	}
	return reasonNone
}

// soundedLinks returns how many links of leafs devices say they sound; n.mu is held.
func (n *network) soundedLinks() int {
	count := 0
	for _, link := range n.links {
		if link.Online && link.Sounding && !link.Mesh && !n.denied(link) {
			count++
		}
	}
	return count
}

// mayTakePart reports whether the settings let a link take part in motion: sounding
// is on, and its source is not denied; n.mu is held.
func (n *network) mayTakePart(key fuse.Link) bool {
	if n.radar.Sounding.Enabled == 0 {
		return false
	}
	if id, isNode := n.byMAC[key.Src]; isNode {
		return !slices.Contains(n.radar.MeshSounding.Disabled, n.nodes[id].DeviceID)
	}
	return cmp.Or(setting.Client(n.radar, key.Src).Mode, n.radar.Sounding.Mode) != setting.Deny
}

// denied reports whether the settings keep a link from taking part; n.mu is held.
func (n *network) denied(link *linkState) bool {
	from, ok := n.endNamed(link.SrcName)
	return ok && !n.mayTakePart(fuse.Link{Src: from.mac})
}

// EditClients changes the settings, places and names of nodes and clients, all of
// them or none (payloads.md 4.5). body is that of the request, decoded. Conflict:
// motion is paused, and more than places and names is to be changed. push is as in
// ChangeConfig.
func (e *Engine) EditClients(ctx context.Context, id motion.NetworkID, push bool, body any) error {
	if _, err := e.network(id); err != nil {
		return err
	}
	c := clientChange{network: id}
	c.patches = setting.ReadClients(&c.mistakes, body)
	_, err := e.ChangeConfig(ctx, id, push, c.apply)
	return err
}
