package broker

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sensegate/broker/guard"
	"sensegate/broker/guard/guardtest"

	"github.com/mochi-mqtt/server/v2/packets"
)

// TestNothingIsRetainedOfTheLibrary: its topics about itself go once it serves.
func TestNothingIsRetainedOfTheLibrary(t *testing.T) {
	t.Parallel()
	r := start(t, newSink(), nil)
	end := time.Now().Add(time.Minute)
	for none := 0; none < 10; time.Sleep(5 * time.Millisecond) { // times in a row, as it may be about to retain the first one
		if time.Now().After(end) {
			t.Fatalf("%d topics are retained", r.mqtt.Topics.Retained.Len())
		}
		if none++; atomic.LoadInt64(&r.mqtt.Info.Time) == 0 || r.mqtt.Topics.Retained.Len() > 0 {
			none = 0
		}
	}
}

func TestPortInUseIsSaidAtTheStart(t *testing.T) {
	t.Parallel()
	taken := guardtest.Listen(t)
	defer func() { _ = taken.Close() }()
	cfg := Defaults()
	cfg.Listen = taken.Addr().String()
	s, err := New(cfg, newSink(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "mqtt.listen: "+cfg.Listen+" is in use") {
		t.Errorf("run: %v", err)
	}
	if s.Addr() != nil || s.Ready() == nil {
		t.Errorf("bound to %v, ready: %v", s.Addr(), s.Ready())
	}
}

func TestBrokerIsReadyUntilItHasStopped(t *testing.T) {
	t.Parallel()
	r := start(t, newSink(), nil)
	if err := r.Ready(); err != nil {
		t.Error(err)
	}
	if err := r.stop(); err != nil || r.Ready() == nil {
		t.Errorf("stopped: %v, ready: %v", err, r.Ready())
	}
}

func TestEveryMistakeInTheConfigurationIsSaid(t *testing.T) {
	t.Parallel()
	_, err := New(Config{Listen: "1883", TLSListen: "8883", Guard: guard.Config{MaxConnections: 1, MaxQoS: 3}}, newSink(), slog.New(slog.DiscardHandler))
	for _, want := range []string{"listen: want host:port", "tls_listen: want host:port", "max_per_address", "max_qos", "keep_alive"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
	if err := Defaults().Validate(); err != nil {
		t.Errorf("defaults: %v", err)
	}
}

func TestStopUnderLoadIsOrderly(t *testing.T) {
	t.Parallel()
	r := start(t, newSink(), nil)
	r.sink.ingested = make(chan message, 100000)
	busy, idle, silent := r.device(t, 4, guardian), r.device(t, 5, radar), guardtest.Dial(t, r.addr)
	go func() {
		for {
			if _, err := busy.Write(guardtest.Publish{Topic: eventTopic, QoS: 1, ID: 1}.Bytes()); err != nil {
				return
			}
		}
	}()
	next(t, r.sink.ingested)
	began := time.Now()
	if err := r.stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	if took := time.Since(began); took > guardtest.Patience {
		t.Errorf("stopping took %v", took)
	}
	idle.Expect("e0018b")
	idle.ExpectClosed()
	silent.ExpectClosed()
	for range 2 {
		if got := next(t, r.sink.disconnected); got != "the server stops" {
			t.Errorf("disconnected for %q", got)
		}
	}
}

func TestStopGivesUpOnASinkThatHangs(t *testing.T) {
	t.Parallel()
	sink, busy := newSink(), make(chan struct{})
	sink.ingest = func(ctx context.Context, _ message) error {
		close(busy)
		<-ctx.Done()
		return ctx.Err()
	}
	r := start(t, sink, nil)
	c := r.device(t, 4, guardian)
	c.Send(guardtest.Publish{Topic: eventTopic, QoS: 1, ID: 1}.Bytes())
	<-busy
	if err := r.stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	c.ExpectClosed() // without an acknowledgement
}

func TestDevicesConnectOverTLS(t *testing.T) {
	t.Parallel()
	r := start(t, newSink(), func(c *Config) {
		c.TLSListen = "127.0.0.1:0"
		config := &tls.Config{Certificates: []tls.Certificate{certificate(t)}}
		c.TLS = func(l net.Listener) net.Listener { return tls.NewListener(l, config) }
	})
	conn, err := tls.Dial("tcp", r.TLSAddr().String(), &tls.Config{InsecureSkipVerify: true}) // the certificate is not the point
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	plain := r.device(t, 5, guardian)
	if _, err := conn.Write(login(5, guardian).Bytes()); err != nil {
		t.Fatal(err)
	}
	plain.Expect("e0018e") // one client, whatever the listener
	answer := make([]byte, 4)
	if _, err := conn.Read(answer); err != nil || answer[0] != 0x20 || answer[3] != 0 {
		t.Errorf("connack % x, %v", answer, err)
	}
	stranger, err := net.Dial("tcp", r.TLSAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stranger.Close() }()
	if _, err := stranger.Write(login(4, radar).Bytes()); err != nil {
		t.Fatal(err)
	}
	for buf := make([]byte, 100); err == nil; {
		_, err = stranger.Read(buf)
	}
	if !guardtest.Closed(err) {
		t.Errorf("plain MQTT on the TLS port: %v", err)
	}
}

func TestHandshakeEndsWithTheTimeForConnect(t *testing.T) {
	t.Parallel()
	r := start(t, newSink(), func(c *Config) {
		c.Guard.ConnectTimeout = 100 * time.Millisecond
		c.TLSListen = "127.0.0.1:0"
		config := &tls.Config{Certificates: []tls.Certificate{certificate(t)}}
		c.TLS = func(l net.Listener) net.Listener { return tls.NewListener(l, config) }
	})
	for name, sent := range map[string]string{"nothing": "", "half a hello": "\x16\x03\x01\x00\xf0\x01"} {
		stranger, err := net.Dial("tcp", r.TLSAddr().String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := stranger.Write([]byte(sent)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, stranger); err != nil && !guardtest.Closed(err) {
			t.Errorf("after %s: %v", name, err)
		}
		_ = stranger.Close()
	}
	if got := r.Counters().ConnectTimeout; got != 2 {
		t.Errorf("%d connections had no CONNECT in time, want 2", got)
	}
}

func certificate(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func TestReasonsAreInWords(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"disconnected":              nil,
		"not authorized":            packets.ErrNotAuthorized,
		strings.Repeat("x", 200):    errors.New(strings.Repeat("x", 300)),
		guard.ErrKeepAlive.Error():  guard.ErrKeepAlive,
		guard.ErrSlowReader.Error(): guard.ErrSlowReader,
	} {
		if got := reasonText(err); got != want {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
	}
}
