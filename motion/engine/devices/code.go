package devices

import "sensegate/motion"

// Code names why a device waits or is refused. The web app has the words of each.
type Code string

// Approved is the code of a device that is let in with its next post.
const Approved Code = "approved"

// waitsBy are the codes of the reasons that end with an approval or by themselves, refusedBy those
// of the others.
var (
	waitsBy = map[string]Code{
		waitingForAdoption: "waiting", waitingForMaster: "waiting_for_master", severalPlaces: "several_networks", severalHomes: "several_networks",
		likeAnother:   "like_another",
		tooManyLately: "too_many_lately", tooOftenLately: "too_often_lately",
	}
	refusedBy = map[string]Code{
		letInElsewhere: "let_in_elsewhere", anotherNetwork: "another_network", ownedElsewhere: "owned_elsewhere",
		anotherMaster: "another_master", anotherRole: "another_role", anotherDevice: "another_device", needsToken: "needs_token",
		masterHeard: "master_heard", masterConnected: "master_connected", deviceConnected: "device_connected",
		nameKnown: "name_known", nameConnected: "name_connected", networkFull: "network_full", unclaimedFull: "unclaimed_full",
	}
)

// WaitCode returns the code of why a device is not let in, and whether that is a refusal: neither
// time nor an approval ends it. A reason without a code is "waiting".
func WaitCode(p motion.PendingDevice) (code Code, refused bool) {
	if code, refused = refusedBy[p.Reason]; refused {
		return code, true
	}
	if code = waitsBy[p.Reason]; code == "" {
		code = waitsBy[waitingForAdoption]
	}
	if p.Approved && code == waitsBy[waitingForAdoption] {
		code = Approved
	}
	return code, false
}
