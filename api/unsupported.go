package api

import "strings"

// Unsupported is the header of an answer with settings: which of them have no effect in this
// network.
type Unsupported struct {
	Names string `header:"X-Unsupported-Settings" doc:"Comma-separated: settings of this answer that are kept and sent to the devices, and that have no effect on what the appliance senses itself in this network (from raw channel state, or figures of nodes); left out when there are none, as where a guardian senses" example:"pet_mode, mesh_auto_disable"`
}

// UnsupportedSettings returns the header that lists these settings.
func UnsupportedSettings(names []string) Unsupported { return Unsupported{strings.Join(names, ", ")} }
