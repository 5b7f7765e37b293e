package state

import (
	"fmt"
	"net/netip"
	"regexp"
	"sync"

	"sensegate/motion"
	"sensegate/motion/csi"
	"sensegate/store"
)

// SilentAfter is the silence after which a device, a link and with them motion
// are unknown, not quiet.
const SilentAfter motion.Seconds = 90

// Session is what the engine knows of one device's connection.
type Session struct {
	// Guarded by the mutex of State.
	Device      motion.Device
	connections int // a new one may begin before the former has ended
	address     netip.Addr
	since       motion.Time // of the present connection, or of its end
	greeted     bool        // has sent a status report on this connection
	lastHeard   motion.Time
	reason      string // why the last connection ended

	clockTrusted bool // its clock was right when it last spoke of the present

	// What follows is guarded by Reading, which one report of the device holds at
	// a time.
	Reading    sync.Mutex
	Batch      csi.Batch
	Amplitudes []float32
	Alignment  alignment
}

// online reports whether the device is connected and was heard lately.
func (s *Session) online(now motion.Time) bool {
	return s.connections > 0 && now.Since(max(s.lastHeard, s.since)) <= SilentAfter
}

// Forget ends what is known of a device's session.
func (st *State) Forget(key motion.DeviceKey) {
	st.mu.Lock()
	defer st.mu.Unlock()
	delete(st.sessions, key)
}

// BeginSession makes the session of an adopted device, unless it has one.
func (st *State) BeginSession(device motion.Device) {
	st.mu.Lock()
	defer st.mu.Unlock()
	s := st.sessions[device.DeviceKey]
	if s == nil {
		s = &Session{Device: device}
		st.sessions[device.DeviceKey] = s
	}
	s.Device.NetworkID, s.Device.NodeID = device.NetworkID, device.NodeID
}

// MoveSession follows a device that was adopted in another place.
func (st *State) MoveSession(key motion.DeviceKey, network motion.NetworkID, node motion.NodeID, address string) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if s := st.sessions[key]; s != nil {
		s.Device.NetworkID, s.Device.NodeID, s.Device.Address = network, node, address
	}
}

// LastAddress returns the address that an adopted device was last at.
func (st *State) LastAddress(device motion.Device) string {
	st.mu.Lock()
	defer st.mu.Unlock()
	if s := st.sessions[device.DeviceKey]; s != nil {
		return s.Device.Address
	}
	return device.Address
}

// Heard stamps a device's last report and returns its session and its record; nil
// when the device is not logged in any more.
func (st *State) Heard(key motion.DeviceKey, now motion.Time) (*Session, motion.Device) {
	st.mu.Lock()
	defer st.mu.Unlock()
	s := st.sessions[key]
	if s == nil {
		return nil, motion.Device{}
	}
	s.lastHeard = now
	return s, s.Device
}

// BadInput counts a message that could not be read or was against a rule. It
// has been acknowledged: sending it again would not help. What the reason quotes of
// the message is for the administrator who looks at the device, not for the log.
func (st *State) BadInput(device, reason string, message []byte) {
	if st.Ledger.add(device, reason, message, st.Now()) {
		st.Log.Warn("bad input", "device", device, "reason", quoted.ReplaceAllString(reason, "…"))
	}
}

// quoted is a text in quotes, as strconv writes it, perhaps cut short.
var quoted = regexp.MustCompile(`"(\\.|[^"\\])*("|\\?$)`)

// Presence is what is known of one device's connection.
type Presence struct {
	Online    bool
	Address   string
	LastHeard motion.Time
	Why       string // of a device that is not online
	Code      string // of that: NeverConnected and the others; "" while it is online
	SilentFor motion.Seconds
}

// NodePresences are the presences of the nodes of a network.
type NodePresences []NodePresence

// NodePresence is whether a node is there, and when it was last heard.
type NodePresence struct {
	Node      motion.NodeID
	Device    string      // its deviceId
	Figured   motion.Time // when figures of the guardian last told of it
	Online    bool
	LastHeard motion.Time
}

// NoteFigures notes when figures have told of a node.
func (p NodePresences) NoteFigures(node motion.NodeID, at motion.Time) {
	for i := range p {
		if p[i].Node == node {
			p[i].Figured = max(p[i].Figured, at)
		}
	}
}

// Of returns the presence of a node, zero for one that is not there.
func (p NodePresences) Of(node motion.NodeID) NodePresence {
	for i := range p { // there are few
		if p[i].Node == node {
			return p[i]
		}
	}
	return NodePresence{}
}

// Why a device is not online.
const (
	NeverConnected = "never_connected" // since the start of the appliance
	Mute           = "silent"          // connected, but nothing has come for SilentFor
	TimedOut       = "keep_alive"      // the connection was given up, as it was silent
	Lost           = "lost"            // the connection broke
	Ended          = "ended"           // the connection was ended
)

// endCode returns the code of the reason for which a connection ended, in words of the broker.
func endCode(reason string) string {
	switch reason {
	case "connection lost":
		return Lost
	case "keep alive timeout":
		return TimedOut
	}
	return Ended
}

// Presence returns what is known of a device's connection at now.
func (st *State) Presence(device motion.DeviceKey, now motion.Time) Presence {
	st.mu.Lock()
	defer st.mu.Unlock()
	s := st.sessions[device]
	if s == nil {
		return Presence{Why: "has not connected since the start", Code: NeverConnected}
	}
	p := Presence{Online: s.online(now), Address: s.Device.Address, LastHeard: s.lastHeard}
	switch {
	case p.Online:
	case s.connections > 0:
		p.Code, p.SilentFor = Mute, now.Since(s.lastHeard)
		p.Why = fmt.Sprintf("connected, but silent for %.0f s", p.SilentFor)
	default:
		p.Why, p.Code = s.reason, endCode(s.reason)
	}
	return p
}

// Sign returns whether a device is online at now, and when it was last heard since the start.
func (st *State) Sign(device motion.DeviceKey, now motion.Time) (online bool, lastHeard motion.Time) {
	st.mu.Lock()
	defer st.mu.Unlock()
	s := st.sessions[device]
	if s == nil {
		return false, 0
	}
	return s.online(now), s.lastHeard
}

// NoteClock remembers whether a device's clock was right when it last said
// something about the present.
func (st *State) NoteClock(s *Session, ts, now motion.Time) {
	st.mu.Lock()
	defer st.mu.Unlock()
	s.clockTrusted = st.OwnClock.Believes(ts, now)
}

// ClockTrusted reports what NoteClock remembered.
func (st *State) ClockTrusted(s *Session) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	return s.clockTrusted
}

// Greets reports whether this is the first status report of a connection.
func (st *State) Greets(s *Session) bool {
	st.mu.Lock()
	defer st.mu.Unlock()
	first := !s.greeted
	s.greeted = true
	return first
}

// LiveFrom returns the address of a device's live session, and whether it has one.
func (st *State) LiveFrom(key motion.DeviceKey) (from netip.Addr, live bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	s := st.sessions[key]
	if s == nil || s.connections == 0 {
		return netip.Addr{}, false
	}
	return s.address, true
}

// IsConnected reports whether a device has a live session.
func (st *State) IsConnected(key motion.DeviceKey) bool {
	_, live := st.LiveFrom(key)
	return live
}

// LastHeard returns when a device was heard last, 0 for never, and whether it has a live
// session.
func (st *State) LastHeard(d motion.Device) (at motion.Time, live bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	s := st.sessions[d.DeviceKey]
	if s == nil {
		return d.LastHeard, false
	}
	return max(d.LastHeard, s.lastHeard, s.since), s.connections > 0
}

// Touched returns the last signs of life of devices heard since the given time.
func (st *State) Touched(since motion.Time) []store.Heard {
	st.mu.Lock()
	defer st.mu.Unlock()
	var touched []store.Heard
	for key, s := range st.sessions {
		if s.lastHeard >= since {
			touched = append(touched, store.Heard{Key: key, At: s.lastHeard, Address: s.Device.Address})
		}
	}
	return touched
}

// Connected notes that a device that has logged in has a live session, and
// leaves the current configuration for it. Live motion is asked for with its first
// status report: only then is it sure to listen.
func (st *State) Connected(key motion.DeviceKey, address netip.Addr) {
	now := st.Now()
	st.mu.Lock()
	s := st.sessions[key]
	if s == nil { // removed since its login
		st.mu.Unlock()
		st.Outbound.Disconnect(key, "device removed")
		return
	}
	s.connections++
	s.address, s.since, s.lastHeard, s.greeted = address, now, now, false
	s.Device.Address = address.String()
	n := st.networks[s.Device.NetworkID]
	st.mu.Unlock()
	st.Log.Info("device connected", "device", key.String(), "address", address)
	if n == nil {
		return
	}
	st.SendConfig(n, key)
}

// Disconnected notes the end of a device's session.
func (st *State) Disconnected(key motion.DeviceKey, reason string) {
	now := st.Now()
	st.mu.Lock()
	if s := st.sessions[key]; s != nil {
		s.connections = max(0, s.connections-1)
		s.since, s.reason = now, reason
	}
	st.mu.Unlock()
	st.Log.Info("device disconnected", "device", key.String(), "reason", reason)
}

// Silent reports whether the guardian of a network has no live session and was not heard
// for silentAfter; the time before the start of the appliance does not count.
func (st *State) Silent(n motion.Network) bool {
	now := st.Now()
	st.mu.Lock()
	defer st.mu.Unlock()
	heard := max(st.Begun(), n.CreatedAt)
	if s := st.sessions[n.GuardianKey()]; s != nil {
		if s.connections > 0 {
			return false
		}
		heard = max(heard, s.lastHeard, s.since)
	}
	return now.Since(heard) >= SilentAfter
}
