package engine

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store"
)

// Reasons why a device has to try again (device-protocol.md section 1).
const (
	waitingForAdoption = "waiting for adoption"
	waitingForMaster   = "waiting for its master"
	anotherNetwork     = "adopted in another network: open an adoption window to move it"
	anotherMaster      = "the network has another master: open an adoption window to replace it"
	needsToken         = "adopted, but without its token: open an adoption window or remove the device"
)

// Admit decides about a device that posts to the gatekeeper: it is adopted and
// gets new tokens, or it is listed as pending and told to try again
// (device-protocol.md section 1).
func (e *Engine) Admit(ctx context.Context, b motion.Bootstrap, c motion.Credentials) (motion.Admission, error) {
	if err := checkBootstrap(&b); err != nil {
		return motion.Admission{}, err
	}
	var admission motion.Admission
	var before, after motion.Node
	err := e.db.Update(ctx, func(tx *store.Tx) error {
		pass, reason, err := e.mayEnter(tx, b, c)
		if err != nil {
			return err
		}
		if pass != refused {
			if before, err = tx.NodeByDevice(b.Radar.DeviceID); err != nil && fault.KindOf(err) != fault.NotFound {
				return err
			}
			admission, after, err = e.enter(tx, b, c, pass, before)
			if err != nil {
				return err
			}
			reason = admission.TryAgain
		}
		if reason == "" {
			return tx.DeletePending(b.Radar.DeviceID)
		}
		admission = motion.Admission{TryAgain: reason}
		return putPending(tx, b, c, reason)
	})
	if err != nil {
		return motion.Admission{}, err
	}
	if after.ID == 0 {
		return admission, nil
	}
	if err := e.moved(ctx, before, after); err != nil {
		return motion.Admission{}, err
	}
	e.log.Info("device admitted", "device", b.Radar.DeviceID, "network", after.NetworkID, "address", c.Address)
	return admission, nil
}

// moved brings the memory up to date with a node that was admitted: of the network
// that it is in, and of the one that it was in.
func (e *Engine) moved(ctx context.Context, before, after motion.Node) error {
	e.mu.Lock()
	if s := e.sessions[motion.DeviceKey{Kind: motion.RadarKind, ID: after.DeviceID}]; s != nil {
		s.device.NetworkID, s.device.NodeID = after.NetworkID, after.ID
	}
	e.mu.Unlock()
	if before.NetworkID != 0 && before.NetworkID != after.NetworkID {
		if err := e.cancelCommands(ctx, before.NetworkID, after.ID); err != nil {
			return err
		}
		if err := e.reload(ctx, before.NetworkID); err != nil {
			return err
		}
	}
	return e.reload(ctx, after.NetworkID)
}

// checkBootstrap checks what a device must say of itself, and settles where its
// location id stands.
func checkBootstrap(b *motion.Bootstrap) error {
	if b.LocationID == "" {
		b.LocationID = b.Radar.LocationID
	}
	b.Radar.LocationID = b.LocationID
	if b.Radar.NodeName == "" {
		b.Radar.NodeName = b.Radar.DeviceID
	}
	switch {
	case !plainName(b.Radar.DeviceID):
		return fault.New(fault.Invalid, "radar_status.deviceId: want 1 to 64 letters, digits, '-', '_' or ':'")
	case !plainName(b.Radar.NodeName):
		return fault.New(fault.Invalid, "radar_status.node_id: want 1 to 64 letters, digits, '-', '_' or ':'")
	case !plainName(b.LocationID):
		return fault.New(fault.Invalid, "location_id: want 1 to 64 letters, digits, '-', '_' or ':'")
	}
	return nil
}

// plainName reports whether s can be a client id and a level of a topic.
func plainName(s string) bool {
	if len(s) == 0 || len(s) > 64 {
		return false
	}
	for _, c := range []byte(s) {
		plain := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == ':'
		if !plain {
			return false
		}
	}
	return true
}

// pass is how far a device may go.
type pass int

const (
	refused pass = iota
	returns      // it is the adopted device: it may take up its own place again
	invited      // a person let it in: it may take any place
)

// mayEnter decides whether a device may be adopted or come back, and says why
// not.
func (e *Engine) mayEnter(tx *store.Tx, b motion.Bootstrap, c motion.Credentials) (p pass, reason string, err error) {
	open, err := e.windowOpen(tx)
	if err != nil {
		return refused, "", err
	}
	pending, err := tx.Pending(b.Radar.DeviceID)
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return refused, "", err
	}
	if open || e.preShared(c.Token) || pending.Approved {
		return invited, "", nil
	}
	key := motion.DeviceKey{Kind: motion.RadarKind, ID: b.Radar.DeviceID}
	device, err := tx.Device(key)
	switch {
	case fault.KindOf(err) == fault.NotFound:
		return refused, waitingForAdoption, nil
	case err != nil:
		return refused, "", err
	case c.Token != "" && tx.CheckToken(key, c.Token) == nil:
		return returns, "", nil
	case e.options.Readopt && device.Address != "" && device.Address == c.Address.String() && !e.connected(key):
		return returns, "", nil
	}
	return refused, needsToken, nil
}

// windowOpen reports whether devices are adopted by themselves now: in the first
// time of a new installation, or while a window is open.
func (e *Engine) windowOpen(tx *store.Tx) (bool, error) {
	until, err := e.windowUntil(tx)
	return until > tx.Now(), err
}

// windowUntil returns when the adoption window closes or closed.
func (e *Engine) windowUntil(tx *store.Tx) (motion.Time, error) {
	installed, err := tx.InstalledAt()
	if err != nil {
		return 0, err
	}
	until, err := tx.AdoptionUntil()
	if err != nil {
		return 0, err
	}
	return max(until, installed.Add(e.options.FirstWindow.Seconds())), nil
}

// preShared reports whether token is the configured one, in constant time.
func (e *Engine) preShared(token string) bool {
	if e.options.AccessToken == "" {
		return false
	}
	want, got := sha256.Sum256([]byte(e.options.AccessToken)), sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(want[:], got[:]) == 1
}

// connected reports whether a device has a live session.
func (e *Engine) connected(key motion.DeviceKey) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.sessions[key]
	return s != nil && s.connections > 0
}

// putPending lists a device that has to wait.
func putPending(tx *store.Tx, b motion.Bootstrap, c motion.Credentials, reason string) error {
	pending, err := tx.Pending(b.Radar.DeviceID)
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return err
	}
	if pending.FirstSeen.IsZero() {
		pending.FirstSeen = tx.Now()
	}
	pending.DeviceID, pending.NodeName = b.Radar.DeviceID, b.Radar.NodeName
	pending.LocationID, pending.RootMode = b.LocationID, b.Radar.RootMode
	pending.Address, pending.Reason = c.Address.String(), reason
	pending.LastSeen = tx.Now()
	pending.Posts++
	return tx.PutPending(pending)
}

// enter gives a device that may enter its place in a network and new tokens. It
// returns the device's node as it is now, an empty one when it has to wait.
func (e *Engine) enter(tx *store.Tx, b motion.Bootstrap, c motion.Credentials, p pass, before motion.Node) (_ motion.Admission, node motion.Node, err error) {
	network, err := placeOf(tx, b, p, before)
	master := b.Radar.RootMode == motion.RootModeMaster
	switch {
	case err != nil:
		return motion.Admission{}, node, err
	case network.ID == 0 && master:
		return motion.Admission{TryAgain: anotherNetwork}, node, nil
	case network.ID == 0:
		return motion.Admission{TryAgain: waitingForMaster}, node, nil
	case p != invited && before.NetworkID != network.ID:
		return motion.Admission{TryAgain: anotherNetwork}, node, nil
	case p != invited && master && before.ID != network.MasterID && !b.MasterFailed:
		return motion.Admission{TryAgain: anotherMaster}, node, nil
	}
	if url := network.Meta.Text("gatekeeper_redirect"); url != "" {
		return motion.Admission{Redirect: url}, node, nil
	}
	if before.NetworkID != 0 && before.NetworkID != network.ID {
		if err := leave(tx, before); err != nil {
			return motion.Admission{}, node, err
		}
	}
	if node, err = putNode(tx, network.ID, b.Radar); err != nil {
		return motion.Admission{}, node, err
	}
	if err := putClients(tx, network, node, b.Radar); err != nil {
		return motion.Admission{}, node, err
	}
	if master && network.MasterID != node.ID {
		network.MasterID, network.UpdatedAt = node.ID, tx.Now()
		if err := tx.PutNetwork(network); err != nil {
			return motion.Admission{}, node, err
		}
	}
	admission := motion.Admission{
		Network: network.ID, GuardianID: network.GuardianID, DeviceID: b.Radar.DeviceID,
		Guardian: motion.WithDefaults(network.Guardian(), network.GuardianConfig),
		Radar:    motion.WithDefaults(network.Radar(), network.RadarConfig),
	}
	if _, set := network.Meta["mqSecureRadarPort"]; set {
		port := network.Meta.Int("mqSecureRadarPort")
		admission.SecurePort = &port
	}
	admission.RadarToken, err = adopt(tx, motion.DeviceKey{Kind: motion.RadarKind, ID: b.Radar.DeviceID}, node, c)
	if err != nil || !master {
		return admission, node, err
	}
	admission.GuardianToken, err = adopt(tx, motion.DeviceKey{Kind: motion.Guardian, ID: network.GuardianID}, node, c)
	return admission, node, err
}

// leave removes the links of a node that moves to another network.
func leave(tx *store.Tx, node motion.Node) error {
	links, err := tx.Links(node.NetworkID)
	if err != nil {
		return err
	}
	for _, link := range links {
		if link.Dst != node.ID && link.Src != node.ID {
			continue
		}
		if err := tx.DeleteLink(node.NetworkID, link.Name); err != nil {
			return err
		}
	}
	return nil
}

// placeOf returns the network that a device belongs to: a master forms the one
// of its location id, if it was let in; a peer joins it, or the network of a mesh peer that is
// known, or stays where it was. ID 0: none yet.
func placeOf(tx *store.Tx, b motion.Bootstrap, p pass, before motion.Node) (motion.Network, error) {
	network, err := tx.NetworkByGuardian(b.LocationID)
	if err == nil {
		return network, nil
	}
	if fault.KindOf(err) != fault.NotFound {
		return motion.Network{}, err
	}
	if b.Radar.RootMode == motion.RootModeMaster {
		if p != invited {
			return motion.Network{}, nil
		}
		return tx.CreateNetwork(motion.Network{GuardianID: b.LocationID, CreatedAt: tx.Now(), UpdatedAt: tx.Now(), ConfigRev: 1})
	}
	if p == returns && before.NetworkID != 0 {
		return tx.Network(before.NetworkID)
	}
	for _, link := range b.Radar.Links {
		if link.PeerType != motion.PeerMesh {
			continue
		}
		peer, err := tx.NodeByBSSID(link.MAC)
		if err == nil {
			return tx.Network(peer.NetworkID)
		}
		if fault.KindOf(err) != fault.NotFound {
			return motion.Network{}, err
		}
	}
	if before.NetworkID != 0 {
		return tx.Network(before.NetworkID)
	}
	return motion.Network{}, nil
}

// adopt makes or refreshes a device and issues its new token.
func adopt(tx *store.Tx, key motion.DeviceKey, node motion.Node, c motion.Credentials) (token string, err error) {
	device, err := tx.Device(key)
	if fault.KindOf(err) == fault.NotFound {
		device = motion.Device{DeviceKey: key, AdoptedAt: tx.Now()}
	} else if err != nil {
		return "", err
	}
	device.NetworkID, device.NodeID, device.Address = node.NetworkID, node.ID, c.Address.String()
	if err := tx.PutDevice(device); err != nil {
		return "", err
	}
	return tx.IssueToken(key)
}

// OpenAdoption adopts every device that asks within the next seconds, and
// returns when that ends.
func (e *Engine) OpenAdoption(ctx context.Context, seconds motion.Seconds) (motion.Time, error) {
	if seconds <= 0 || seconds > 24*3600 {
		return 0, fault.New(fault.Invalid, "window: want more than 0 and at most 24 hours")
	}
	var until motion.Time
	err := e.db.Update(ctx, func(tx *store.Tx) error {
		until = tx.Now().Add(seconds)
		return tx.SetAdoptionUntil(until)
	})
	return until, err
}

// AdoptionUntil returns when the adoption window closes or closed, 0 when there never
// was one.
func (e *Engine) AdoptionUntil(ctx context.Context) (until motion.Time, err error) {
	err = e.db.View(ctx, func(tx *store.Tx) error {
		until, err = e.windowUntil(tx)
		return err
	})
	return until, err
}

// Adopt approves a pending device: its next post is answered with tokens.
func (e *Engine) Adopt(ctx context.Context, deviceID string) (motion.PendingDevice, error) {
	var pending motion.PendingDevice
	err := e.db.Update(ctx, func(tx *store.Tx) (err error) {
		pending, err = tx.ApprovePending(deviceID)
		return err
	})
	return pending, err
}

// RemoveDevice revokes a device: its tokens end at once and its session is
// closed. A pending device is dropped from the list.
func (e *Engine) RemoveDevice(ctx context.Context, id string) error {
	var removed []motion.DeviceKey
	err := e.db.Update(ctx, func(tx *store.Tx) error {
		for _, kind := range []motion.DeviceKind{motion.RadarKind, motion.Guardian} {
			key := motion.DeviceKey{Kind: kind, ID: id}
			if _, err := tx.Device(key); err == nil {
				removed = append(removed, key)
				if err := tx.DeleteDevice(key); err != nil {
					return err
				}
			}
		}
		if _, err := tx.Pending(id); err == nil {
			return tx.DeletePending(id)
		}
		if len(removed) == 0 {
			return fault.New(fault.NotFound, "device %q is neither adopted nor pending: see device list", id)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, key := range removed {
		e.forget(key) // first, so that one that is connecting just now finds itself removed
		e.devices.Disconnect(key, "device removed")
	}
	return nil
}
