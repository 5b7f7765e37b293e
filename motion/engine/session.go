package engine

import (
	"context"
	"fmt"
	"net/netip"
	"regexp"
	"sync"

	"sensegate/motion"
	"sensegate/motion/csi"
	"sensegate/motion/fault"
	"sensegate/store"
)

// silentAfter is the silence after which a device, a link and with them motion
// are unknown, not quiet.
const silentAfter motion.Seconds = 90

// session is what the engine knows of one device's connection.
type session struct {
	device motion.Device

	// Guarded by Engine.mu.
	connections int // a new one may begin before the former has ended
	address     netip.Addr
	since       motion.Time // of the present connection, or of its end
	greeted     bool        // has sent a status report on this connection
	lastHeard   motion.Time
	reason      string // why the last connection ended

	clockTrusted bool // its clock was right when it last spoke of the present

	// What follows is guarded by reading, which one report of the device holds at
	// a time.
	reading    sync.Mutex
	batch      csi.Batch
	amplitudes []float32
	alignment  alignment
}

// online reports whether the device is connected and was heard lately.
func (s *session) online(now motion.Time) bool {
	return s.connections > 0 && now.Since(max(s.lastHeard, s.since)) <= silentAfter
}

// Login checks the token that a connecting client shows as the device with that
// id, and returns which device it is.
func (e *Engine) Login(ctx context.Context, id, token string) (motion.DeviceKey, error) {
	for _, kind := range []motion.DeviceKind{motion.RadarKind, motion.Guardian} {
		key := motion.DeviceKey{Kind: kind, ID: id}
		err := e.db.CheckToken(ctx, key, token)
		if fault.KindOf(err) == fault.Unauthorized {
			continue
		}
		if err != nil {
			return motion.DeviceKey{}, err
		}
		return key, e.begin(ctx, key)
	}
	return motion.DeviceKey{}, fault.New(fault.Unauthorized, "wrong token: post to the gatekeeper again for a new one")
}

// begin makes the session of a device whose token is right. It looks for the device
// once more afterwards: RemoveDevice, which ends sessions after its commit, cannot have
// ended one that was not there yet.
func (e *Engine) begin(ctx context.Context, key motion.DeviceKey) error {
	device, err := e.adopted(ctx, key)
	if err != nil {
		return err
	}
	e.mu.Lock()
	e.session(device)
	e.mu.Unlock()
	if _, err = e.adopted(ctx, key); err != nil {
		e.forget(key)
	}
	return err
}

// adopted returns the record of an adopted device; Unauthorized when it is none.
func (e *Engine) adopted(ctx context.Context, key motion.DeviceKey) (device motion.Device, err error) {
	err = e.db.View(ctx, func(tx *store.Tx) (err error) {
		device, err = tx.Device(key)
		return err
	})
	if fault.KindOf(err) == fault.NotFound {
		err = fault.New(fault.Unauthorized, "device %s was removed", key)
	}
	return device, err
}

// forget ends what is known of a device's session.
func (e *Engine) forget(key motion.DeviceKey) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.sessions, key)
}

// RemoveUser deletes an integration user and ends its sessions.
func (e *Engine) RemoveUser(ctx context.Context, name string) error {
	err := e.db.Update(ctx, func(tx *store.Tx) error { return tx.DeleteIntegrationUser(name) })
	if err != nil {
		return err
	}
	e.devices.DisconnectUser(name, "user removed")
	return nil
}

// LoginUser checks the password of an integration user and returns the prefix of
// its topics.
func (e *Engine) LoginUser(ctx context.Context, name, password string) (prefix string, err error) {
	err = e.db.View(ctx, func(tx *store.Tx) error {
		user, err := tx.CheckIntegrationUser(name, password)
		prefix = user.TopicPrefix
		return err
	})
	return prefix, err
}

// Connected notes that a device that has logged in has a live session, and
// leaves the current configuration for it. Live motion is asked for with its first
// status report: only then is it sure to listen.
func (e *Engine) Connected(key motion.DeviceKey, address netip.Addr) {
	now := e.now()
	e.mu.Lock()
	s := e.sessions[key]
	if s == nil { // removed since its login
		e.mu.Unlock()
		e.devices.Disconnect(key, "device removed")
		return
	}
	s.connections++
	s.address, s.since, s.lastHeard, s.greeted = address, now, now, false
	s.device.Address = address.String()
	n := e.networks[s.device.NetworkID]
	e.mu.Unlock()
	e.log.Info("device connected", "device", key.String(), "address", address)
	if n == nil {
		return
	}
	e.sendConfig(n, key)
}

// Disconnected notes the end of a device's session.
func (e *Engine) Disconnected(key motion.DeviceKey, reason string) {
	now := e.now()
	e.mu.Lock()
	if s := e.sessions[key]; s != nil {
		s.connections = max(0, s.connections-1)
		s.since, s.reason = now, reason
	}
	e.mu.Unlock()
	e.log.Info("device disconnected", "device", key.String(), "reason", reason)
}

// session returns the session of a device, made when it is new; e.mu is held.
func (e *Engine) session(device motion.Device) *session {
	s := e.sessions[device.DeviceKey]
	if s == nil {
		s = &session{device: device}
		e.sessions[device.DeviceKey] = s
	}
	s.device.NetworkID, s.device.NodeID = device.NetworkID, device.NodeID
	return s
}

// heard stamps a device's last report and returns its session and its record; nil
// when the device is not logged in any more.
func (e *Engine) heard(key motion.DeviceKey, now motion.Time) (*session, motion.Device) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.sessions[key]
	if s == nil {
		return nil, motion.Device{}
	}
	s.lastHeard = now
	return s, s.device
}

// BadInput counts a message that could not be read or was against a rule. It
// has been acknowledged: sending it again would not help. What the reason quotes of
// the message is for the administrator who looks at the device, not for the log.
func (e *Engine) BadInput(device, reason string, message []byte) {
	if e.ledger.add(device, reason, message, e.now()) {
		e.log.Warn("bad input", "device", device, "reason", quoted.ReplaceAllString(reason, "…"))
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
}

// presence returns what is known of a device's connection at now.
func (e *Engine) presence(device motion.DeviceKey, now motion.Time) Presence {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.sessions[device]
	if s == nil {
		return Presence{Why: "has not connected since the start"}
	}
	p := Presence{Online: s.online(now), Address: s.device.Address, LastHeard: s.lastHeard}
	switch {
	case p.Online:
	case s.connections > 0:
		p.Why = fmt.Sprintf("connected, but silent for %.0f s", now.Since(s.lastHeard))
	default:
		p.Why = s.reason
	}
	return p
}

// touched returns the last signs of life of devices heard since the given time.
func (e *Engine) touched(since motion.Time) []store.Heard {
	e.mu.Lock()
	defer e.mu.Unlock()
	var touched []store.Heard
	for key, s := range e.sessions {
		if s.lastHeard >= since {
			touched = append(touched, store.Heard{Key: key, At: s.lastHeard, Address: s.device.Address})
		}
	}
	return touched
}
