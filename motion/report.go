package motion

// Report is one message of a device. The decoders of the device protocol make them; the engine
// processes them. Times are as the device sent them; the engine replaces those of a wrong
// clock (payloads.md 6 no. 14).
type Report interface{ report() }

func (StatusReport) report()  {}
func (*Matrix) report()       {}
func (History) report()       {}
func (EventReport) report()   {}
func (LinkMotions) report()   {}
func (RawCSI) report()        {}
func (NodeCSI) report()       {}
func (ManageResult) report()  {}
func (DeviceInfoAck) report() {}

// StatusReport is the GuardianStatusReport (payloads.md 4.2). A heartbeat has
// no radars.
type StatusReport struct {
	TS            Time              `json:"ts"`
	NetworkID     NetworkID         `json:"network_id"`
	GuardianID    string            `json:"guardian_id"`
	ShardID       string            `json:"shard_id"`
	Startup       bool              `json:"startup"`
	MotionEnabled int               `json:"motion_enabled"`
	MotionTripped *int              `json:"motion_tripped" nullable:"true"` // null: unknown
	LastMotion    Time              `json:"last_motion"`
	Rev           int               `json:"rev,omitempty"` // configuration revision the agent applied
	Version       Document          `json:"version,omitempty"`
	Health        Document          `json:"health,omitempty"`
	Leafblower    map[string]Choice `json:"leafblower,omitempty"` // by leaf MAC
	Radars        map[string]Radar  `json:"radars,omitempty"`     // by node name
}

// Heartbeat reports whether the report is the short form without radars.
func (r StatusReport) Heartbeat() bool { return len(r.Radars) == 0 }

// Choice is the link selection's score of one leaf.
type Choice struct {
	IsStatic string             `json:"is_static"` // STATIC or MOBILE
	Sounding *bool              `json:"sounding"`
	AP       map[string]float64 `json:"ap"` // selection score by node, −1..1
	Leaf     Document           `json:"leaf,omitempty"`
}

// Radar is a node's description of itself: its record at the gatekeeper and its part of a
// status report. Numbers that existing agents send as strings stay strings.
type Radar struct {
	DeviceID     string            `json:"deviceId"`
	NodeName     string            `json:"node_id"`
	LocationID   string            `json:"location_id"`
	TS           Time              `json:"ts"`
	Age          float64           `json:"_age"`
	RootMode     int               `json:"root_mode"`
	GatewayBSSID MAC               `json:"gateway_bssid"`
	MeshBSSID    MAC               `json:"mesh_bssid"`
	P2PBSSID     MAC               `json:"p2p_bssid"`
	APBSSID2GHz  MAC               `json:"ap_bssid_2ghz"`
	APBSSID5GHz  MAC               `json:"ap_bssid_5ghz"`
	HWID         string            `json:"hw_id"`
	HWVersion    string            `json:"hw_version"`
	FWVersion    string            `json:"fw_version"`
	Uptime       string            `json:"uptime"` // s
	StatusTime   float64           `json:"status_time"`
	Mem          map[string]string `json:"mem"`
	Load         []string          `json:"load"`
	Version      Document          `json:"version"`
	Interfaces   []Interface       `json:"interfaces"`
	Links        []RadarLink       `json:"links"`
}

// Interface is a network interface of a node. Types: ETHERNET, BRIDGE, WIFI_AP,
// WIFI_CLIENT.
type Interface struct {
	Name          string     `json:"name"`
	Type          string     `json:"type"`
	MAC           MAC        `json:"mac"`
	IP            string     `json:"ip"`
	WifiPhy       string     `json:"wifi_phy"`
	WifiChannel   int        `json:"wifi_channel"`
	Status        string     `json:"status"`
	MotionEnabled bool       `json:"motion_enabled"`
	RxBytes       string     `json:"rx_bytes"`
	TxBytes       string     `json:"tx_bytes"`
	Routes        []Document `json:"routes"`
}

// RadarLink is one peer of a node. PeerType 2 is a Wi-Fi client, 7 a mesh peer.
type RadarLink struct {
	MAC            MAC    `json:"mac"`
	PeerType       string `json:"peer_type"`
	MLDMAC         MAC    `json:"mld_mac,omitzero"`
	IfName         string `json:"if_name"`
	Phy            string `json:"phy"`
	WifiProtocol   string `json:"wifi_protocol"`
	Hostname       string `json:"hostname"`
	IP             string `json:"ip"`
	RSSI           string `json:"rssi"`
	RSSIdB         string `json:"rssi_db"`
	RateMS         string `json:"rate_ms"`
	MotionState    string `json:"motion_state"`
	ConnectedTime  string `json:"connected_time"`
	LastHeard      string `json:"last_heard"`
	TxBitrate      string `json:"tx_bitrate"` // bit/s
	RxBitrate      string `json:"rx_bitrate"` // bit/s
	CSIReportCount string `json:"csi_report_count"`
	MConfZeroCount int    `json:"mconf_zero_count"`
}

// Peer types of a RadarLink.
const (
	PeerClient = "2"
	PeerMesh   = "7"
)

// Matrix is a motion-matrix message (device-protocol.md 2.2): Count steps of
// Interval ms for every link. Values are NaN where the device sent none.
type Matrix struct {
	TS            Time
	Interval      int // ms
	Count         int
	Links         []string // link names, normalised to dst_name.src_name where the device sent that
	Values        Figures
	Loc           []MatrixLoc // empty: nomotion, or none sent
	MotionTripped int
	MotionEnabled int
	LastMotion    Time
}

// Figure is one of the figures of a Matrix.
type Figure int

// The figures (device-protocol.md 2.2).
const (
	MKAI Figure = iota
	LRaw
	Throughput
	MSAD
	MConf
	figures
)

// String returns the name that devices send.
func (f Figure) String() string {
	return [figures]string{"mkai", "lraw", "throughput", "msad", "mconf"}[f]
}

// Figures holds the values of each figure, [link][step]; nil where the device sent none.
type Figures [figures][][]float64

// MatrixLoc is where a device located motion.
type MatrixLoc struct {
	MAC        MAC
	Confidence float64 // 0..1; 1 when the device sent none
}

// History is a motion-history message (device-protocol.md 2.3): Count
// network-wide samples, the first at TS. Values are NaN where the device sent
// none.
type History struct {
	TS       Time
	Interval int // ms
	Count    int
	MKAI     []float64 // 0..1
	MSAD     []float64 // before gating; empty when the device sent none
	MACs     []MAC
	Density  [][]float64 // [sample][MAC], 0..1, NaN when unknown; an inner list may be empty: no motion at any of them
}

// EventReport is an event raised by a device. UUID makes a re-sent event
// idempotent; without one, kind and time do.
type EventReport struct {
	UUID  string
	Event Event
}

// LinkMotions is a link-motion message (device-protocol.md 2.6).
type LinkMotions struct {
	TS       Time
	Interval int // ms
	Links    []LinkMotion
}

// LinkMotion is one link's motion as computed by a node itself.
type LinkMotion struct {
	Src, Dst   MAC
	MKAI       float64 // 0..1
	LRaw       float64 // 0..1, NaN = not sent
	Throughput float64 // 0..1, NaN = not sent
	RSSI       float64 // dBm, 0 = not sent
	Decides    bool    // MKAI is a decision of the node about motion, which counts alone; no message says so
}

// RawCSI is the undecoded payload of a csi message (device-protocol.md 2.5); it
// is valid only until the report has been taken in.
type RawCSI []byte

// NodeCSI is a batch that was made here of the frames of another maker's node. It is not a message: no device
// sends it.
type NodeCSI struct {
	Format uint16 // of all frames: those of another format of the same node are never compared with them
	Batch  RawCSI
}

// ManageResult answers a management command.
type ManageResult struct {
	ID     int64
	State  string
	Result Document
}

// DeviceInfoAck confirms a device-info command.
type DeviceInfoAck struct {
	MAC MAC
}

// Bootstrap is what an access point or extender posts to the gatekeeper when it
// starts (device-protocol.md 1).
type Bootstrap struct {
	Radar        Radar  `json:"radar_status"`
	FactoryReset bool   `json:"factory_reset"`
	MasterFailed bool   `json:"master_failed"`
	LocationID   string `json:"location_id"`
}

// LiveFrame is one frame of the live motion stream (payloads.md 4.7). Values
// that are not known are null.
type LiveFrame struct {
	TS            Time      `json:"ts"`
	Interval      int       `json:"interval"` // ms
	Count         int       `json:"count"`
	Links         []string  `json:"links"`
	Data          LiveData  `json:"data"`
	Loc           []any     `json:"loc"` // ["nomotion"], or [mac, confidence]
	LocName       string    `json:"loc_name"`
	Rooms         []string  `json:"-"` // motion is in one of them, the likeliest first; of our own web app alone
	LocConf       []float64 `json:"loc_conf,omitempty"`
	LastMotion    *Time     `json:"last_motion"`
	MotionTripped *int      `json:"motion_tripped"` // null: unknown
	MotionEnabled int       `json:"motion_enabled"`
}

// LiveData holds one value per link of the frame.
type LiveData struct {
	MKAI       []*float64 `json:"mkai"`       // gated intensity, 0..1
	LRaw       []*float64 `json:"lraw"`       // before gating, 0..1
	Throughput []*float64 `json:"throughput"` // sounding success, 0..1
	MConf      []*float64 `json:"mconf"`
	MSAD       []*float64 `json:"msad"`
	Reach      []*float64 `json:"-"` // share of the threshold of the link, 1 = motion starts; of our own web app alone
}
