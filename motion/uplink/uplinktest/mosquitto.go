// Package uplinktest starts a real MQTT broker for tests of what uplinks send: mosquitto.
package uplinktest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sensegate/motion/uplink"
	"sensegate/motion/uplink/mqtt"
)

// patience bounds every wait.
const patience = 30 * time.Second

// Broker is a mosquitto of one test.
type Broker struct {
	t       testing.TB
	address string
	file    string // its configuration
	options Options
	process *exec.Cmd
}

// Options are of a Broker.
type Options struct {
	Users map[string]string // passwords by user name; none: everybody is let in
	// TLS is the broker's certificate and key; empty: no TLS. With Clients, clients need a certificate
	// of that authority.
	Certificate, Key string
	Clients          string
	Persistent       bool     // it keeps sessions across Restart
	Lines            []string // more lines of its configuration
}

// Start starts a mosquitto on a free port of loopback, which ends with the test. Without mosquitto the
// test is skipped, and fails where CI is true.
func Start(t testing.TB, o Options) *Broker {
	t.Helper()
	if _, err := program(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("mosquitto is not installed")
		}
		t.Skip("mosquitto is not installed")
	}
	dir := t.TempDir()
	b := &Broker{t: t, address: free(t), file: filepath.Join(dir, "mosquitto.conf"), options: o}
	_, port, _ := net.SplitHostPort(b.address)
	lines := []string{"listener " + port + " 127.0.0.1", "persistence " + fmt.Sprint(o.Persistent), "allow_anonymous " + fmt.Sprint(len(o.Users) == 0)}
	if os.Geteuid() == 0 {
		lines = append([]string{"user root"}, lines...) // its own user may not read the directory of the test
	}
	write := func(key, name, text string) {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if key != "" {
			lines = append(lines, key+" "+path)
		}
	}
	if o.Persistent {
		lines = append(lines, "persistence_location "+dir+"/", "max_queued_messages 0")
	}
	if o.Certificate != "" {
		write("certfile", "certificate.pem", o.Certificate)
		write("keyfile", "key.pem", o.Key)
	}
	if o.Clients != "" {
		write("cafile", "ca.pem", o.Clients)
		lines = append(lines, "require_certificate true")
	}
	if len(o.Users) > 0 {
		write("password_file", "users", "")
		for name, password := range o.Users {
			if out, err := exec.Command("mosquitto_passwd", "-b", filepath.Join(dir, "users"), name, password).CombinedOutput(); err != nil {
				t.Fatalf("mosquitto_passwd: %v: %s", err, out)
			}
		}
	}
	write("", "mosquitto.conf", strings.Join(append(lines, o.Lines...), "\n")+"\n")
	b.Up()
	t.Cleanup(b.Down)
	return b
}

// program returns the path of mosquitto.
func program() (string, error) {
	if path, err := exec.LookPath("mosquitto"); err == nil {
		return path, nil
	}
	return exec.LookPath("/usr/sbin/mosquitto")
}

// free returns an address of loopback that nothing listens at.
func free(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// Up starts it again after Down, and waits until it says that it runs. That its port is taken does
// not say so: a process that another test is about to start holds the sockets of this one for a
// moment, the listener of free among them. While one holds it mosquitto ends, and is started again.
func (b *Broker) Up() {
	b.t.Helper()
	path, err := program()
	if err != nil {
		b.t.Fatal(err)
	}
	for limit := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		b.process = exec.Command(path, "-c", b.file)
		said, err := b.process.StderrPipe()
		if err == nil {
			err = b.process.Start()
		}
		if err != nil {
			b.t.Fatal(err)
		}
		heard, runs := untilRunning(said)
		if runs {
			go func() { _, _ = io.Copy(io.Discard, said) }() // until it ends
			return
		}
		_ = b.process.Wait()
		if time.Now().After(limit) {
			b.t.Fatalf("mosquitto does not run: %s", heard)
		}
	}
}

// untilRunning reads what mosquitto says until it runs, or has ended.
func untilRunning(said io.Reader) (heard string, runs bool) {
	for lines := bufio.NewScanner(said); lines.Scan(); {
		heard += lines.Text() + "\n"
		if strings.HasSuffix(lines.Text(), " running") {
			return heard, true
		}
	}
	return heard, false
}

// Down ends it at once, as a power cut does.
func (b *Broker) Down() {
	if b.process == nil {
		return
	}
	_ = b.process.Process.Kill()
	_ = b.process.Wait()
	b.process = nil
}

// Restart ends it in order, and starts it again.
func (b *Broker) Restart() {
	b.t.Helper()
	_ = b.process.Process.Signal(syscall.SIGTERM)
	_ = b.process.Wait()
	b.Up()
}

// Address returns host:port.
func (b *Broker) Address() string { return b.address }

// URL returns the address as an uplink's configuration has it.
func (b *Broker) URL() string {
	if b.options.Certificate != "" {
		return "mqtts://" + b.address
	}
	return "mqtt://" + b.address
}

// Connect connects a client, which ends with the test; where there are users, as one of them. It is for
// brokers without TLS.
func (b *Broker) Connect(name string) uplink.Connection {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), patience)
	defer cancel()
	to := uplink.Target{URL: &url.URL{Scheme: "mqtt", Host: b.address}, ClientID: name}
	for name, password := range b.options.Users {
		to.Username, to.Password = name, password
	}
	conn, err := mqtt.Connect(ctx, to, slog.New(slog.DiscardHandler))
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(conn.Close)
	return conn
}

// Reader hears all messages below a filter, in order, from now on; kept ones come first. Who falls
// behind by more than the reader has room for fails the test.
type Reader struct {
	t        testing.TB
	messages chan uplink.Message
}

// Listen returns a reader with a connection of its own.
func (b *Broker) Listen(filter string) *Reader {
	b.t.Helper()
	r := &Reader{t: b.t, messages: make(chan uplink.Message, 100_000)}
	conn := b.Connect(fmt.Sprintf("reader-%d", time.Now().UnixNano()))
	ctx, cancel := context.WithTimeout(b.t.Context(), patience)
	defer cancel()
	err := conn.Subscribe(ctx, filter, func(m uplink.Message) {
		select {
		case r.messages <- m:
		default:
			r.t.Error("the reader has fallen behind")
		}
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return r
}

// Next returns the next message. The test fails when there is none for half a minute.
func (r *Reader) Next() uplink.Message {
	r.t.Helper()
	select {
	case m := <-r.messages:
		return m
	case <-time.After(patience):
		r.t.Fatal("no message")
		return uplink.Message{}
	}
}

// Await returns the next message of a topic, and leaves those of others out.
func (r *Reader) Await(topic string) uplink.Message {
	r.t.Helper()
	for limit := time.Now().Add(patience); time.Now().Before(limit); {
		if m := r.Next(); m.Topic == topic {
			return m
		}
	}
	r.t.Fatalf("no message to %s", topic)
	return uplink.Message{}
}
