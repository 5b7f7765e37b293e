package body

import (
	"sensegate/api"
	"sensegate/motion/engine/inventory"
)

// SoundingClients is the answer of sounding/clients.
type SoundingClients struct {
	Devices []soundingDevice `json:"devices" nullable:"false" doc:"Nodes, then clients, each by id"`
}

type soundingDevice = api.OneOf[inventory.SoundingNode, inventory.SoundingLeaf]

// SoundingClientsOf answers with the nodes and clients of a network.
func SoundingClientsOf(clients inventory.SoundingClients) SoundingClients {
	answer := SoundingClients{Devices: []soundingDevice{}}
	for i := range clients.Nodes {
		answer.Devices = append(answer.Devices, soundingDevice{A: &clients.Nodes[i]})
	}
	for i := range clients.Leafs {
		answer.Devices = append(answer.Devices, soundingDevice{B: &clients.Leafs[i]})
	}
	return answer
}
