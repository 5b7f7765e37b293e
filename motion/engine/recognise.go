package engine

import (
	"net/netip"

	"sensegate/motion"
)

// liveFrom returns the address of a device's live session, and whether it has one.
func (e *Engine) liveFrom(key motion.DeviceKey) (from netip.Addr, live bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.sessions[key]
	if s == nil || s.connections == 0 {
		return netip.Addr{}, false
	}
	return s.address, true
}

// connected reports whether a device has a live session.
func (e *Engine) connected(key motion.DeviceKey) bool {
	_, live := e.liveFrom(key)
	return live
}

// liveElsewhere reports whether a device has a live session from another address than
// that of the post.
func (p *post) liveElsewhere(key motion.DeviceKey) bool {
	from, live := p.liveFrom(key)
	return live && from != p.c.Address
}

// recognised reports whether the post comes from where the adopted device is, or was
// last. While it is connected that is the address of its live session. Otherwise its
// MAC decides where it is known of both, so that neither a changed lease nor a reused
// address misleads; else the address of its last session does.
func (p *post) recognised() bool {
	if !p.options.Readopt {
		return false
	}
	compared := !p.c.MAC.IsZero() && !p.device.MAC.IsZero()
	if compared && p.c.MAC != p.device.MAC {
		return false
	}
	if from, live := p.liveFrom(p.key); live {
		return from == p.c.Address
	}
	return compared || p.c.Address.IsValid() && p.lastAddress() == p.c.Address.String()
}

// lastAddress returns the address that the adopted device was last at.
func (p *post) lastAddress() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.sessions[p.key]; s != nil {
		return s.device.Address
	}
	return p.device.Address
}

// silent reports whether the guardian of a network has no live session and was not heard
// for silentAfter; the time before the start of the appliance does not count.
func (e *Engine) silent(n motion.Network) bool {
	now := e.now()
	e.mu.Lock()
	defer e.mu.Unlock()
	heard := max(e.started, n.CreatedAt)
	if s := e.sessions[n.GuardianKey()]; s != nil {
		if s.connections > 0 {
			return false
		}
		heard = max(heard, s.lastHeard, s.since)
	}
	return now.Since(heard) >= silentAfter
}
