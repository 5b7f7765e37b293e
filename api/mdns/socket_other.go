//go:build !linux

package mdns

import (
	"errors"

	"sensegate/api/lan"
)

// socket is made on Linux only, where appliances run.
type socket struct{}

func open(chan<- packet) (*socket, error) {
	return nil, errors.New("names are announced on Linux only")
}

func (*socket) close()              {}
func (*socket) keep([]lan.Link)     {}
func (*socket) join(lan.Link) error { return nil }
func (*socket) send(datagram) error { return nil }
