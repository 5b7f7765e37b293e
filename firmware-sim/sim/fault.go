package sim

import "sensegate/firmware-sim/scenario"

// Refusal says why the appliance refuses a node.
type Refusal string

// The refusals.
const (
	NotRefused Refusal = ""
	// WrongPassword is a node that is adopted, and logs in to the broker with a wrong password.
	WrongPassword Refusal = "password"
	// OtherNetwork is a node that is connected as the master of a network next door, and asks to
	// join the home without a token. The network next door is formed like any other one, so the
	// node waits for its adoption first.
	OtherNetwork Refusal = "network"
)

// Faults are what is wrong with the devices of a home while functions say so, besides the
// outages of its scene. A nil function says so of none. They are called concurrently.
type Faults struct {
	// Absent reports whether leaf i is not there.
	Absent func(i int) bool
	// Deaf reports whether node i works, but its radio neither hears nor sends a frame.
	Deaf func(i int) bool
	// Refused returns why node i is refused. A change restarts the node. Node 0 never is.
	Refused func(i int) Refusal
	// Place returns where the devices stand in the mode CSI, when not in the place of the Home:
	// a scenario that differs in positions alone, and the same one until a device is moved. nil =
	// in the place of the Home.
	Place func() *scenario.Scenario
}

// hinder switches off in state what has no power or is not there.
func (c *Config) hinder(state *up) {
	for i := range state.nodes {
		if c.Unplugged != nil && c.Unplugged(i) {
			state.nodes[i] = false
		}
		deaf := c.Faults.Deaf != nil && c.Faults.Deaf(i)
		state.deaf[i] = deaf || c.refused(i) != NotRefused // who is no part of the mesh is not sounded
	}
	for i := range state.leafs {
		if c.Faults.Absent != nil && c.Faults.Absent(i) {
			state.leafs[i] = false
		}
	}
}

// present returns the state of a home without outages.
func (c *Config) present() up {
	state := allUp(&c.Home)
	c.hinder(&state)
	return state
}

// refused returns why node i is refused.
func (c *Config) refused(i int) Refusal {
	if i == 0 || c.Faults.Refused == nil {
		return NotRefused
	}
	return c.Faults.Refused(i)
}

// place returns the place with the devices where they stand.
func (c *Config) place() *scenario.Scenario {
	if c.Faults.Place == nil {
		return c.Home.Place
	}
	return c.Faults.Place()
}
