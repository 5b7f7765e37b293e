package main

import (
	"fmt"
	"io"
	"net"
	"sync"
)

// way is how a box reaches the cluster: the first node that takes the connection, as with a name that
// has several addresses, or none while it is cut.
type way struct {
	listener net.Listener
	nodes    []string // host:port, the preferred one first

	mu    sync.Mutex
	isCut bool
	open  map[net.Conn]bool
}

func newWay(nodes []string) (*way, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open the way of a box: %w", err)
	}
	w := &way{listener: listener, nodes: nodes, open: map[net.Conn]bool{}}
	go w.accept()
	return w, nil
}

func (w *way) address() string { return w.listener.Addr().String() }

// cut ends what is open, and what comes, until it is called with false.
func (w *way) cut(now bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.isCut = now
	for conn := range w.open {
		_ = conn.Close() // the copying ends with an error of its own
	}
}

// close ends the way.
func (w *way) close() {
	_ = w.listener.Close()
	w.cut(true)
}

func (w *way) accept() {
	for {
		conn, err := w.listener.Accept()
		if err != nil {
			return
		}
		go w.carry(conn)
	}
}

// carry carries one connection to a node.
func (w *way) carry(conn net.Conn) {
	defer w.leave(conn)
	if !w.enter(conn) {
		return
	}
	for _, address := range w.nodes {
		node, err := net.Dial("tcp", address)
		if err != nil {
			continue
		}
		if w.enter(node) {
			go func() {
				_, _ = io.Copy(node, conn)
				w.leave(node)
			}()
			_, _ = io.Copy(conn, node)
		}
		w.leave(node)
		return
	}
}

// enter notes a connection, and reports false while the way is cut.
func (w *way) enter(conn net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open[conn] = !w.isCut
	return !w.isCut
}

func (w *way) leave(conn net.Conn) {
	w.mu.Lock()
	delete(w.open, conn)
	w.mu.Unlock()
	_ = conn.Close()
}
