// Package motion is the vocabulary of the product: ids, time, networks, nodes,
// leafs, links, configuration documents, device reports, events, live frames
// and topology, with the small rules that belong to one value alone.
//
// Field names, units and shapes are those of interfaces.md 2.2 and
// payloads.md 4; json tags are the outward shape. The package knows no I/O, no
// clock, no HTTP and no MQTT; everything in it is a plain value.
package motion
