package sim

import (
	"fmt"
	"strconv"

	"sensegate/motion"
)

// booted is the reported uptime of devices at the start of the simulation, in
// seconds.
const booted = 180_000

// radarRecord returns the record of a node at t (payloads.md 4.2). state says which
// of its peers work; start is the start of the simulation.
func radarRecord(home *Home, index int, links []Link, state up, start, t motion.Time) motion.Radar {
	node := home.Nodes[index]
	r := motion.Radar{
		DeviceID: node.DeviceID, NodeName: node.Name, LocationID: home.GuardianID, TS: t, RootMode: 1,
		GatewayBSSID: motion.MAC{0x02, 0xff, 0, 0, 0, 1}, MeshBSSID: node.Mesh, APBSSID2GHz: node.AP24, APBSSID5GHz: node.AP5,
		HWID: "Acme", HWVersion: "AP-900", FWVersion: "1.4.2",
		Uptime: strconv.FormatFloat(t.Since(start)+booted, 'f', 2, 64), StatusTime: 0.52,
		Mem:  map[string]string{"total": "496180", "avail": "318828", "free": "276284"},
		Load: []string{"0.96", "1.21", "1.37"},
		Version: motion.Document{
			"algos":  motion.Document{"omot": "1.9.2"},
			"radios": motion.Document{"wifi0": motion.Document{"chipset": "X4019", "fw_version": "0.1"}},
		},
		Interfaces: interfaces(node), Links: []motion.RadarLink{},
	}
	if index == 0 {
		r.RootMode = motion.RootModeMaster
	}
	for i := range links {
		if links[i].Node == index && state.link(&links[i]) {
			r.Links = append(r.Links, peer(home, &links[i]))
		}
	}
	return r
}

// interfaces returns the network interfaces of a node.
func interfaces(node Node) []motion.Interface {
	access := func(name, phy string, mac motion.MAC, channel int, sensing bool) motion.Interface {
		return motion.Interface{
			Name: name, Type: "WIFI_AP", MAC: mac, WifiPhy: phy, WifiChannel: channel, Status: "Connected",
			MotionEnabled: sensing, RxBytes: "37876978", TxBytes: "481324793", Routes: []motion.Document{},
		}
	}
	wired := motion.Interface{
		Name: "wan0", Type: "ETHERNET", MAC: node.Eth, IP: node.IP, Status: "Connected", RxBytes: "937876978", TxBytes: "81324793",
		Routes: []motion.Document{{"dst": "0.0.0.0", "gateway": "192.168.11.254", "netmask": "0.0.0.0", "metric": "0"}},
	}
	return []motion.Interface{
		wired,
		access("home-ap-24", "wifi0", node.AP24, channel24, true),
		access("home-ap-50", "wifi1", node.AP5, 36, false),
		access("bhaul-ap-u50", "wifi2", node.Mesh, channelMesh, true),
	}
}

// peer returns the source of a link as its destination reports it.
func peer(home *Home, link *Link) motion.RadarLink {
	r := motion.RadarLink{
		MAC: link.Src, PeerType: motion.PeerClient, IfName: "home-ap-24", Phy: "wifi0", WifiProtocol: "802_11",
		RSSI: strconv.Itoa(link.RSSI), RSSIdB: strconv.Itoa(link.RSSI), RateMS: "40", MotionState: "1",
		ConnectedTime: "451182454", LastHeard: "0", TxBitrate: "72000000", RxBitrate: "54000000", CSIReportCount: "0",
	}
	if link.Peer >= 0 {
		r.PeerType, r.IfName, r.Phy = motion.PeerMesh, "bhaul-ap-u50", "wifi2"
		r.TxBitrate, r.RxBitrate, r.Hostname, r.IP = "1733000000", "1733000000", home.Nodes[link.Peer].Name, home.Nodes[link.Peer].IP
		return r
	}
	leaf := home.Leafs[link.Leaf]
	r.Hostname, r.IP = leaf.Hostname, leaf.IP
	return r
}

// fullStatus fills in what a heartbeat lacks.
func fullStatus(report *motion.StatusReport, home *Home, links []Link, state up, start motion.Time) {
	report.ShardID = "local"
	report.Version = motion.Document{
		"core": "0.7.2", "context": "0.8.2", "MotionEvent": "0.5.4", "LinkEvent": "0.1.2", "leafblower": "0.3.1",
	}
	report.Radars = map[string]motion.Radar{}
	report.Leafblower = map[string]motion.Choice{}
	nodes := motion.Document{}
	for i, node := range home.Nodes {
		health := motion.Document{"online": state.nodes[i], "last_heard": report.TS, "uptime_s": report.TS.Since(start) + booted}
		if state.nodes[i] {
			report.Radars[node.Name] = radarRecord(home, i, links, state, start, report.TS)
		} else {
			delete(health, "last_heard")
		}
		nodes[node.Name] = health
	}
	ok := 0
	for i := range links {
		if state.link(&links[i]) {
			ok++
		}
		if links[i].Leaf >= 0 {
			report.Leafblower[links[i].Src.String()] = choice(home, &links[i], state)
		}
	}
	report.Health = motion.Document{"nodes": nodes, "network": motion.Document{
		"score": float64(ok) / float64(max(1, len(links))), "links_total": len(links), "links_ok": ok,
	}}
}

// choice returns the result of link selection for the leaf of a link.
func choice(home *Home, link *Link, state up) motion.Choice {
	sounding := state.link(link)
	scores := map[string]float64{}
	for i, node := range home.Nodes {
		scores[node.Name] = 0.12
		if i == link.Node {
			scores[node.Name] = 0.98
		}
	}
	leaf := home.Leafs[link.Leaf]
	return motion.Choice{IsStatic: "STATIC", Sounding: &sounding, AP: scores, Leaf: motion.Document{
		"mac": leaf.MAC.String(), "hostname": leaf.Hostname, "peer_type": motion.PeerClient, "if_name": "home-ap-24",
		"ht_capabilities": "0x0000112c", "vht_capabilities": "0x00000000", "rssi": fmt.Sprint(link.RSSI),
	}}
}
