package home

import "sensegate/motion"

// NoPet is the size of no pet.
const NoPet = "none"

// New returns the home of a network of which nobody has said anything yet.
func New(network motion.NetworkID) Home {
	return Home{ExternalID: network, PetSize: NoPet, LiveEnabled: true, Scene: AtHome}
}
