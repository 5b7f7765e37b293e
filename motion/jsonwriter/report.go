package jsonwriter

import "sensegate/motion"

// Report writes a status report as callers see it: what a device did not send is an empty list or
// object, not null.
func (w *Writer) Report(lead string, r *motion.StatusReport) {
	var few [16]string
	w.Raw(lead)
	w.Number(`{"ts":`, float64(r.TS))
	w.Integer(`,"network_id":`, int64(r.NetworkID))
	w.Text(`,"guardian_id":`, r.GuardianID)
	w.Text(`,"shard_id":`, r.ShardID)
	w.Bool(`,"startup":`, r.Startup)
	w.Integer(`,"motion_enabled":`, int64(r.MotionEnabled))
	w.Tripped(`,"motion_tripped":`, r.MotionTripped)
	w.Number(`,"last_motion":`, float64(r.LastMotion))
	if r.Rev != 0 {
		w.Integer(`,"rev":`, int64(r.Rev))
	}
	if len(r.Version) > 0 {
		w.Document(`,"version":`, r.Version)
	}
	if len(r.Health) > 0 {
		w.Document(`,"health":`, r.Health)
	}
	if len(r.Leafblower) > 0 {
		w.object(`,"leafblower":`, keys(few[:0], r.Leafblower), func(name string) { w.choice(":", r.Leafblower[name]) })
	}
	if len(r.Radars) > 0 {
		w.object(`,"radars":`, keys(few[:0], r.Radars), func(name string) { w.radar(":", r.Radars[name]) })
	}
	w.Raw("}")
}

// Tripped writes whether a detection is open, null for unknown.
func (w *Writer) Tripped(lead string, tripped *int) {
	if tripped == nil {
		w.Raw(lead)
		w.Raw("null")
		return
	}
	w.Integer(lead, int64(*tripped))
}

func (w *Writer) choice(lead string, c motion.Choice) {
	w.Raw(lead)
	w.Text(`{"is_static":`, c.IsStatic)
	if c.Sounding == nil {
		w.Raw(`,"sounding":null`)
	} else {
		w.Bool(`,"sounding":`, *c.Sounding)
	}
	var few [16]string
	w.object(`,"ap":`, keys(few[:0], c.AP), func(name string) { w.Number(":", c.AP[name]) })
	if len(c.Leaf) > 0 {
		w.Document(`,"leaf":`, c.Leaf)
	}
	w.Raw("}")
}

func (w *Writer) radar(lead string, r motion.Radar) {
	w.RadarIdentity(lead, &r)
	w.radarDescription(&r)
	w.list(`,"links":`, len(r.Links), func(lead string, i int) { w.RadarLink(lead, &r.Links[i]) })
	w.Raw("}")
}

// RadarIdentity writes the beginning of a node's part of a status report: which node it is, and when it was
// heard. [RadarDescription] and the links follow.
func (w *Writer) RadarIdentity(lead string, r *motion.Radar) {
	w.Raw(lead)
	w.Text(`{"deviceId":`, r.DeviceID)
	w.Text(`,"node_id":`, r.NodeName)
	w.Text(`,"location_id":`, r.LocationID)
	w.Number(`,"ts":`, float64(r.TS))
	w.Number(`,"_age":`, r.Age)
	w.Integer(`,"root_mode":`, int64(r.RootMode))
}

// RadarDescription returns what stands between identity and links in a node's part of a status report.
func RadarDescription(r *motion.Radar) string {
	w := Writer{Out: make([]byte, 0, 2<<10), EscapeHTML: true}
	w.radarDescription(r)
	return string(w.Out)
}

func (w *Writer) radarDescription(r *motion.Radar) {
	w.MAC(`,"gateway_bssid":`, r.GatewayBSSID)
	w.MAC(`,"mesh_bssid":`, r.MeshBSSID)
	w.MAC(`,"p2p_bssid":`, r.P2PBSSID)
	w.MAC(`,"ap_bssid_2ghz":`, r.APBSSID2GHz)
	w.MAC(`,"ap_bssid_5ghz":`, r.APBSSID5GHz)
	w.Text(`,"hw_id":`, r.HWID)
	w.Text(`,"hw_version":`, r.HWVersion)
	w.Text(`,"fw_version":`, r.FWVersion)
	w.Text(`,"uptime":`, r.Uptime)
	w.Number(`,"status_time":`, r.StatusTime)
	var few [16]string
	w.object(`,"mem":`, keys(few[:0], r.Mem), func(name string) { w.Text(":", r.Mem[name]) })
	w.list(`,"load":`, len(r.Load), func(lead string, i int) { w.Text(lead, r.Load[i]) })
	w.fields(`,"version":`, r.Version)
	w.list(`,"interfaces":`, len(r.Interfaces), func(lead string, i int) { w.netInterface(lead, &r.Interfaces[i]) })
}

func (w *Writer) netInterface(lead string, i *motion.Interface) {
	w.Raw(lead)
	w.Text(`{"name":`, i.Name)
	w.Text(`,"type":`, i.Type)
	w.MAC(`,"mac":`, i.MAC)
	w.Text(`,"ip":`, i.IP)
	w.Text(`,"wifi_phy":`, i.WifiPhy)
	w.Integer(`,"wifi_channel":`, int64(i.WifiChannel))
	w.Text(`,"status":`, i.Status)
	w.Bool(`,"motion_enabled":`, i.MotionEnabled)
	w.Text(`,"rx_bytes":`, i.RxBytes)
	w.Text(`,"tx_bytes":`, i.TxBytes)
	w.list(`,"routes":`, len(i.Routes), func(lead string, at int) { w.Document(lead, i.Routes[at]) })
	w.Raw("}")
}

// RadarLink writes a peer of a node.
func (w *Writer) RadarLink(lead string, l *motion.RadarLink) {
	w.Raw(lead)
	w.MAC(`{"mac":`, l.MAC)
	w.Text(`,"peer_type":`, l.PeerType)
	if !l.MLDMAC.IsZero() {
		w.MAC(`,"mld_mac":`, l.MLDMAC)
	}
	w.Text(`,"if_name":`, l.IfName)
	w.Text(`,"phy":`, l.Phy)
	w.Text(`,"wifi_protocol":`, l.WifiProtocol)
	w.Text(`,"hostname":`, l.Hostname)
	w.Text(`,"ip":`, l.IP)
	w.Text(`,"rssi":`, l.RSSI)
	w.Text(`,"rssi_db":`, l.RSSIdB)
	w.Text(`,"rate_ms":`, l.RateMS)
	w.Text(`,"motion_state":`, l.MotionState)
	w.Text(`,"connected_time":`, l.ConnectedTime)
	w.Text(`,"last_heard":`, l.LastHeard)
	w.Text(`,"tx_bitrate":`, l.TxBitrate)
	w.Text(`,"rx_bitrate":`, l.RxBitrate)
	w.Text(`,"csi_report_count":`, l.CSIReportCount)
	w.Integer(`,"mconf_zero_count":`, int64(l.MConfZeroCount))
	w.Raw("}")
}
