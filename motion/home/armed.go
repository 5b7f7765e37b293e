package home

import "sensegate/motion"

// ArmedAway reports whether the people of a home are away and motion is armed in its
// network: motion_state 1 of the household insights; at home or unarmed it is 0
// (payloads.md 5.6).
func ArmedAway(h Home, n motion.Network) bool {
	return h.Scene == Away && n.Guardian().MotionEvents.Armed == 1
}
