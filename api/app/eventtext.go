package app

import (
	"cmp"

	"sensegate/motion"
	"sensegate/motion/engine/inventory"
)

// nameless is what stands in a sentence for somebody or something without a name.
var nameless = map[string]string{"device": "A device", "member": "A member"}

// sentence says in words what happened.
func sentence(names inventory.DeviceNames, e motion.Event) string {
	kind, _ := motion.EventKindOf(e.Event)
	return kind.Sentence(func(name string) string { return cmp.Or(names.Value(e, name), nameless[name]) })
}
