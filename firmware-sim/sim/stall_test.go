package sim

import (
	"context"
	"io"
	"net"
	"testing"
	"time"

	"github.com/eclipse/paho.mqtt.golang/packets"
)

// deafBroker accepts a device and its subscription, and reads nothing afterwards.
func deafBroker(t *testing.T) (port int) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		var open []io.Closer
		for {
			conn, err := listener.Accept()
			if err != nil {
				break
			}
			open = append(open, conn)
			answer(conn)
		}
		for _, c := range open {
			_ = c.Close()
		}
	}()
	t.Cleanup(func() {
		_ = listener.Close()
		<-ended
	})
	return listener.Addr().(*net.TCPAddr).Port
}

// answer plays the broker up to the first subscription.
func answer(conn net.Conn) {
	for {
		p, err := packets.ReadPacket(conn)
		if err != nil {
			return
		}
		switch p := p.(type) {
		case *packets.ConnectPacket:
			err = packets.NewControlPacket(packets.Connack).Write(conn)
		case *packets.SubscribePacket:
			reply := packets.NewControlPacket(packets.Suback).(*packets.SubackPacket)
			reply.MessageID, reply.ReturnCodes = p.MessageID, []byte{1}
			_ = reply.Write(conn)
			return
		}
		if err != nil {
			return
		}
	}
}

func TestRunEndsAlthoughTheBrokerDoesNotRead(t *testing.T) {
	t.Parallel()
	a := newAppliance(t)
	a.port = deafBroker(t)
	s, err := New(Config{Seed: 42, Speed: maxSpeed, Start: a.ago(20 * time.Hour), Now: a.clock.Now, Gatekeeper: a.door.URL})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	before, stalled := int64(-1), time.NewTicker(200*time.Millisecond)
	defer stalled.Stop()
	for now := s.Counters().Bytes; now == 0 || now != before; now = s.Counters().Bytes {
		before = now
		<-stalled.C
	}
	cancel()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("run: %v", err)
		}
	case <-time.After(patience):
		t.Fatal("the run does not end")
	}
}
