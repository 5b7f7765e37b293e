// Package wire is the device protocol: its topics, the payloads of events and
// commands, and the two bodies of the gatekeeper (device-protocol.md 1 and 2). The
// appliance decodes what the device simulator encodes.
//
// Devices differ in how they write the same thing, and the whole leniency of the
// product stands here (payloads.md 7): numbers as strings and strings as
// numbers, switches as 0, 1, "true" or true, radars as a list or a map, upper-case
// MACs, NaN, Infinity and empty strings for "no value", [] for {} and {} for [],
// unknown keys. What comes out is the vocabulary of package motion, bounded,
// finite and in range. What makes no sense is refused with a *fault.Error that
// names the place and is short enough for a log line; a payload of at most
// [MaxMessage] bytes decodes into a small multiple of its size.
//
// The package is pure and every function may be called concurrently. It must not
// know MQTT connections, HTTP, clocks or what the reports are used for.
package wire
