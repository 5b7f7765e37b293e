package core

import "sensegate/motion"

// report writes a status report as callers see it: what a device did not send is an empty list or
// object, not null.
func (w *jsonWriter) report(lead string, r *motion.StatusReport) {
	w.raw(lead)
	w.number(`{"ts":`, float64(r.TS))
	w.integer(`,"network_id":`, int64(r.NetworkID))
	w.text(`,"guardian_id":`, r.GuardianID)
	w.text(`,"shard_id":`, r.ShardID)
	w.bool(`,"startup":`, r.Startup)
	w.integer(`,"motion_enabled":`, int64(r.MotionEnabled))
	if r.MotionTripped == nil {
		w.raw(`,"motion_tripped":null`)
	} else {
		w.integer(`,"motion_tripped":`, int64(*r.MotionTripped))
	}
	w.number(`,"last_motion":`, float64(r.LastMotion))
	if r.Rev != 0 {
		w.integer(`,"rev":`, int64(r.Rev))
	}
	if len(r.Version) > 0 {
		w.document(`,"version":`, r.Version)
	}
	if len(r.Health) > 0 {
		w.document(`,"health":`, r.Health)
	}
	if len(r.Leafblower) > 0 {
		writeObject(w, `,"leafblower":`, r.Leafblower, w.choice)
	}
	if len(r.Radars) > 0 {
		writeObject(w, `,"radars":`, r.Radars, w.radar)
	}
	w.raw("}")
}

func (w *jsonWriter) choice(lead string, c motion.Choice) {
	w.raw(lead)
	w.text(`{"is_static":`, c.IsStatic)
	if c.Sounding == nil {
		w.raw(`,"sounding":null`)
	} else {
		w.bool(`,"sounding":`, *c.Sounding)
	}
	writeObject(w, `,"ap":`, c.AP, w.number)
	if len(c.Leaf) > 0 {
		w.document(`,"leaf":`, c.Leaf)
	}
	w.raw("}")
}

func (w *jsonWriter) radar(lead string, r motion.Radar) {
	w.raw(lead)
	w.text(`{"deviceId":`, r.DeviceID)
	w.text(`,"node_id":`, r.NodeName)
	w.text(`,"location_id":`, r.LocationID)
	w.number(`,"ts":`, float64(r.TS))
	w.number(`,"_age":`, r.Age)
	w.integer(`,"root_mode":`, int64(r.RootMode))
	w.mac(`,"gateway_bssid":`, r.GatewayBSSID)
	w.mac(`,"mesh_bssid":`, r.MeshBSSID)
	w.mac(`,"p2p_bssid":`, r.P2PBSSID)
	w.mac(`,"ap_bssid_2ghz":`, r.APBSSID2GHz)
	w.mac(`,"ap_bssid_5ghz":`, r.APBSSID5GHz)
	w.text(`,"hw_id":`, r.HWID)
	w.text(`,"hw_version":`, r.HWVersion)
	w.text(`,"fw_version":`, r.FWVersion)
	w.text(`,"uptime":`, r.Uptime)
	w.number(`,"status_time":`, r.StatusTime)
	writeObject(w, `,"mem":`, r.Mem, w.text)
	writeList(w, `,"load":`, r.Load, func(lead string, s *string) { w.text(lead, *s) })
	writeObject(w, `,"version":`, r.Version, w.value)
	writeList(w, `,"interfaces":`, r.Interfaces, w.netInterface)
	writeList(w, `,"links":`, r.Links, w.radarLink)
	w.raw("}")
}

func (w *jsonWriter) netInterface(lead string, i *motion.Interface) {
	w.raw(lead)
	w.text(`{"name":`, i.Name)
	w.text(`,"type":`, i.Type)
	w.mac(`,"mac":`, i.MAC)
	w.text(`,"ip":`, i.IP)
	w.text(`,"wifi_phy":`, i.WifiPhy)
	w.integer(`,"wifi_channel":`, int64(i.WifiChannel))
	w.text(`,"status":`, i.Status)
	w.bool(`,"motion_enabled":`, i.MotionEnabled)
	w.text(`,"rx_bytes":`, i.RxBytes)
	w.text(`,"tx_bytes":`, i.TxBytes)
	writeList(w, `,"routes":`, i.Routes, func(lead string, d *motion.Document) { w.document(lead, *d) })
	w.raw("}")
}

func (w *jsonWriter) radarLink(lead string, l *motion.RadarLink) {
	w.raw(lead)
	w.mac(`{"mac":`, l.MAC)
	w.text(`,"peer_type":`, l.PeerType)
	if !l.MLDMAC.IsZero() {
		w.mac(`,"mld_mac":`, l.MLDMAC)
	}
	w.text(`,"if_name":`, l.IfName)
	w.text(`,"phy":`, l.Phy)
	w.text(`,"wifi_protocol":`, l.WifiProtocol)
	w.text(`,"hostname":`, l.Hostname)
	w.text(`,"ip":`, l.IP)
	w.text(`,"rssi":`, l.RSSI)
	w.text(`,"rssi_db":`, l.RSSIdB)
	w.text(`,"rate_ms":`, l.RateMS)
	w.text(`,"motion_state":`, l.MotionState)
	w.text(`,"connected_time":`, l.ConnectedTime)
	w.text(`,"last_heard":`, l.LastHeard)
	w.text(`,"tx_bitrate":`, l.TxBitrate)
	w.text(`,"rx_bitrate":`, l.RxBitrate)
	w.text(`,"csi_report_count":`, l.CSIReportCount)
	w.integer(`,"mconf_zero_count":`, int64(l.MConfZeroCount))
	w.raw("}")
}
