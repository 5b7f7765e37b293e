package broker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"sensegate/broker/guard/guardtest"
)

const eventTopic = guardianRoot + "evt/event/fmt/json"

func TestAcknowledgementComesAfterTheCommit(t *testing.T) {
	t.Parallel()
	sink, commit := newSink(), make(chan struct{})
	sink.ingest = func(context.Context, message) error { <-commit; return nil }
	r := start(t, sink, nil)
	c := r.device(t, 4, guardian)
	c.Send(guardtest.Publish{Topic: eventTopic, QoS: 1, ID: 3, Payload: "{}"}.Bytes())
	_ = c.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if n, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("read %d bytes, %v, before the commit", n, err)
	}
	close(commit)
	c.Expect("40020003")
	if m := next(t, sink.ingested); m != (message{Identity{Device: guardian}, eventTopic, "{}", 1}) {
		t.Errorf("ingested %+v", m)
	}
}

func TestWhatIsNotStoredIsNotAcknowledged(t *testing.T) {
	t.Parallel()
	sink := newSink()
	sink.ingest = func(context.Context, message) error { return errors.New("disk full") }
	r := start(t, sink, nil)
	for _, version := range []byte{4, 5} {
		c := r.device(t, version, guardian)
		c.Send(guardtest.Publish{Version: version, Topic: eventTopic}.Bytes())
		c.Alive() // nobody would send QoS 0 again
		c.Send(guardtest.Publish{Version: version, Topic: eventTopic, QoS: 1, ID: 1}.Bytes())
		if version == 5 {
			c.Expect("e00189")
		}
		c.ExpectClosed()
		if got := next(t, sink.disconnected); got != "message not stored: disk full" {
			t.Errorf("disconnected for %q", got)
		}
	}
	if got := r.Counters(); got.NotStored != 4 || got.Ingested != 0 {
		t.Errorf("counters %+v", got)
	}
}

func TestSlowSinkDelaysItsOwnClientOnly(t *testing.T) {
	t.Parallel()
	sink, release := newSink(), make(chan struct{})
	sink.ingest = func(_ context.Context, m message) error {
		if m.id.Device == guardian {
			<-release
		}
		return nil
	}
	r := start(t, sink, nil)
	slow, other := r.device(t, 4, guardian), r.device(t, 4, radar)
	slow.Send(guardtest.Publish{Topic: eventTopic, QoS: 1, ID: 1}.Bytes())
	other.Send(guardtest.Publish{Topic: radarRoot + "evt/csi/fmt/bin", QoS: 1, ID: 1}.Bytes())
	other.Expect("40020001")
	close(release)
	slow.Expect("40020001")
}

func TestPanickingSinkEndsOneConnectionOnly(t *testing.T) {
	t.Parallel()
	sink := newSink()
	sink.ingest = func(context.Context, message) error { panic("a defect") }
	r := start(t, sink, nil)
	other, c := r.device(t, 4, radar), r.device(t, 4, guardian)
	c.Send(guardtest.Publish{Topic: eventTopic, QoS: 1, ID: 1}.Bytes())
	c.ExpectClosed()
	if got := next(t, sink.disconnected); got != "internal error" {
		t.Errorf("disconnected for %q", got)
	}
	other.Alive()
	if r.Online(guardian) || r.Counters().Panics != 1 {
		t.Errorf("online %v, counters %+v", r.Online(guardian), r.Counters())
	}
}

func TestPanicOverAWillLeavesNothing(t *testing.T) {
	t.Parallel()
	sink := newSink()
	sink.ingest = func(context.Context, message) error { panic("a defect") }
	r := start(t, sink, nil)
	c := guardtest.Dial(t, r.addr)
	con := login(4, guardian)
	con.Will, con.WillTopic = "gone", guardianRoot+"evt/guardian-status/fmt/json"
	c.Login(con)
	cl, _ := r.mqtt.Clients.Get(guardian.String())
	_ = c.Close()
	if got := next(t, sink.disconnected); got != "internal error" {
		t.Errorf("disconnected for %q", got)
	}
	if !cl.Closed() { // its writer would wait for ever
		t.Error("the library's client is still open")
	}
	if _, known := r.mqtt.Clients.Get(guardian.String()); known || r.Counters().Panics != 1 {
		t.Errorf("known %v, counters %+v", known, r.Counters())
	}
}

func TestDevicesMessagesAreNeitherForwardedNorRetained(t *testing.T) {
	t.Parallel()
	r := start(t, newSink(), nil)
	c := r.device(t, 4, guardian)
	c.Send(guardtest.Publish{Topic: eventTopic, QoS: 1, ID: 1, Payload: "x", Retain: true}.Bytes())
	c.Expect("40020001")
	if _, kept := r.mqtt.Topics.Retained.Get(eventTopic); kept {
		t.Error("a device's message was retained")
	}
}

func TestWillIsIngestedAndNotRetained(t *testing.T) {
	t.Parallel()
	r := start(t, newSink(), nil)
	c := guardtest.Dial(t, r.addr)
	con := login(5, guardian)
	con.Will, con.WillTopic, con.WillRetain = "gone", guardianRoot+"evt/guardian-status/fmt/json", true
	c.Login(con)
	_ = c.Close()
	if m := next(t, r.sink.ingested); m.payload != "gone" || m.topic != con.WillTopic {
		t.Errorf("ingested %+v", m)
	}
	if _, kept := r.mqtt.Topics.Retained.Get(con.WillTopic); kept {
		t.Error("a device's will was retained")
	}
	if got := next(t, r.sink.disconnected); got != "connection lost" {
		t.Errorf("disconnected for %q", got)
	}
}

func TestPayloadsStayOutOfTheLog(t *testing.T) {
	t.Parallel()
	sink := newSink()
	sink.ingest = func(context.Context, message) error { return errors.New("disk full") }
	r := start(t, sink, nil)
	for _, version := range []byte{4, 5} {
		for _, topic := range []string{eventTopic, radarRoot + "evt/event/fmt/json", "$SYS/x", "a/+"} {
			c := r.device(t, version, guardian)
			c.Send(guardtest.Publish{Version: version, Topic: topic, QoS: 1, ID: 1, Payload: "planted"}.Bytes())
			_, _ = c.TryPacket()
			_ = c.Close()
			next(t, sink.disconnected)
		}
	}
	_ = r.stop()
	if log := r.log.String(); strings.Contains(log, "planted") || strings.Contains(log, fmt.Sprint([]byte("planted"))) ||
		strings.Contains(log, "secret") {
		t.Errorf("a payload or a password is in the log:\n%s", log)
	}
}

func TestLibraryIsSetUpForTheProduct(t *testing.T) {
	t.Parallel()
	r := start(t, newSink(), nil)
	o := r.mqtt.Options
	if c := o.Capabilities; c.MaximumMessageExpiryInterval != 0 || c.MaximumSessionExpiryInterval != 0 ||
		c.MaximumClientWritesPending != 128 || c.TopicAliasMaximum != 0 || c.MaximumQos != 1 || o.SysTopicResendInterval != 3_153_600_000 {
		t.Errorf("options %+v, capabilities %+v", o, c)
	}
}
