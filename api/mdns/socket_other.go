//go:build !linux

package mdns

import (
	"errors"
	"sync"

	"sensegate/api/lan"
)

// socket is made on Linux only, where appliances run.
type socket struct{}

func open() (*socket, error) {
	return nil, errors.New("announcing names is made for Linux")
}

func (*socket) close()              {}
func (*socket) join(lan.Link) error { return nil }
func (*socket) send(datagram) error { return nil }

func (*socket) read(chan<- packet, <-chan struct{}) *sync.WaitGroup { return &sync.WaitGroup{} }
