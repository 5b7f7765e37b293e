package inventory

import (
	"bytes"
	"cmp"
	"sort"
	"strconv"

	"sensegate/motion"
	"sensegate/motion/engine/state"
	"sensegate/motion/fuse"
	"sensegate/motion/jsonwriter"
)

// shownNode is a node of a composed status report.
type shownNode struct {
	name     string
	id       motion.NodeID // 0: links end there, and nothing else is shown of it
	presence state.NodePresence
}

// shownLeaf is a link of a leaf in a composed status report.
type shownLeaf struct {
	mac, mld     motion.MAC
	hostname, ip string
	isStatic     string
	link         *state.Link
	sounds       bool
}

// linkCount is how many links a network has, and how many of them work.
type linkCount struct{ total, ok int }

// compose writes the status report of a network without a reporting guardian, unless nothing was ever
// heard of it; n.Mu is held.
func (r *recordWriter) compose(w *jsonwriter.Writer, lead string, n *state.Network, now motion.Time) bool {
	latest := r.findNodes(n)
	if latest.IsZero() {
		return false
	}
	count := r.findLeafs(n, now)
	w.Raw(lead)
	w.Number(`{"ts":`, float64(latest))
	w.Integer(`,"network_id":`, int64(n.ID))
	w.Text(`,"guardian_id":`, n.Record.GuardianID)
	w.Raw(`,"shard_id":"local","startup":false`)
	w.Integer(`,"motion_enabled":`, int64(motionEnabled(n)))
	w.Tripped(`,"motion_tripped":`, n.Tripped(now))
	w.Number(`,"last_motion":`, float64(n.LastMotion()))
	r.health(w, count)
	r.leafblower(w)
	r.radars(w, n, now)
	w.Raw("}")
	return true
}

// findNodes finds the nodes that are shown, by name, and when one of them was last heard; 0: there is none.
func (r *recordWriter) findNodes(n *state.Network) (latest motion.Time) {
	r.nodes = r.nodes[:0]
	for _, id := range n.NodeIDs {
		p := r.present.Of(id)
		if !n.ShowsSignAt(p.LastHeard) {
			continue
		}
		latest = max(latest, p.LastHeard)
		shown := r.node(n.Nodes[id].Name)
		shown.id, shown.presence = id, p
	}
	return latest
}

// node returns the node with the name, a new one if there is none.
func (r *recordWriter) node(name string) *shownNode {
	at := sort.Search(len(r.nodes), func(i int) bool { return r.nodes[i].name >= name })
	if at == len(r.nodes) || r.nodes[at].name != name {
		r.nodes = append(r.nodes, shownNode{})
		copy(r.nodes[at+1:], r.nodes[at:])
		r.nodes[at] = shownNode{name: name}
	}
	return &r.nodes[at]
}

// findLeafs finds the links of leafs, by address and node, and counts all links.
func (r *recordWriter) findLeafs(n *state.Network, now motion.Time) (count linkCount) {
	r.leafs = r.leafs[:0]
	for _, link := range n.Links {
		count.total++
		leaf, isLeaf := leafOf(n, link)
		takesPart := link.Sounding && n.LinkOnline(link, now)
		if takesPart {
			takesPart = isLeaf && n.MayTakePart(fuse.Link{Src: leaf.MAC}) || !isLeaf && !n.Denied(link)
		}
		if takesPart && now.Since(link.Heard) <= state.SilentAfter {
			count.ok++
		}
		if !isLeaf {
			continue
		}
		r.node(link.DstName)
		at := sort.Search(len(r.leafs), func(i int) bool {
			order := bytes.Compare(r.leafs[i].mac[:], leaf.MAC[:])
			return order > 0 || order == 0 && r.leafs[i].link.DstName >= link.DstName
		})
		r.leafs = append(r.leafs, shownLeaf{})
		copy(r.leafs[at+1:], r.leafs[at:])
		r.leafs[at] = shownLeaf{leaf.MAC, leaf.MLDMAC, leaf.Hostname, leaf.IP, staticness(n, leaf), link, takesPart && link.LeftOut == ""}
	}
	return count
}

// health writes which nodes are there, and how many links work.
func (r *recordWriter) health(w *jsonwriter.Writer, count linkCount) {
	score := 0.0
	if count.total > 0 {
		score = motion.Round(float64(count.ok)/float64(count.total), 2)
	}
	w.Integer(`,"health":{"network":{"links_ok":`, int64(count.ok))
	w.Integer(`,"links_total":`, int64(count.total))
	w.Number(`,"score":`, score)
	w.Raw(`},"nodes":`)
	separator := "{"
	for i := range r.nodes {
		node := &r.nodes[i]
		if node.id == 0 {
			continue
		}
		w.Text(separator, node.name)
		w.Number(`:{"last_heard":`, float64(node.presence.LastHeard))
		w.Bool(`,"online":`, node.presence.Online)
		separator = "},"
	}
	w.Raw("}}}") // there is a node: it was heard
}

// leafblower writes which leafs are sounded, if there are any.
func (r *recordWriter) leafblower(w *jsonwriter.Writer) {
	separator := `,"leafblower":{`
	for first := 0; first < len(r.leafs); {
		end := first + 1
		sounding := r.leafs[first].sounds
		for ; end < len(r.leafs) && r.leafs[end].mac == r.leafs[first].mac; end++ {
			sounding = sounding || r.leafs[end].sounds
		}
		leaf := &r.leafs[end-1]
		w.MAC(separator, leaf.mac)
		w.Text(`:{"is_static":`, leaf.isStatic)
		w.Bool(`,"sounding":`, sounding)
		lead := `,"ap":{`
		for ; first < end; first++ {
			link := r.leafs[first].link
			if first+1 < end && r.leafs[first+1].link.DstName == link.DstName {
				continue // one of the two is of a node that is named as the leaf's address
			}
			w.Text(lead, link.DstName)
			w.Number(":", state.ScoreOf(link))
			lead = ","
		}
		w.Text(`},"leaf":{"hostname":`, leaf.hostname)
		w.Text(`,"if_name":`, leaf.link.IfName)
		w.MAC(`,"mac":`, leaf.mac)
		w.Raw(`,"peer_type":"` + motion.PeerClient + `"}}`)
		separator = ","
	}
	if len(r.leafs) > 0 {
		w.Raw("}")
	}
}

// radars writes what each node says of itself, and the links at it.
func (r *recordWriter) radars(w *jsonwriter.Writer, n *state.Network, now motion.Time) {
	separator := `,"radars":{`
	for i := range r.nodes {
		shown := &r.nodes[i]
		w.Text(separator, shown.name)
		separator = ","
		node, text := n.Nodes[shown.id], n.Radars[shown.id].Text
		radar := motion.Radar{DeviceID: node.DeviceID, NodeName: node.Name, LocationID: node.LocationID, RootMode: node.RootMode}
		if shown.id != 0 {
			radar.TS, radar.Age = shown.presence.LastHeard, max(0, now.Since(shown.presence.LastHeard))
		}
		w.RadarIdentity(":", &radar)
		w.Raw(cmp.Or(text, undescribed))
		r.links(w, shown.name)
		w.Raw("}")
	}
	w.Raw("}")
}

// undescribed is the text of a node that has not described itself.
var undescribed = jsonwriter.RadarDescription(&motion.Radar{})

// links writes the links of leafs at a node.
func (r *recordWriter) links(w *jsonwriter.Writer, node string) {
	w.Raw(`,"links":[`)
	lead := ""
	for i := range r.leafs {
		leaf := &r.leafs[i]
		if leaf.link.DstName != node {
			continue
		}
		rssi := strconv.Itoa(leaf.link.RSSI)
		w.RadarLink(lead, &motion.RadarLink{
			MAC: leaf.mac, PeerType: motion.PeerClient, IfName: leaf.link.IfName, Hostname: leaf.hostname, IP: leaf.ip,
			RSSI: rssi, RSSIdB: rssi, MLDMAC: leaf.mld,
		})
		lead = ","
	}
	w.Raw("]")
}
