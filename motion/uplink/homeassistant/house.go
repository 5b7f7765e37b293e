package homeassistant

import (
	"context"

	"sensegate/motion"
)

// House tells what there is to be shown, and does what is asked. Its methods may be called
// concurrently.
type House interface {
	// Watch begins to watch the networks until ctx ends, and remembers what has to be shown; wait waits
	// until it no longer does.
	Watch(ctx context.Context) (wait func())
	// Follow has tell called with what changes, until ctx ends or Follow is called again; tell does
	// not wait. The networks are watched.
	Follow(ctx context.Context, tell func(Change)) Follower
	// Do carries out a command that was found to be well formed. An error says why it was not done.
	Do(ctx context.Context, c Command) error
}

// Follower tells how the networks that it follows are now.
type Follower interface {
	Box(ctx context.Context) (Box, error)
	Networks() []motion.NetworkID
	// Network returns a network, false when there is none of that id.
	Network(ctx context.Context, id motion.NetworkID) (Network, bool, error)
	// Intensity returns the newest intensity of a network, 0 to 1, false when none is known.
	Intensity(id motion.NetworkID) (float64, bool)
}

// Change is something that has changed: a network, or the list of networks.
type Change struct {
	Network motion.NetworkID // 0: which networks there are
	Event   *motion.Event    // an event that was stored; nil: the network is to be looked at
}

// Box is the appliance.
type Box struct {
	Name     string
	URL      string // of its web app; "": not known
	Version  string
	Uptime   float64 // s
	Networks int
	Clients  int     // of its broker
	DB       float64 // MiB
	Problems []string
}

// Network is a network as it is now.
type Network struct {
	ID      motion.NetworkID
	Name    string
	Version string // of its guardian's firmware; "": not known

	Known      bool // whether there is motion; false: no data, or paused
	Motion     bool
	Detection  Detection // the newest one
	Occupied   bool
	LastMotion motion.Time // 0: never
	Density    *float64    // percent of the last minute; nil: no data

	Home        bool // it has a household: a scene
	Away        bool // its scene
	Triggered   bool // an alarm
	Paused      bool
	Sensitivity int // 1 to 4

	Online, Down, Slow, Leafs int // nodes that are online, links that are blind, links that are slow, leafs

	Rooms   []Room
	Nodes   []Node
	Members []Member
}

// Detection is motion from its beginning to its end.
type Detection struct {
	Since     motion.Time
	Place     string // the room where it began; "": not known
	Links     []string
	Intensity float64 // 0..1, at its beginning
	EventID   string  // of the event that was stored; "": none was
}

// Room is a room of a network.
type Room struct {
	ID         uint32 // stays when it is renamed
	Name       string
	Known      bool // whether there is motion
	Motion     bool
	LastMotion motion.Time
	Density    *float64
}

// Node is an access point or extender.
type Node struct {
	ID       motion.NodeID
	Name     string
	Room     string
	MAC      motion.MAC // zero: not known
	Online   bool
	LastSeen motion.Time
	RSSI     int // dBm, of its strongest link; 0: not known
	Firmware string
	Uptime   float64 // s; 0: not known
}

// Member is somebody of the household who has agreed to be shown.
type Member struct {
	ID      uint64
	Name    string
	Present bool
	Updated motion.Time // 0: never
}

// Command is something that Home Assistant asks for.
type Command struct {
	Network motion.NetworkID // 0: the appliance
	Do      Action
	Level   int    // of SetSensitivity, 1 to 4
	User    string // of the own broker who asks; "": not known
}

// Action is what is asked for.
type Action string

// The actions.
const (
	SetAway        Action = "away"
	SetHome        Action = "home"
	Pause          Action = "pause"
	Resume         Action = "resume"
	SetSensitivity Action = "sensitivity"
	Restart        Action = "restart"
)
