package motion

// Network is a motion-sensing network: one home.
type Network struct {
	ID             NetworkID `json:"id"`
	GuardianID     string    `json:"guardian_id"` // the location_id it was created with
	MasterID       NodeID    `json:"master_id"`
	CreatedAt      Time      `json:"created_at"`
	UpdatedAt      Time      `json:"updated_at"`
	LastHeard      Time      `json:"last_heard"`
	ConfigRev      int       `json:"config_rev"`               // raised with every configuration change
	Armings        int       `json:"armings,omitempty"`        // how many revisions have changed motion_events.armed alone: nodes that do not lead the network do not count them
	AppliedRev     int       `json:"applied_rev"`              // what the guardian said it applied
	StatusCleared  Time      `json:"status_cleared,omitempty"` // status and topology show nothing from before; zero: all
	Removed        []string  `json:"removed,omitempty"`        // deviceIds of nodes that were deleted and not adopted since, the newest last
	PausedUntil    Time      `json:"paused_until,omitempty"`   // when a pause of motion ends by itself; zero: it does not, or there is none
	Meta           Document  `json:"meta"`
	GuardianConfig Document  `json:"guardian_config"` // what differs from the defaults; see Guardian
	RadarConfig    Document  `json:"radar_config"`    // what differs from the defaults; see Radar
}

// Role is the part a node or leaf plays in the topology (payloads.md 4.3).
type Role string

// The roles. A leaf takes part in sounding, a client does not.
const (
	MeshRoot   Role = "MESH_ROOT"
	MeshNode   Role = "MESH_NODE"
	LeafRole   Role = "LEAF"
	ClientRole Role = "CLIENT"
)

// RootModeMaster is the root_mode of the node that forms the network; its peers
// report 1.
const RootModeMaster = 2

// Node is an access point or extender with a sensing agent (payloads.md 4.1).
type Node struct {
	ID           NodeID    `json:"id"`
	NetworkID    NetworkID `json:"network_id"`
	DeviceID     string    `json:"deviceId"`
	Name         string    `json:"node_name"` // stable wire name, such as GWA1000133
	Role         Role      `json:"role"`
	RootMode     int       `json:"root_mode"`
	APBSSID2GHz  MAC       `json:"ap_bssid_2ghz"`
	APBSSID5GHz  MAC       `json:"ap_bssid_5ghz"`
	MeshBSSID    MAC       `json:"mesh_bssid"`
	P2PBSSID     MAC       `json:"p2p_bssid"`
	GatewayBSSID MAC       `json:"gateway_bssid"`
	EthMAC       MAC       `json:"eth_mac"`
	LocationID   string    `json:"location_id"`
	Location     string    `json:"location"`
	FriendlyName string    `json:"friendly_name"`
	HWID         string    `json:"hw_id"`
	HWVersion    string    `json:"hw_version"`
	FWVersion    string    `json:"fw_version"`
	Version      Document  `json:"version"`
	Online       bool      `json:"online"`
	LastHeard    Time      `json:"last_heard"`
	CreatedAt    Time      `json:"created_at"`
	UpdatedAt    Time      `json:"updated_at"`
}

// BSSIDs returns the addresses that node/find/mac matches, without the empty
// ones.
func (n Node) BSSIDs() []MAC {
	var macs []MAC
	for _, m := range []MAC{n.APBSSID2GHz, n.APBSSID5GHz, n.MeshBSSID, n.P2PBSSID} {
		if !m.IsZero() {
			macs = append(macs, m)
		}
	}
	return macs
}

// Leaf is a Wi-Fi client that can be the far end of a sounding link.
type Leaf struct {
	ID           NodeID     `json:"id"`
	NetworkID    NetworkID  `json:"network_id"`
	MAC          MAC        `json:"mac"`
	NodeID       NodeID     `json:"node_id"` // the node it was last attached to
	Hostname     string     `json:"hostname"`
	IP           string     `json:"ip"`
	FriendlyName string     `json:"friendly_name"`
	Location     string     `json:"location"`  // "": mobile
	Located      bool       `json:"located"`   // a person has set Location, even to ""
	Mobile       bool       `json:"mobile"`    // flagged as moving about
	PeerType     string     `json:"peer_type"` // 2 = Wi-Fi client, 7 = mesh
	MLDMAC       MAC        `json:"mld_mac"`   // not empty: multi-link operation
	DeviceInfo   DeviceInfo `json:"device_info"`
	Online       bool       `json:"online"`
	LastHeard    Time       `json:"last_heard"`
	CreatedAt    Time       `json:"created_at"`
	UpdatedAt    Time       `json:"updated_at"`
}

// DisplayName returns the friendly name, else the host name, else the MAC.
func (l Leaf) DisplayName() string {
	switch {
	case l.FriendlyName != "":
		return l.FriendlyName
	case l.Hostname != "":
		return l.Hostname
	}
	return l.MAC.String()
}

// IsMobile reports whether the leaf moves about: it has no location, or is flagged
// (payloads.md 4.3).
func (l Leaf) IsMobile() bool { return l.Mobile || l.Location == "" }

// DeviceInfo describes a client device (payloads.md 4.11).
type DeviceInfo struct {
	MAC         MAC    `json:"mac"`
	Hostname    string `json:"hostname"`
	DeviceType  string `json:"device_type"`
	OS          string `json:"os"`
	Name        string `json:"name"`
	Category    string `json:"category"`
	Brand       string `json:"brand"`
	Model       string `json:"model"`
	ModelNumber string `json:"modelNumber"`
	TS          Time   `json:"ts"`
}

// Link is one sounding link of a network as last reported: from a source (leaf
// or node) to a destination (node).
type Link struct {
	Name          string    `json:"link_id"` // dst_name.src_name
	NetworkID     NetworkID `json:"network_id"`
	Dst           NodeID    `json:"dst"`
	Src           NodeID    `json:"src"`
	DstName       string    `json:"dst_name"`
	SrcName       string    `json:"src_name"`
	Mesh          bool      `json:"mesh"` // between two nodes
	IfName        string    `json:"if_name"`
	Channel       int       `json:"channel"`
	RSSI          int       `json:"rssi"`            // dBm
	TxBitrateMbps float64   `json:"tx_bitrate_mbps"` // Mbit/s
	RxBitrateMbps float64   `json:"rx_bitrate_mbps"` // Mbit/s
	Sounding      bool      `json:"sounding"`
	Online        bool      `json:"online"`
	CreatedAt     Time      `json:"created_at"`
	LastHeard     Time      `json:"last_heard"`
}

// Topology is the answer of GET topology (payloads.md 4.3).
type Topology struct {
	TS      *Time            `json:"ts" doc:"When it was last reported, seconds; null after a reset"`
	Devices []TopologyDevice `json:"devices" nullable:"false"`
	Links   []TopologyLink   `json:"links" nullable:"false"`
}

// TopologyDevice is a node, leaf or client.
type TopologyDevice struct {
	ID             NodeID   `json:"id"`
	Name           string   `json:"name"`
	FriendlyName   string   `json:"friendly_name"`
	NodeName       string   `json:"node_name"`
	Location       string   `json:"location"`
	Type           Role     `json:"type" enum:"MESH_ROOT,MESH_NODE,LEAF,CLIENT"`
	IP             string   `json:"ip"`
	MACs           []string `json:"macs" nullable:"false"`
	HWPlatform     string   `json:"hw_platform"`
	Icon           string   `json:"icon" enum:"DEFAULT,LEAF"`
	Online         bool     `json:"online"`
	Mobile         bool     `json:"mobile"`
	IsStatic       string   `json:"is_static" enum:"STATIC,MOBILE"`
	IsMeshSounding bool     `json:"is_mesh_sounding"`
	DeviceInfo     any      `json:"device_info"`
}

// TopologyLink is a link between two devices of the topology.
type TopologyLink struct {
	LinkID        string  `json:"link_id"`
	Dst           NodeID  `json:"dst"`
	Src           NodeID  `json:"src"`
	DstName       string  `json:"dst_name"`
	SrcName       string  `json:"src_name"`
	Type          string  `json:"type" enum:"LEAF,MESH"`
	IfName        string  `json:"if_name"`
	Channel       int     `json:"channel"`
	Band          string  `json:"band" doc:"2.4, 5 or 6 GHz; empty when unknown"`
	RSSI          int     `json:"rssi" doc:"dBm"`
	TxBitrateMbps float64 `json:"tx_bitrate_mbps"`
	RxBitrateMbps float64 `json:"rx_bitrate_mbps"`
	Sounding      bool    `json:"sounding"`
	Online        bool    `json:"online"`
}
