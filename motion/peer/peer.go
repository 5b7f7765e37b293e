// Package peer says what the address of another machine counts as, and bounds what one
// machine can take: how often it may ask ([Rates]), and how many connections it may hold
// ([Room]).
//
// One rule holds everywhere an address is counted: an IPv4 address counts by itself, an
// IPv6 address as its /64, because one host can use as many addresses of that as it likes
// (RFC 4291 section 2.5.1, RFC 8981).
//
// The package knows addresses and counts. It must not do I/O, or know HTTP or MQTT.
package peer

import "net/netip"

// Share is how many times what one address may take an IPv6 /64 may take, where one
// address has a share of its own: a household has only the one /64.
const Share = 8

// Network returns the /64 of an IPv6 address, and an IPv4 address as a network of its
// own. The zone of an address does not count.
func Network(a netip.Addr) netip.Prefix {
	a = a.Unmap().WithZone("")
	network, _ := a.Prefix(min(64, a.BitLen())) // fails for other lengths only
	return network
}
