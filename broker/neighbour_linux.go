package broker

import (
	"net"
	"net/netip"
	"strconv"
	"syscall"

	"sensegate/motion"
)

// Neighbour returns the MAC that the kernel's neighbour table has for the sender at an
// address of a network of ours; zero when it has none, as for one behind a router.
func Neighbour(address netip.Addr) motion.MAC {
	if !address.IsValid() || address.IsLoopback() {
		return motion.MAC{}
	}
	link := 0
	if zone := address.Zone(); zone != "" {
		link = linkOf(zone)
	}
	table, err := syscall.NetlinkRIB(getNeighbours, syscall.AF_UNSPEC)
	if err != nil {
		return motion.MAC{}
	}
	messages, err := syscall.ParseNetlinkMessage(table)
	if err != nil {
		return motion.MAC{}
	}
	var neighbours []neighbour
	for _, message := range messages {
		if message.Header.Type != syscall.RTM_NEWNEIGH {
			continue
		}
		if n, ok := parseNeighbour(message.Data); ok {
			neighbours = append(neighbours, n)
		}
	}
	return macOf(neighbours, address.WithZone(""), link)
}

// linkOf returns the index of the interface that a zone names, -1 when there is none.
func linkOf(zone string) int {
	if link, err := net.InterfaceByName(zone); err == nil {
		return link.Index
	}
	if index, err := strconv.Atoi(zone); err == nil {
		return index
	}
	return -1
}
