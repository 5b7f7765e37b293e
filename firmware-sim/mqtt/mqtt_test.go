package mqtt_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/eclipse/paho.mqtt.golang/packets"

	"sensegate/firmware-sim/mqtt"
)

const patience = 20 * time.Second

// serve plays a broker: it accepts who connects, and then does as play says.
func serve(t *testing.T, play func(net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				if _, err := packets.ReadPacket(conn); err == nil && packets.NewControlPacket(packets.Connack).Write(conn) == nil {
					play(conn)
				}
			}()
		}
	}()
	return listener.Addr().String()
}

// ends waits for a channel.
func ends(t *testing.T, what string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatalf("%s does not end", what)
	}
}

func open(t *testing.T, o mqtt.Options) (c *mqtt.Client, down <-chan struct{}) {
	t.Helper()
	up, ended := make(chan struct{}, 1), make(chan struct{}, 1)
	o.ClientID, o.User, o.Password = "a", "a", "a"
	o.Pause = func(n int) time.Duration { return time.Duration(n) * time.Hour }
	o.Up = func() { up <- struct{}{} }
	o.Down = func() {
		select {
		case ended <- struct{}{}:
		default:
		}
	}
	c = mqtt.Open(o)
	t.Cleanup(c.Cut)
	ends(t, "connecting", up)
	return c, ended
}

func TestAMessageThatIsNotAcknowledgedFails(t *testing.T) {
	t.Parallel()
	server := serve(t, func(conn net.Conn) {
		for {
			p, err := packets.ReadPacket(conn)
			if err != nil {
				return
			}
			if _, ping := p.(*packets.PingreqPacket); ping {
				_ = packets.NewControlPacket(packets.Pingresp).Write(conn)
			}
		}
	})
	c, _ := open(t, mqtt.Options{Server: server, KeepAlive: time.Second})
	done := make(chan struct{})
	go func() {
		defer close(done)
		if c.Publish(context.Background(), mqtt.Message{Topic: "a", QoS: 1}) == nil {
			t.Error("acknowledged")
		}
	}()
	ends(t, "publishing", done)
}

// Its commands, which are acknowledged, must not keep a broker that does not read connected.
func TestABrokerThatDoesNotReadIsLeft(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	t.Cleanup(func() { close(hold) })
	server := serve(t, func(conn net.Conn) {
		time.Sleep(time.Second) // by then the client cannot write
		p := packets.NewControlPacket(packets.Publish).(*packets.PublishPacket)
		p.TopicName, p.Qos, p.MessageID = "a", 1, 1
		_ = p.Write(conn)
		<-hold
	})
	c, down := open(t, mqtt.Options{Server: server, KeepAlive: 2 * time.Second})
	go func() {
		for c.Publish(context.Background(), mqtt.Message{Topic: "a", Payload: make([]byte, 1<<20)}) == nil {
		}
	}()
	ends(t, "the connection", down)
}

func TestCloseEndsAConnectionThatIsBeingOpened(t *testing.T) {
	t.Parallel()
	server := serve(t, func(conn net.Conn) { _, _ = packets.ReadPacket(conn) })
	for range 3000 {
		c := mqtt.Open(mqtt.Options{Server: server, ClientID: "a", User: "a", Password: "a", KeepAlive: time.Hour})
		pause := time.NewTimer(time.Duration(time.Now().UnixNano() % 400_000))
		<-pause.C
		done := make(chan struct{})
		go func() {
			defer close(done)
			c.Close()
		}()
		ends(t, "closing", done)
	}
}
