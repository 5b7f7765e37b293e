package mqtt

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/gorilla/websocket"

	"sensegate/motion/uplink"
)

// open opens the connection to the broker of the options.
func open(ctx context.Context, o uplink.Target) (net.Conn, error) {
	dialer := &net.Dialer{}
	switch o.URL.Scheme {
	case "mqtts":
		return (&tls.Dialer{NetDialer: dialer, Config: o.TLS}).DialContext(ctx, "tcp", o.URL.Host)
	case "ws", "wss":
		return openWebsocket(ctx, o)
	}
	return dialer.DialContext(ctx, "tcp", o.URL.Host)
}

// openWebsocket opens a websocket that carries MQTT (MQTT 3.1.1, 6).
func openWebsocket(ctx context.Context, o uplink.Target) (net.Conn, error) {
	address := *o.URL
	if address.Path == "" {
		address.Path = "/mqtt"
	}
	dialer := websocket.Dialer{Proxy: http.ProxyFromEnvironment, TLSClientConfig: o.TLS, Subprotocols: []string{"mqtt"}}
	ws, response, err := dialer.DialContext(ctx, address.String(), nil)
	if err != nil && response != nil {
		return nil, &handshakeError{response.Status}
	}
	if err != nil {
		return nil, err
	}
	return &stream{Conn: ws}, nil
}

// stream is a websocket as a stream of bytes. Read and Write are each called by one goroutine at a time.
type stream struct {
	*websocket.Conn
	message io.Reader // the rest of the message that is being read
}

// Read reads from the messages, which have no meaning of their own.
func (s *stream) Read(p []byte) (int, error) {
	for {
		if s.message == nil {
			_, message, err := s.NextReader()
			if err != nil {
				return 0, err
			}
			s.message = message
		}
		n, err := s.message.Read(p)
		if err == io.EOF {
			s.message, err = nil, nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// Write writes a message.
func (s *stream) Write(p []byte) (int, error) {
	if err := s.WriteMessage(websocket.BinaryMessage, p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// SetDeadline sets both deadlines.
func (s *stream) SetDeadline(t time.Time) error {
	if err := s.SetReadDeadline(t); err != nil {
		return err
	}
	return s.SetWriteDeadline(t)
}
