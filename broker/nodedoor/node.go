package nodedoor

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"sensegate/broker/nodewire"
	"sensegate/motion"
)

// node is a node that is heard. The mutex of the door guards it; Run alone writes id, mac, looked and
// looks, so that it reads them without.
type node struct {
	id     string // its deviceId
	source source
	mac    motion.MAC // of the address that it sends from; zero: unknown

	key      motion.DeviceKey // zero: not adopted
	receiver motion.MAC       // that its links end at
	asked    time.Time        // when the engine was asked last
	looked   time.Time        // at the neighbour table
	looks    int
	heard    time.Time // of its newest message
	moved    bool      // its address has changed, which the engine does not know yet
	channel  uint8

	sequence     sequence
	transmitters []transmitter
	batches      []*batch
	last         []byte  // channel state of the newest frame
	said         *saying // of one that decides about motion itself
	tally        tally
	message      []byte // what is handed over now; of handOver alone
}

// What may come of a message before it is decoded.
type verdict int

const (
	admitted verdict = iota
	foreign          // from outside the networks of this box
	limited          // beyond a rate
)

// admits decides about a message by who sends it alone.
func (d *Door) admits(kind motion.NodeKind, from netip.Addr) verdict {
	now := d.options.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.near(from) {
		return foreign
	}
	known := d.adopted[sender{kind, from}]
	if known == nil {
		if d.stranger.Take(from, now) > 0 || d.strangers.Take(struct{}{}, now) > 0 {
			return limited
		}
		return admitted
	}
	if d.senders.Take(from, now) > 0 {
		known.tally.tooFast++
		return limited
	}
	return admitted
}

// take takes in a frame, and reports whether it is one of an adopted node.
func (d *Door) take(from source, f *nodewire.Frame) bool {
	now := d.options.Now()
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.at(from, now)
	if n == nil {
		return false
	}
	n.heard, n.channel = now, f.Channel
	n.take(f, d.config.Transmitters, now)
	return n.key.ID != ""
}

// at returns the node that messages come from, met now if need be; nil when there is no room for it. d.mu is held.
func (d *Door) at(from source, now time.Time) *node {
	if n := d.sources[from]; n != nil {
		return n
	}
	return d.meet(from, now)
}

// meet notes a node that was not heard before; nil when there is no room for it. Of those that wait the one heard longest
// ago gives way.
func (d *Door) meet(from source, now time.Time) *node {
	adopted, pending, there := 0, 0, 0
	var oldest *node
	for _, n := range d.sources {
		if n.source.address == from.address {
			there++
		}
		if n.key.ID != "" {
			adopted++
			continue
		}
		if pending++; oldest == nil || n.heard.Before(oldest.heard) {
			oldest = n
		}
	}
	if adopted >= maxNodes || there >= maxAtAddress {
		return nil
	}
	if pending >= maxPending {
		d.drop(oldest)
	}
	n := &node{source: from, heard: now}
	d.sources[from] = n
	return n
}

// drop forgets a node. d.mu is held.
func (d *Door) drop(n *node) {
	delete(d.sources, n.source)
	if d.nodes[n.id] == n {
		delete(d.nodes, n.id)
		d.options.Engine.NodeFigures(n.id, nil)
	}
}

// leave ends what holds of an adopted node.
func (n *node) leave() {
	n.key, n.asked, n.batches = motion.DeviceKey{}, time.Time{}, nil
}

// identify gives a node its id by where its messages come from.
func (n *node) identify(mac motion.MAC) {
	n.mac = mac
	where := n.source.where
	switch {
	case where != "":
	case !mac.IsZero():
		where = mac.Name()
	default:
		where = plain(n.source.address.String())
	}
	number := ""
	if n.source.kind == motion.RuView || n.source.kind == motion.Nexmon {
		number = strconv.Itoa(int(n.source.number))
	}
	n.id = motion.NodeDeviceID(n.source.kind, where, number)
}

// plain returns a name as it can stand in a deviceId: what else there is becomes a hyphen.
func plain(name string) string {
	return strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' {
			return c
		}
		return '-'
	}, name)
}

// describe returns what is known of a node.
func (n *node) describe() (said motion.Radar, substitute motion.MAC) {
	sum := sha256.Sum256([]byte(n.id))
	substitute = motion.MAC{0x02, 'R', sum[0], sum[1], sum[2], sum[3]}
	name := strings.TrimPrefix(strings.ReplaceAll(n.id, ":", "-"), "node-")
	own := n.mac
	if own.IsZero() {
		own = substitute
	}
	return motion.Radar{
		DeviceID: n.id, NodeName: name, RootMode: 1, HWID: string(n.source.kind),
		Interfaces: []motion.Interface{{Name: "wlan0", Type: "WIFI_CLIENT", MAC: own, IP: n.source.address.String(), WifiChannel: int(n.channel)}},
	}, substitute
}

// take takes in a frame that has come at now.
func (n *node) take(f *nodewire.Frame, picked []motion.MAC, now time.Time) {
	n.tally.arrived++
	n.tally.length(f.Length)
	switch n.sequence.judge(f.Seq, now) {
	case duplicate:
		n.tally.duplicates++
		n.tally.same++
		return
	case backwards:
		n.tally.backwards++
		return
	case restarted:
		n.tally.restarts++
	}
	if len(f.Data) > 0 {
		if slices.Equal(n.last, f.Data) {
			n.tally.identical++
			n.tally.same++
		}
		n.last = append(n.last[:0], f.Data...)
	}
	src, used := n.hears(f.Src, picked)
	if n.key.ID == "" || !used || !n.gather(src, f, now) {
		return
	}
	n.tally.used++
	n.tally.counted++
	if i := slices.IndexFunc(n.transmitters, func(t transmitter) bool { return t.mac == src }); i >= 0 {
		n.transmitters[i].counted++
	}
}

// transmitter is one whose frames a node measures.
type transmitter struct {
	mac   motion.MAC
	count int64 // of late: halved now and then
	known bool  // a node of the network, or picked by hand

	counted int64 // that were used
}

// How transmitters are told apart.
const (
	maxTransmitters = 16
	aloneAfter      = 200 // frames
	aloneShare      = 0.8 // of them; less is a choice for people
)

// hears counts a frame of a transmitter and returns the source of its link, and whether frames of that are
// used: those of picked ones and of the network's own nodes, or of one that makes nearly all frames where
// none is picked. A zero address is a form that does not tell.
func (n *node) hears(mac motion.MAC, picked []motion.MAC) (src motion.MAC, used bool) {
	if mac.IsZero() {
		if len(picked) == 1 {
			return picked[0], true
		}
		return motion.MAC{0x02, 'R', 'V', 0, n.source.number, 0}, true
	}
	if mac[0]&1 != 0 { // a group of receivers, which transmits nothing
		return mac, false
	}
	i := slices.IndexFunc(n.transmitters, func(t transmitter) bool { return t.mac == mac })
	if i < 0 {
		if len(n.transmitters) == maxTransmitters {
			n.transmitters = slices.Delete(n.transmitters, maxTransmitters-1, maxTransmitters)
		}
		n.transmitters = append(n.transmitters, transmitter{mac: mac, known: slices.Contains(picked, mac)})
		i = len(n.transmitters) - 1
	}
	t := &n.transmitters[i]
	t.count++
	return mac, n.uses(t, len(picked) > 0)
}

// uses reports whether the frames of a transmitter are used.
func (n *node) uses(t *transmitter, picked bool) bool {
	switch {
	case n.source.kind == motion.ESPectre: // it measures its access point alone
		return true
	case t.known || picked:
		return t.known
	}
	all := n.transmitted()
	return all >= aloneAfter && float64(t.count) >= aloneShare*float64(all)
}

// transmitted returns how many frames of transmitters were heard of late.
func (n *node) transmitted() (all int64) {
	for _, t := range n.transmitters {
		all += t.count
	}
	return all
}

// settle sorts the transmitters, the most frequent first, and lets what was long ago count less.
func (n *node) settle(known func(motion.MAC) bool, picked []motion.MAC) {
	slices.SortFunc(n.transmitters, func(a, b transmitter) int { return cmp.Compare(b.count, a.count) })
	old := n.transmitted() > 100*aloneAfter
	for i := range n.transmitters {
		t := &n.transmitters[i]
		t.known = slices.Contains(picked, t.mac) || known(t.mac)
		if old {
			t.count /= 2
		}
	}
}

// at says where the messages of a node come from.
func (n *node) at() string {
	if n.source.where != "" {
		return n.source.where
	}
	return n.source.address.String()
}

// name is a node in the log.
func (n *node) name() string { return fmt.Sprintf("%s at %s", n.id, n.at()) }
