package motion

// ArmedChange is a moment from which a household was, or was no longer, away with
// motion armed (payloads.md 5.6, motion_state).
type ArmedChange struct {
	NetworkID NetworkID `json:"network_id"`
	At        Time      `json:"at"`
	Armed     bool      `json:"armed"`
}
