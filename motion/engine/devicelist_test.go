package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"sensegate/motion/engine"
	"sensegate/motion/engine/devices"
)

// device returns the entry of one device in the list.
func (b *box) device(id string) devices.DeviceState {
	b.t.Helper()
	list, _, err := b.Devices.DeviceList(context.Background())
	if err != nil {
		b.t.Fatal(err)
	}
	i := slices.IndexFunc(list, func(d devices.DeviceState) bool { return d.ID == id })
	if i < 0 {
		b.t.Fatalf("%s is not in %+v", id, list)
	}
	return list[i]
}

func TestDeviceListSaysWhyADeviceIsOffline(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		b.report(guardianKey, status())
		d := b.device(masterID)
		if d.State != "online" || d.Why != "" || d.NodeName != masterName || d.Address != address.String() || d.LastHeard != now() || d.Kind != "radar" {
			t.Errorf("online: %+v", d)
		}
		time.Sleep(100 * time.Second)
		if d := b.device(masterID); d.State != "offline" || d.Why != "connected, but silent for 100 s" {
			t.Errorf("silent: %+v", d)
		}
		b.State.Disconnected(masterKey, "connection lost")
		if d := b.device(masterID); d.State != "offline" || d.Why != "connection lost" {
			t.Errorf("disconnected: %+v", d)
		}
		b.stop()
		b.start()
		d = b.device(masterID)
		if d.State != "offline" || d.Why != "has not connected since the start" || d.LastHeard != now()-100 || d.Address != address.String() {
			t.Errorf("after a restart: %+v, now %v", d, now())
		}
	})
}

func TestTakenOverSessionStaysOnline(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		b.State.Connected(masterKey, elsewhere) // the device comes back before its old connection has ended
		b.State.Disconnected(masterKey, "session taken over")
		if d := b.device(masterID); d.State != "online" || d.Address != elsewhere.String() {
			t.Errorf("%+v", d)
		}
	})
}

// lines counts what is logged.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.buf.String(), text)
}

func TestBadInputIsCountedAndRarelyLogged(t *testing.T) {
	logged := &lines{}
	run(t, func(t *testing.T, b *box) {
		b.home()
		for i := range 120 {
			b.State.BadInput(masterKey.String(), "csi batch: too short", fmt.Appendf(nil, "\x00%d\xff é", i))
			time.Sleep(time.Second)
		}
		b.State.BadInput("client/"+masterID, "connect refused: wrong token", nil)
		d := b.device(masterID)
		if len(d.Refused) != 2 || d.Refused[0].Count != 120 || d.Refused[0].Sample != ".119. .." || d.Refused[0].Last != now()-1 {
			t.Errorf("refused %+v", d.Refused)
		}
		if n := logged.count("csi batch: too short"); n != 2 {
			t.Errorf("logged %d times in two minutes", n)
		}
		b.State.BadInput("client/x", `event: "it's \"secret\"": want letters; mac "cut of`, nil)
		if logged.count("secret") > 0 || logged.count("cut of") > 0 || logged.count("event: …: want letters; mac …") != 1 {
			t.Error("what a reason quotes is logged")
		}
		b.State.BadInput("address/192.168.10.66", "gatekeeper: not JSON", bytes.Repeat([]byte("x"), 100_000))
		u := b.device("address/192.168.10.66")
		if u.State != "refused" || u.Kind != "unknown" || len(u.Refused[0].Sample) != 256 {
			t.Errorf("unknown sender %+v", u)
		}
	}, func(o *engine.Options) { o.Log = slog.New(slog.NewTextHandler(logged, nil)) })
}

func TestLedgerIsBounded(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		for i := range 100 {
			b.State.BadInput(masterKey.String(), fmt.Sprint("reason ", i), nil)
		}
		total := 0
		d := b.device(masterID)
		for _, r := range d.Refused {
			total += r.Count
		}
		if len(d.Refused) != 33 || total != 100 || d.Refused[0].Reason != "other" || d.Refused[0].Count != 68 {
			t.Errorf("%d reasons, %d in total, first %+v", len(d.Refused), total, d.Refused[0])
		}
		for i := range 600 {
			time.Sleep(time.Millisecond)
			b.State.BadInput(fmt.Sprint("client/", i), "connect refused", nil)
		}
		list, _, err := b.Devices.DeviceList(context.Background())
		if err != nil || len(list) != 3+512 || b.device("client/599").State != "refused" {
			t.Errorf("%d entries, %v", len(list), err)
		}
		if d := b.device(masterID); len(d.Refused) != 0 {
			t.Errorf("the quietest account was kept: %+v", d.Refused)
		}
	})
}

func TestAdoptionWindowIsListed(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		installed := now()
		_, until, err := b.Devices.DeviceList(context.Background())
		if err != nil || until != installed+24*3600 {
			t.Errorf("until %v, %v", until, err)
		}
		time.Sleep(30 * time.Hour)
		opened, err := b.Devices.OpenAdoption(context.Background(), 0, 600)
		if err != nil {
			t.Fatal(err)
		}
		if _, until, _ := b.Devices.DeviceList(context.Background()); until != opened || opened != now()+600 {
			t.Errorf("until %v, opened until %v", until, opened)
		}
	})
}
