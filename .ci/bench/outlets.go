package main

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"

	"github.com/gorilla/websocket"
)

// outlets are the websockets of viewers, each at the path of the topic that it views.
type outlets struct {
	addr   net.Addr
	server *http.Server

	mu      sync.Mutex
	viewers map[string]*websocket.Conn // by topic
	err     error                      // the first one
}

// newOutlets listens until close.
func newOutlets() (*outlets, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	o := &outlets{addr: l.Addr(), viewers: map[string]*websocket.Conn{}}
	o.server = &http.Server{Handler: o}
	go func() { _ = o.server.Serve(l) }() // until it is closed
	return o, nil
}

// ServeHTTP makes the request the viewer of a topic.
func (o *outlets) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	var upgrader websocket.Upgrader
	conn, err := upgrader.Upgrade(w, request, nil)
	o.mu.Lock()
	defer o.mu.Unlock()
	if err != nil {
		o.err = err
		return
	}
	o.viewers[strings.TrimPrefix(request.URL.Path, "/")] = conn
}

// send calls write with the viewer of a topic.
func (o *outlets) send(topic string, write func(viewer *websocket.Conn) error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	err := fmt.Errorf("nobody views %s", topic)
	if viewer := o.viewers[topic]; viewer != nil {
		err = write(viewer)
	}
	if o.err == nil {
		o.err = err
	}
}

func (o *outlets) do(what string, _ int) (map[string]float64, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch what {
	case "port":
		return map[string]float64{"port": float64(o.addr.(*net.TCPAddr).Port)}, nil
	case "error":
		return nil, o.err
	}
	return nil, fmt.Errorf("no such question: %s", what)
}

func (o *outlets) close() error { return o.server.Close() }
