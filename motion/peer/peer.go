// Package peer limits what one remote machine can use: its rate of requests ([Rates]) and its
// number of open connections ([Room]).
//
// Both count an IPv4 address by itself and an IPv6 address as its /64, because one host can
// use any number of addresses in its /64 (RFC 4291 section 2.5.1, RFC 8981).
//
// The package knows addresses and counts. It must not do I/O, or know HTTP or MQTT.
package peer

import "net/netip"

// Share is the limit of an IPv6 /64 as a multiple of the limit of one address, where single
// addresses have a limit: a household has only one /64.
const Share = 8

// Network returns the /64 of an IPv6 address or the /32 of an IPv4 address. It ignores the
// zone.
func Network(a netip.Addr) netip.Prefix {
	a = a.Unmap().WithZone("")
	network, _ := a.Prefix(min(64, a.BitLen())) // fails for other lengths only
	return network
}
