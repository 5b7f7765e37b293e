package devices

import (
	"cmp"
	"crypto/sha256"
	"crypto/subtle"
	"errors"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store"
)

// Reasons why a device has to try again (device-protocol.md 1).
const (
	waitingForAdoption = "waiting for adoption"
	waitingForMaster   = "waiting for its master"
	severalHomes       = "several networks are here: let it in by the app of its home, or set nodes.network"
	likeAnother        = "it looks like another device, which was adopted at this address: let it in by hand if it is yours"
	severalPlaces      = "devices of several networks say that they have the BSSID it hears: open an adoption window of its own network alone, or approve it there"
	letInElsewhere     = "devices of several networks say that they have the BSSID it hears: another one has let it in"
	anotherNetwork     = "adopted in another network: open an adoption window to move it"
	ownedElsewhere     = "adopted in another household's network, or another's master: remove it there first"
	anotherMaster      = "the network has another master: open an adoption window to replace it"
	anotherRole        = "known by its address alone, which is not enough for another role: open an adoption window"
	anotherDevice      = "another device was adopted with that node_id: open an adoption window of the network to replace it, or approve it by hand"
	needsToken         = "adopted, but without its token: open an adoption window or remove the device"
	masterHeard        = "the network's master was heard less than 90 s ago: it has not failed"
	masterConnected    = "the network's master is connected: switch it off or remove it first"
	deviceConnected    = "the device is connected from another address: switch it off or remove it first"
	nameKnown          = "another device has that node_id: remove that one first, or give this one another node_id"
	networkFull        = "the network has 128 nodes already: remove some first"
	tooManyLately      = "too many new devices have come into the network lately: wait, or close its adoption window"
	tooOftenLately     = "the device has come too often lately: wait"
	unclaimedFull      = "100 networks wait for an owner already: claim or delete some, or use a pre-shared token"
	nameConnected      = "another device of that node_id is connected: switch it off or remove it first"
)

// how is what lets a device in.
type how string

const (
	byToken     how = "token"            // its own
	byPreShared how = "pre-shared token" // the configured one
	byApproval  how = "approval"         // by hand, of exactly what the post shows
	byWindow    how = "window"           // of the network that it asks to join
	byAddress   how = "same address"     // of its last session, or the same MAC
)

// verdict is what the rules say of a post.
type verdict struct {
	how     how
	network motion.Network // that it enters; ID 0: the one that it forms
	reason  string         // why it is refused; "" = it is let in
}

// refuse is the verdict about a device that has to try again.
func refuse(reason string) verdict { return verdict{reason: reason} }

// post is one post to the gatekeeper on its way through the rules.
type post struct {
	*Fleet
	tx *store.Tx
	b  motion.Bootstrap
	c  motion.Credentials

	key        motion.DeviceKey
	device     motion.Device    // as adopted; zero: it is not
	node       motion.Node      // of the device; zero: none
	place      motion.Network   // that it asks to join; ID 0: none that exists
	byLocation bool             // its location_id names place
	crowded    bool             // too many networks for a node of another maker to be of any of them
	rivals     []motion.Network // whose devices say that they have the BSSID it hears; place is one of them, or none
}

// newPost reads what is known of a device that posts.
func (f *Fleet) newPost(tx *store.Tx, b motion.Bootstrap, c motion.Credentials) (p *post, err error) {
	p = &post{Fleet: f, tx: tx, b: b, c: c, key: motion.DeviceKey{Kind: motion.RadarKind, ID: b.Radar.DeviceID}}
	if p.device, err = tx.Device(p.key); err != nil && fault.KindOf(err) != fault.NotFound {
		return nil, err
	}
	if p.node, err = tx.NodeByDevice(p.key.ID); err != nil && fault.KindOf(err) != fault.NotFound {
		return nil, err
	}
	if p.ofOther() {
		p.place, err = p.otherPlace()
		return p, err
	}
	p.place, err = tx.NetworkByGuardian(b.LocationID)
	p.byLocation = err == nil
	if fault.KindOf(err) == fault.NotFound {
		p.place, err = p.meshPlace()
	}
	return p, err
}

// master reports whether the device asks to lead its network.
func (p *post) master() bool { return p.b.Radar.RootMode == motion.RootModeMaster }

// adopted reports whether the device is adopted.
func (p *post) adopted() bool { return p.device.ID != "" }

// about returns the networks that the post is about: that which it asks to join and its
// rivals, or else that of the adopted device; none: it is listed as pending only.
func (p *post) about() ([]motion.Network, error) {
	switch {
	case len(p.rivals) > 0:
		return p.rivals, nil
	case p.place.ID != 0:
		return []motion.Network{p.place}, nil
	case !p.adopted():
		return nil, nil
	}
	home, err := p.tx.Network(p.device.NetworkID)
	return []motion.Network{home}, err
}

// shown returns what the post shows, as an entry of the waiting list. Of rivals it shows none.
func (p *post) shown(reason string) motion.PendingDevice {
	shown := motion.PendingDevice{
		DeviceID: p.b.Radar.DeviceID, NodeName: p.b.Radar.NodeName, LocationID: p.b.LocationID, RootMode: p.b.Radar.RootMode,
		Address: p.c.Address.String(), Reason: reason,
	}
	if len(p.rivals) == 0 {
		shown.NetworkID, shown.Mesh = p.place.ID, p.place.ID != 0 && !p.byLocation
	}
	return shown
}

// showsToken reports whether the post shows a valid token of the adopted device: that of its
// radar session or, of a master, that of its network's guardian session.
func (p *post) showsToken() (bool, error) {
	if !p.adopted() || p.c.Token == "" {
		return false, nil
	}
	if p.tx.CheckToken(p.key, p.c.Token) == nil {
		return true, nil
	}
	network, err := p.tx.Network(p.device.NetworkID)
	if err != nil || network.MasterID != p.device.NodeID {
		return false, err
	}
	return p.tx.CheckToken(network.GuardianKey(), p.c.Token) == nil, nil
}

// judge decides about the post (device-protocol.md 1).
func (p *post) judge() (verdict, error) {
	switch {
	case p.ofOther() && p.place.ID == 0 && (p.crowded || len(p.rivals) > 0):
		return refuse(severalHomes), nil
	case p.place.ID == 0 && len(p.rivals) > 0:
		return refuse(severalPlaces), nil
	}
	own, err := p.showsToken()
	if err != nil {
		return verdict{}, err
	}
	invitation, reason, err := p.invitation(own)
	if err != nil {
		return verdict{}, err
	}
	if invitation != "" {
		return p.joins(invitation, own)
	}
	switch {
	case reason == likeAnother:
		return refuse(reason), nil
	case !p.adopted():
		return refuse(waitingForAdoption), nil
	case reason == ownedElsewhere && p.byLocation:
		return refuse(reason), nil
	case own:
		return p.comesBack(byToken)
	case p.recognised():
		return p.comesBack(byAddress)
	}
	return refuse(reason), nil
}

// invitation returns what lets the device into the network that it asks to join, "" when
// nothing does, and then why not. own says that it shows its own token.
func (p *post) invitation(own bool) (invitation how, reason string, err error) {
	if p.preShared(p.c.Token) {
		return byPreShared, "", nil
	}
	if approved, err := p.approved(); err != nil || approved != nil {
		return byApproval, "", err
	}
	if like, err := p.replacesOther(); err != nil || like {
		return "", likeAnother, err
	}
	until, err := p.windowUntil(p.tx, p.place.ID)
	if err != nil {
		return "", "", err
	}
	reforms, err := p.reforms()
	if err != nil {
		return "", "", err
	}
	if !reforms {
		if until <= p.state.Now() {
			return "", needsToken, nil
		}
		if reserved, err := p.reserved(); err != nil || reserved {
			return "", waitingForAdoption, err
		}
	}
	if p.adopted() && p.device.NetworkID != p.place.ID && !own {
		if held, err := p.heldElsewhere(); err != nil || held {
			return "", ownedElsewhere, err
		}
	}
	return byWindow, "", nil
}

// heldElsewhere reports whether the adopted device needs its token to leave its network: that
// has an owner, and either its owner does not own the network that the device asks to join, or
// the device leads it.
func (p *post) heldElsewhere() (bool, error) {
	owned, err := hasOwner(p.tx, p.device.NetworkID)
	if err != nil || !owned {
		return false, err
	}
	left, err1 := p.tx.Network(p.device.NetworkID)
	owner, err2 := ownerOf(p.tx, left.ID)
	asked, err3 := ownerOf(p.tx, p.place.ID)
	return owner == 0 || owner != asked || left.MasterID == p.device.NodeID, errors.Join(err1, err2, err3)
}

// approved returns the approval by hand of exactly what the post shows, nil for none.
func (p *post) approved() (*motion.PendingDevice, error) {
	for _, entry := range p.Waiting.approvals(p.shown("")) {
		if entry.ApprovedBy != 0 && entry.ApprovedBy != p.place.ID {
			continue
		}
		if holds, err := p.holds(p.tx, entry); err != nil || holds {
			return &entry, err
		}
	}
	return nil, nil
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
	if from, live := p.state.LiveFrom(p.key); live {
		return from == p.c.Address
	}
	return compared || p.c.Address.IsValid() && p.state.LastAddress(p.device) == p.c.Address.String()
}

// reforms reports whether the device belonged to a network that was deleted a moment ago, and
// asks to form that anew or to join it after another of its devices has formed it. It holds only
// while the new network has no owner.
func (p *post) reforms() (bool, error) {
	owned, err := hasOwner(p.tx, p.place.ID)
	if err != nil || owned {
		return false, err
	}
	guardian := cmp.Or(p.place.GuardianID, p.b.LocationID)
	until, err := p.tx.ReformUntil(guardian, p.key.ID, p.c.Address.String(), p.c.MAC)
	return p.endOfWindow(until) > p.state.Now(), err
}

// reserved reports whether the post asks for a network, or a place in it, that others may form
// anew because it was deleted a moment ago, or shows the id of one of those.
func (p *post) reserved() (bool, error) {
	if p.adopted() && p.device.NetworkID == p.place.ID {
		return false, nil
	}
	guardian := cmp.Or(p.place.GuardianID, p.b.LocationID)
	owned, err := hasOwner(p.tx, p.place.ID)
	if err != nil {
		return false, err
	}
	if owned {
		guardian = "" // its owner decides who joins
	}
	return p.tx.Reserved(guardian, p.key.ID, p.c.Address.String(), p.c.MAC)
}

// preShared reports whether token is the configured one, in constant time.
func (f *Fleet) preShared(token string) bool {
	if f.options.AccessToken == "" {
		return false
	}
	want, got := sha256.Sum256([]byte(f.options.AccessToken)), sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(want[:], got[:]) == 1
}

// joins is the verdict about a device that is let into the network that it asks to join.
func (p *post) joins(invitation how, own bool) (verdict, error) {
	if p.place.ID == 0 && !p.master() && !p.ofOther() {
		return refuse(waitingForMaster), nil
	}
	if full, err := p.full(invitation); err != nil || full != "" {
		return refuse(full), err
	}
	if own {
		invitation = byToken
	}
	return p.unlessLive(verdict{how: invitation, network: p.place}, false)
}

// comesBack is the verdict about a device that nobody has invited and that is known: it
// takes up its own place again.
func (p *post) comesBack(by how) (verdict, error) {
	own, err := p.tx.Network(p.device.NetworkID)
	if err != nil {
		return verdict{}, err
	}
	if p.byLocation && p.place.ID != own.ID || !p.byLocation && p.master() {
		return refuse(anotherNetwork), nil
	}
	leads := p.node.ID != 0 && p.node.ID == own.MasterID
	takesOver := p.master() && !leads
	switch {
	case takesOver && !p.mayReportFailure(by):
		return refuse(anotherMaster), nil
	case takesOver && !p.state.Silent(own):
		return refuse(masterHeard), nil
	case leads && !p.master() && by != byToken:
		return refuse(anotherRole), nil
	}
	return p.unlessLive(verdict{how: by, network: own}, takesOver)
}

// mayReportFailure reports whether the device's word counts that its master has failed:
// it shows its token, or is connected from the same address.
func (p *post) mayReportFailure(by how) bool {
	return p.b.MasterFailed && (by == byToken || p.state.IsConnected(p.key))
}
