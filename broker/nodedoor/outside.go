package nodedoor

import (
	"fmt"
	"net/netip"
	"strconv"

	"sensegate/broker/nodewire"
	"sensegate/motion"
)

// This file is about nodes that decide about motion themselves and tell it to a broker outside of this box, which an
// uplink hears. Such a node waits until it is let in as any other.

// outsideUser returns the connection by which the nodes of an uplink's broker come.
func outsideUser(uplink string) user { return user{name: uplink, outside: true} }

// OutsideFilters returns the filters of the topics at which nodes are recognised.
func (d *Door) OutsideFilters() []string { return nodewire.OutsideFilters() }

// OutsideConnected notes that an uplink hears its broker.
func (d *Door) OutsideConnected(uplink string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.users[outsideUser(uplink)] = netip.IPv4Unspecified()
}

// OutsideGone notes that it hears it no longer: what nodes have said there says nothing of now.
func (d *Door) OutsideGone(uplink string) { d.userGone(outsideUser(uplink)) }

// OutsideSaid takes in a message of an uplink's broker. It returns the topic below which its node publishes, "" if it
// is of none, and the other topics of that node. What the broker had kept says whether a node is connected, and its
// threshold; its motion is of a time before.
func (d *Door) OutsideSaid(uplink, topic string, payload []byte, retained bool) (node string, follow []string) {
	m, err := nodewire.MQTTMotion(topic, payload)
	if err != nil {
		return "", nil
	}
	by := outsideUser(uplink)
	node, follow, recognised := nodewire.OutsideNode(topic)
	d.mu.Lock()
	from, connected := d.users[by]
	if !recognised {
		_, recognised = d.sources[outsideSource(from, uplink, m.Node)]
		node = m.Node
	}
	at := outsideSource(from, uplink, node)
	twice := recognised && d.saysElsewhere(node, by)
	if n := d.sources[at]; twice && n != nil && n.said != nil {
		n.said.gone, n.said.moves, n.said.score = true, nil, nil
	}
	d.mu.Unlock()
	if !connected || !recognised {
		return "", nil
	}
	if retained {
		m.Moves, m.Score = nil, nil
	}
	if !twice {
		d.says(at, m, by, node, motion.MAC{})
	}
	return node, follow
}

// outsideSource returns where the messages of a node of an uplink's broker come from.
func outsideSource(from netip.Addr, uplink, node string) source {
	if id := nodewire.ESPectreIDOf(node); id != "" {
		node = id
	}
	return source{kind: motion.MQTTMotion, address: from, where: whereOf(uplink + "-" + node)}
}

// saysElsewhere reports whether the node that publishes below a topic is heard by another way too, which counts
// then: this box's own broker, the broker of another uplink, or by HTTP. d.mu is held.
func (d *Door) saysElsewhere(topic string, by user) bool {
	number, err := strconv.ParseUint(nodewire.ESPectreIDOf(topic), 16, 64)
	now := d.options.Now()
	for _, n := range d.sources {
		if now.Sub(n.heard) >= quietAfter {
			continue
		}
		same := n.said != nil && !n.said.gone && n.said.topic == topic && n.said.user != by
		if err == nil && n.source.kind == motion.ESPectre {
			same = n.source.where == fmt.Sprintf("%016x", number) || !n.mac.IsZero() && nodewire.ESPectreDeviceID(n.mac) == number
		}
		if same {
			return true
		}
	}
	return false
}
