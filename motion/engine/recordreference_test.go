package engine_test

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"testing"

	"sensegate/motion"
	"sensegate/motion/engine"
	"sensegate/motion/engine/state"
	"sensegate/motion/fault"
	"sensegate/motion/fuse"
	"sensegate/motion/jsonwriter/jsonwritertest"
	"sensegate/store"
)

// referenceRecord is the network record (payloads.md 4.1).
type referenceRecord struct {
	ID             motion.NetworkID `json:"id"`
	GuardianID     string           `json:"guardian_id"`
	MasterID       motion.NodeID    `json:"master_id"`
	CreatedAt      motion.Time      `json:"created_at"`
	UpdatedAt      motion.Time      `json:"updated_at"`
	LastHeard      motion.Time      `json:"last_heard"`
	Online         bool             `json:"online"`
	Meta           motion.Document  `json:"meta"`
	GuardianConfig motion.Document  `json:"guardian_config"`
	RadarConfig    motion.Document  `json:"radar_config"`
	LastStatus     json.RawMessage  `json:"last_guardian_status"`
	Nodes          []motion.Node    `json:"nodes,omitzero"`
}

// reference composes the answer about a network as values, of the records in the database and of what is known
// of the network this minute.
type reference struct {
	*state.Network
	now      motion.Time
	stored   motion.Network
	nodes    []motion.Node
	leafs    []motion.Leaf
	radars   map[motion.NodeID]motion.Radar
	presence map[motion.NodeID]state.Presence
}

func referenceOf(t *testing.T, e *engine.Engine, id motion.NetworkID, expand bool) referenceRecord {
	t.Helper()
	n, err := e.State.Network(id)
	if err != nil {
		t.Fatal(err)
	}
	r := reference{Network: n, now: e.State.Now(), radars: map[motion.NodeID]motion.Radar{}}
	err = e.State.DB.View(t.Context(), func(tx *store.Tx) (err error) {
		if r.stored, err = tx.Network(id); err != nil {
			return err
		}
		if r.nodes, err = tx.Nodes(id); err != nil {
			return err
		}
		for _, node := range r.nodes {
			if r.radars[node.ID], err = tx.Radar(node.ID); err != nil && fault.KindOf(err) != fault.NotFound {
				return err
			}
		}
		r.leafs, err = tx.Leafs(id)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	r.findPresence(e)
	record := referenceRecord{
		ID: id, GuardianID: r.stored.GuardianID, MasterID: r.stored.MasterID, CreatedAt: r.stored.CreatedAt, UpdatedAt: r.stored.UpdatedAt,
		Meta: state.MetaOf(r.stored, slices.Values(r.leafs)).View(), GuardianConfig: motion.WithDefaults(r.stored.Guardian(), r.stored.GuardianConfig),
		RadarConfig: motion.WithDefaults(r.stored.Radar(), r.stored.RadarConfig), LastStatus: json.RawMessage("null"), Nodes: r.nodesNow(),
	}
	guardian := e.State.Presence(r.stored.GuardianKey(), r.now)
	record.Online, record.LastHeard = guardian.Online, max(r.stored.LastHeard, guardian.LastHeard)
	for _, node := range record.Nodes {
		record.Online, record.LastHeard = record.Online || node.Online, max(record.LastHeard, node.LastHeard)
	}
	if !expand {
		record.Nodes = nil
	}
	if report := r.report(); r.Status != nil || !report.TS.IsZero() {
		record.LastStatus = jsonwritertest.ByEncodingJSON(t, jsonwritertest.Tidy(report), true)
	}
	return record
}

// findPresence finds out which nodes are there.
func (r *reference) findPresence(e *engine.Engine) {
	r.presence = map[motion.NodeID]state.Presence{}
	sensed := map[motion.NodeID]motion.Time{}
	for _, link := range r.Links {
		if link.IfName != state.MatrixInterface {
			continue
		}
		sensed[link.Dst] = max(sensed[link.Dst], link.Heard)
		if link.Mesh {
			sensed[link.Src] = max(sensed[link.Src], link.Heard)
		}
	}
	if r.Source.Holder == state.GuardianHolds && r.Status == nil {
		sensed[r.stored.MasterID] = max(sensed[r.stored.MasterID], r.Source.Heard)
	}
	for _, node := range r.nodes {
		p, last := e.State.Presence(motion.DeviceKey{Kind: motion.RadarKind, ID: node.DeviceID}, r.now), sensed[node.ID]
		p.LastHeard = max(p.LastHeard, node.LastHeard, last)
		p.Online = p.Online || !last.IsZero() && r.now.Since(last) <= state.SilentAfter
		r.presence[node.ID] = p
	}
}

// nodesNow returns the nodes as they are now.
func (r *reference) nodesNow() []motion.Node {
	nodes := []motion.Node{}
	for _, node := range r.nodes {
		p := r.presence[node.ID]
		radar, listed := r.Listed(node.Name)
		node.Online = p.Online || r.now.Since(r.Reported) <= state.SilentAfter && listed && radar.Age <= state.SilentAfter
		node.LastHeard = max(node.LastHeard, p.LastHeard)
		if listed && !r.Reported.IsZero() {
			node.LastHeard = max(node.LastHeard, r.Reported.Add(-radar.Age))
		}
		if node.Version == nil {
			node.Version = motion.Document{}
		}
		nodes = append(nodes, node)
	}
	return nodes
}

// report returns the status report, without a time when nothing was ever heard.
func (r *reference) report() motion.StatusReport {
	if r.Status == nil {
		return r.composed()
	}
	report := *r.Status
	report.MotionTripped, report.Leafblower = r.Tripped(r.now), maps.Clone(report.Leafblower)
	for text, choice := range report.Leafblower {
		mac, err := motion.ParseMAC(text)
		if err == nil && *choice.Sounding && !r.MayTakePart(fuse.Link{Src: mac}) {
			choice.Sounding = new(bool)
			report.Leafblower[text] = choice
		}
	}
	return report
}

func (r *reference) composed() motion.StatusReport {
	report := motion.StatusReport{
		NetworkID: r.ID, GuardianID: r.stored.GuardianID, ShardID: "local",
		MotionEnabled: r.stored.Guardian().MotionEvents.Enabled, MotionTripped: r.Tripped(r.now), LastMotion: r.LastMotion(),
		Version: motion.Document{}, Leafblower: map[string]motion.Choice{}, Radars: map[string]motion.Radar{},
	}
	if r.stored.Paused() {
		report.MotionEnabled = 0
	}
	nodes := map[string]any{}
	for _, node := range r.nodes {
		p := r.presence[node.ID]
		if !r.stored.StatusCleared.IsZero() && p.LastHeard <= r.stored.StatusCleared {
			continue
		}
		report.TS = max(report.TS, p.LastHeard)
		nodes[node.Name] = map[string]any{"online": p.Online, "last_heard": p.LastHeard}
		radar := r.radars[node.ID]
		radar.DeviceID, radar.NodeName, radar.LocationID, radar.RootMode = node.DeviceID, node.Name, node.LocationID, node.RootMode
		radar.TS, radar.Age, radar.Links = p.LastHeard, max(0, r.now.Since(p.LastHeard)), []motion.RadarLink{}
		report.Radars[node.Name] = radar
	}
	total, ok := r.composeLinks(&report)
	score := 0.0
	if total > 0 {
		score = motion.Round(float64(ok)/float64(total), 2)
	}
	report.Health = motion.Document{"nodes": nodes, "network": map[string]any{"score": score, "links_total": total, "links_ok": ok}}
	return report
}

// composeLinks adds the links to a composed report, by leaf and node, and counts them.
func (r *reference) composeLinks(report *motion.StatusReport) (total, ok int) {
	links := slices.SortedFunc(maps.Values(r.Links), func(a, b *state.Link) int {
		return cmp.Or(cmp.Compare(a.SrcName, b.SrcName), cmp.Compare(a.DstName, b.DstName))
	})
	for _, link := range links {
		total++
		if link.Online && link.Sounding && r.now.Since(link.Heard) <= state.SilentAfter && !r.Denied(link) {
			ok++
		}
		at := slices.IndexFunc(r.leafs, func(leaf motion.Leaf) bool { return leaf.MAC.Name() == link.SrcName })
		if at < 0 {
			continue
		}
		leaf, radar := r.leafs[at], report.Radars[link.DstName]
		radar.Links = append(radar.Links, motion.RadarLink{
			MAC: leaf.MAC, PeerType: motion.PeerClient, IfName: link.IfName, Hostname: leaf.Hostname, IP: leaf.IP,
			RSSI: strconv.Itoa(link.RSSI), RSSIdB: strconv.Itoa(link.RSSI), MLDMAC: leaf.MLDMAC,
		})
		report.Radars[link.DstName] = radar
		mac := leaf.MAC.String()
		choice := report.Leafblower[mac]
		sounding := r.SoundsNow(link, r.now) || choice.Sounding != nil && *choice.Sounding
		choice.IsStatic, choice.Sounding = "STATIC", &sounding
		if leaf.IsMobile() {
			choice.IsStatic = "MOBILE"
		}
		choice.Leaf = motion.Document{"mac": mac, "hostname": leaf.Hostname, "peer_type": motion.PeerClient, "if_name": link.IfName}
		if choice.AP == nil {
			choice.AP = map[string]float64{}
		}
		choice.AP[link.DstName] = state.ScoreOf(link)
		report.Leafblower[mac] = choice
	}
	return total, ok
}
