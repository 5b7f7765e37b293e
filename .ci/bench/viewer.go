package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// viewer is a cheap websocket.
type viewer struct {
	net.Conn
	in   *bufio.Reader
	text []byte
}

// view opens a websocket at a path; key may be "".
func view(addr, path, key string) (*viewer, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	v := &viewer{Conn: conn, in: bufio.NewReaderSize(conn, 2048)}
	fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: %s\r\nConnection: upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-Websocket-Version: 13\r\nSec-Websocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n", path, key)
	for first := ""; ; {
		line, err := v.in.ReadString('\n')
		if first == "" {
			first = line
		}
		if err == nil && !strings.HasPrefix(first, "HTTP/1.1 101") {
			err = fmt.Errorf("%s answers %q", path, first)
		}
		if err != nil {
			return nil, errors.Join(err, conn.Close())
		}
		if line == "\r\n" {
			return v, nil
		}
	}
}

// next reads the next message, valid until the next call, and answers pings.
func (v *viewer) next() ([]byte, error) {
	const text, ping = 0x81, 0x89
	if err := v.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	for {
		var head [4]byte
		if _, err := io.ReadFull(v.in, head[:2]); err != nil {
			return nil, err
		}
		size := int(head[1])
		if size == 126 {
			if _, err := io.ReadFull(v.in, head[2:]); err != nil {
				return nil, err
			}
			size = int(binary.BigEndian.Uint16(head[2:]))
		}
		if cap(v.text) < size {
			v.text = make([]byte, size)
		}
		v.text = v.text[:size]
		if _, err := io.ReadFull(v.in, v.text); err != nil {
			return nil, err
		}
		switch head[0] {
		case text:
			return v.text, nil
		case ping:
			if _, err := v.Write([]byte{0x8a, 0x80, 0, 0, 0, 0}); err != nil {
				return nil, err
			}
		default:
			return nil, fmt.Errorf("unexpected frame %x %x: %q", head[0], head[1], v.text)
		}
	}
}

// next reads the next message of a subscription, valid until the next call.
func (c *client) next() ([]byte, error) {
	body, err := c.await(0x30)
	if err != nil {
		return nil, err
	}
	return body[2+int(binary.BigEndian.Uint16(body)):], nil
}
