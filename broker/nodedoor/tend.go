package nodedoor

import (
	"context"
	"net"
	"net/netip"
	"time"

	"sensegate/motion"
)

// tend looks at each node: who it is, whether it may come in, and what arrives of it.
func (d *Door) tend(ctx context.Context) {
	now := d.options.Now()
	d.mu.Lock()
	all := map[*node]bool{} // and whether it is adopted
	for _, n := range d.sources {
		all[n] = n.key.ID != ""
	}
	d.mu.Unlock()
	asks := 0
	for n, adopted := range all {
		switch {
		case ctx.Err() != nil:
			return
		case adopted:
			d.look(n, adopted, now)
			d.endMoved(n, now)
		case asks < asksASecond:
			asks += d.look(n, adopted, now) + d.ask(ctx, n, now)
		}
		d.tell(n, now)
	}
	d.sortOut(now)
}

// sortOut forgets nodes that wait and are not heard any more, and notes who is adopted.
func (d *Door) sortOut(now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.adopted)
	for _, n := range d.sources {
		switch {
		case n.key.ID != "":
			d.adopted[sender{n.source.kind, n.source.address}] = n
		case now.Sub(n.heard) >= forgetAfter:
			d.drop(n)
		}
	}
}

// look asks the neighbour table whose address a node sends from, and returns how often it did. A node whose address is
// that of another device now is not the one that was adopted. One that has no entry gets time to have one:
// the table has none before something is sent there.
func (d *Door) look(n *node, adopted bool, now time.Time) int {
	const patience = 3
	every := macEvery
	if n.id == "" {
		every = time.Second
	}
	if now.Sub(n.looked) < every {
		return 0
	}
	address := n.source.address
	var mac motion.MAC
	if n.source.where == "" {
		mac = d.options.Neighbour(address)
	}
	n.looked = now
	n.looks++
	if adopted && n.source.where == "" && !address.IsLoopback() {
		provoke(address) // else the table may go on with an entry that nobody confirms
	}
	switch {
	case n.id == "" && n.source.where == "" && mac.IsZero() && !address.IsLoopback() && n.looks < patience:
		provoke(address)
		return 1
	case n.id != "" && (mac == n.mac || mac.IsZero() || n.mac.IsZero() && adopted):
		return 1
	}
	if n.id != "" {
		d.options.Log.Warn("the address of a node belongs to another device now", "device", n.name(), "mac", mac.String())
		d.dismiss(n, "its address belongs to another device now")
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.nodes[n.id] == n {
		delete(d.nodes, n.id)
		d.options.Engine.NodeFigures(n.id, nil)
	}
	n.identify(mac)
	if known := d.nodes[n.id]; known != nil { // it has another address now
		known.moveTo(d, n)
		return 1
	}
	d.nodes[n.id] = n
	return 1
}

// provoke sends nothing to an address, to a port at which nothing listens: the system then asks the network whose
// address it is.
func provoke(address netip.Addr) {
	conn, err := net.Dial("udp", netip.AddrPortFrom(address, 9).String())
	if err != nil {
		return
	}
	_, _ = conn.Write(nil) // whether it arrives does not matter
	_ = conn.Close()
}

// dismiss ends the session of a node that is adopted.
func (d *Door) dismiss(n *node, why string) {
	d.mu.Lock()
	key := n.key
	n.leave()
	d.mu.Unlock()
	if key.ID != "" {
		d.options.Engine.Disconnected(key, why)
	}
}

// moveTo lets a known node go on at the address of another entry, which is the same node. d.mu is held.
func (n *node) moveTo(d *Door, at *node) {
	if n.key.ID != "" && at.heard.Sub(n.heard) < time.Second {
		n.tally.backwards++ // both addresses are in use
	}
	delete(d.sources, n.source)
	n.source, n.heard, n.looked = at.source, at.heard, at.looked
	d.sources[n.source], n.moved = n, n.key.ID != ""
}

// endMoved ends the session of a node of which nothing arrives, or that has another address: it begins one there.
func (d *Door) endMoved(n *node, now time.Time) {
	d.mu.Lock()
	d.keep(n, now)
	silent, moved := now.Sub(n.heard), n.moved
	n.moved = false
	d.mu.Unlock()
	switch {
	case silent >= quietAfter:
		d.dismiss(n, "nothing has arrived for 30 s")
	case moved:
		d.dismiss(n, "it has another address now")
	}
}

// ask asks the engine whether a node may come in, and returns how often it did.
func (d *Door) ask(ctx context.Context, n *node, now time.Time) int {
	d.mu.Lock()
	due := n.id != "" && d.nodes[n.id] == n && now.Sub(n.asked) >= askEvery && now.Sub(n.heard) < quietAfter
	said, substitute := n.describe()
	from := motion.Credentials{Address: n.source.address, MAC: n.mac}
	if n.said != nil && !n.said.user.outside {
		from.User = n.said.user.name
	}
	if due {
		n.asked = now
	}
	d.mu.Unlock()
	if !due {
		return 0
	}
	key, receiver, why, err := d.options.Engine.Receiver(ctx, said, substitute, from)
	if err != nil && ctx.Err() == nil {
		d.options.Log.Warn("node not let in", "device", n.name(), "err", err)
	}
	if err != nil || why != "" {
		return 1
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	n.key, n.receiver, n.sequence = key, receiver, sequence{}
	d.adopted[sender{n.source.kind, n.source.address}] = n
	return 1
}
