package motion

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
