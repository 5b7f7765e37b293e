//go:build !linux

package broker

import (
	"net/netip"

	"sensegate/motion"
)

// Neighbour returns no MAC: only on Linux is the neighbour table read.
func Neighbour(netip.Addr) motion.MAC { return motion.MAC{} }
