package motion

import (
	"net/netip"
	"slices"
)

// Device is an adopted device: it has a token of its own.
type Device struct {
	DeviceKey
	NetworkID NetworkID `json:"network_id"`
	NodeID    NodeID    `json:"node_id"` // of a guardian: its master node
	AdoptedAt Time      `json:"adopted_at"`
	LastHeard Time      `json:"last_heard"`
	Address   string    `json:"address"`      // of the last session
	MAC       MAC       `json:"mac,omitzero"` // of the sender of an accepted post, as the neighbour table said last; zero: it never did
}

// PendingDevice is a device that asked at the gatekeeper and is not adopted, as its post
// describes it. A post with another description is another entry (device-protocol.md 1).
type PendingDevice struct {
	ID          string    `json:"id"` // of the entry, random
	DeviceID    string    `json:"deviceId"`
	NodeName    string    `json:"node_name"`
	LocationID  string    `json:"location_id"`
	RootMode    int       `json:"root_mode"`
	Address     string    `json:"address"`
	NetworkID   NetworkID `json:"network_id,omitempty"` // that it asks to join; 0: none that exists
	Mesh        bool      `json:"mesh,omitempty"`       // NetworkID is not that of its location_id, but of a mesh link or its own node
	Reason      string    `json:"reason"`               // why it is not adopted
	FirstSeen   Time      `json:"first_seen"`
	LastSeen    Time      `json:"last_seen"`
	Posts       int       `json:"posts"`
	Approved    bool      `json:"approved"`               // adopted by hand: the next post with the same description gets a token
	ApprovedBy  NetworkID `json:"approved_by,omitempty"`  // whose owner did that, who decides about no other owned network; 0: the administrator
	ApprovedFor uint64    `json:"approved_for,omitempty"` // the user who owned that network then
	ApprovedAt  Time      `json:"approved_at,omitempty"`
	Installer   uint64    `json:"installer,omitempty"` // the user who approved it for that network without belonging to it; 0: nobody
}

// Role returns the part in its network that the device asks for: master or peer.
func (p PendingDevice) Role() string {
	if p.RootMode == RootModeMaster {
		return "master"
	}
	return "peer"
}

// Credentials are what comes with a post to the gatekeeper beside its body.
type Credentials struct {
	Token   string     // of the Authorization header, else of ?access_token=; "" = none
	Address netip.Addr // the sender's
	MAC     MAC        // the sender's, as the neighbour table has it; zero: unknown
	User    string     // of the broker, that a node of another maker comes by; "" = none
}

// Admission is the gatekeeper's answer to one post: exactly one of its three
// forms (device-protocol.md 1).
type Admission struct {
	Redirect string // meta.gatekeeper_redirect: nothing else is answered
	TryAgain string // the reason why not yet

	Network       NetworkID
	GuardianID    string
	GuardianToken string // new token of the guardian session; "" unless the device is the master
	DeviceID      string
	RadarToken    string // new token of the radar session
	SecurePort    *int   // meta.mqSecureRadarPort
	Guardian      Document
	Radar         Document
}

// NetworksOf returns the networks that nodes are in, each once, in the order of the nodes.
func NetworksOf(nodes []Node) (networks []NetworkID) {
	for _, n := range nodes {
		if !slices.Contains(networks, n.NetworkID) {
			networks = append(networks, n.NetworkID)
		}
	}
	return networks
}

// UserTopics are the topics of an MQTT user that is no device: it reads and writes what is below Prefix.
// With a Discovery it is Home Assistant: it reads what is below either of the two, and writes its own
// status, Discovery + "/status", and what is below Prefix and ends with "/set", which are commands.
type UserTopics struct{ Prefix, Discovery string }
