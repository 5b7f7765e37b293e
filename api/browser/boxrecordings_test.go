package browser_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"sensegate/api/apitest"
	"sensegate/api/box/recording"
	"sensegate/motion"
	"sensegate/motion/csi"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

// movesIn makes somebody a member of the first home.
func (b *box) movesIn(p *tab) {
	b.T.Helper()
	b.update(func(tx *store.Tx) error {
		_, err := tx.CreateMembership(home.Membership{Role: home.MemberRole, User: p.ID, Home: b.home})
		return err
	})
}

// startsRecording begins a recording of the first home, of which nobody is told.
func (b *box) startsRecording() string {
	b.T.Helper()
	begun, err := b.records.Start(recording.Order{Network: b.network, Home: b.home, Minutes: 5})
	if err != nil {
		b.T.Fatal(err)
	}
	return begun.Name
}

// recorded makes a recording of the first home, and returns its name.
func (b *box) recorded() string {
	b.T.Helper()
	name := b.startsRecording()
	b.measures()
	if _, err := b.records.Stop(); err != nil {
		b.T.Fatal(err)
	}
	return name
}

// measures lets a node of the first home report ten frames of CSI.
func (b *box) measures() {
	b.T.Helper()
	key := motion.DeviceKey{Kind: motion.RadarKind, ID: master}
	b.engine.State.BeginSession(motion.Device{DeviceKey: key, NetworkID: b.network, NodeID: b.nodeOf(master)})
	b.engine.State.Connected(key, netip.MustParseAddr("192.168.10.13"))
	batch := csi.Batch{Src: speaker, Dst: motion.MAC{2, 0xaa, 0, 0, 1, 0x12}, Flags: csi.ImagFirst, Channel: 6, Subcarriers: 2}
	for i := range 10 {
		batch.Frames = append(batch.Frames, csi.Frame{Offset: uint32(i) * 10_000, RSSI: -50, Data: []byte{1, 2, 3, byte(i)}})
	}
	if err := b.engine.Report(b.T.Context(), key, motion.RawCSI(csi.Append(nil, &batch))); err != nil {
		b.T.Fatal(err)
	}
}

type recordings struct {
	Homes []struct {
		ID    motion.NetworkID
		Links []struct{ Link string }
	}
	Running    *struct{ Name, Label string }
	Busy       bool
	Recordings []struct {
		Name, Why string
		Frames    int
	}
}

func (p *tab) recordings() recordings {
	p.box.T.Helper()
	return apitest.Want[recordings](p.box.T, p.ask(http.MethodGet, "/admin/recordings", ""), 200)
}

const order = `{"network_id":1,"minutes":5}`

// TestOnlyWhoLivesThereRecords: an administrator from elsewhere neither records a home nor sees, stops,
// labels, downloads or deletes what was recorded there.
func TestOnlyWhoLivesThereRecords(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	name := b.recorded()
	apitest.WantProblem(t, b.keeper.ask(http.MethodPost, "/admin/recordings", order), http.StatusForbidden, "not_resident")
	b.startsRecording()
	if got := b.keeper.recordings(); len(got.Homes) != 0 || got.Running != nil || !got.Busy || len(got.Recordings) != 0 {
		t.Errorf("from elsewhere: %+v", got)
	}
	for _, c := range [][3]string{
		{"PUT", "label", `{"label":"moving"}`}, {"POST", "stop", ""}, {"POST", name + "/download", ""}, {"DELETE", name, ""},
	} {
		if got := b.keeper.ask(c[0], "/admin/recordings/"+c[1], c[2]).Status; got != http.StatusNotFound {
			t.Errorf("%s %s from elsewhere: %d", c[0], c[1], got)
		}
	}
	if lines := b.keeper.audit(); len(lines) != 0 {
		t.Errorf("refusals are in the audit log: %+v", lines)
	}
	b.movesIn(b.keeper)
	got := b.keeper.recordings()
	if len(got.Homes) != 1 || got.Running == nil || len(got.Recordings) != 1 || got.Recordings[0].Frames != 10 || got.Recordings[0].Name != name {
		t.Errorf("of who lives there: %+v", got)
	}
	apitest.WantProblem(t, b.keeper.ask(http.MethodPost, "/admin/recordings", order), http.StatusConflict, "recording")
}

// TestHouseholdIsToldOfARecording that begins, and of none that did not.
func TestHouseholdIsToldOfARecording(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.movesIn(b.keeper)
	begun := apitest.Want[struct{ Name string }](t, b.keeper.ask(http.MethodPost, "/admin/recordings", order), 201)
	if n, values := b.member.notified(motion.RecordingStartedEvent); n != 1 || values["member"] != "keeper" {
		t.Errorf("told %d times: %v", n, values)
	}
	b.keeper.done(http.MethodPut, "/admin/recordings/label", `{"label":"still"}`)
	b.measures()
	if got := b.keeper.recordings(); got.Running == nil || got.Running.Label != "still" {
		t.Errorf("%+v", got.Running)
	}
	done := apitest.Want[struct {
		Name, Why, Label string
		Frames, Links    int
	}](t, b.keeper.ask(http.MethodPost, "/admin/recordings/stop", ""), 200)
	if done.Name != begun.Name || done.Why != "stopped" || done.Frames != 10 || done.Links != 1 || done.Label != "" {
		t.Errorf("%+v", done)
	}
	apitest.WantProblem(t, b.keeper.ask(http.MethodPost, "/admin/recordings", `{"network_id":1,"minutes":5,"links":["nope"]}`), http.StatusNotFound, "")
	if n, _ := b.member.notified(motion.RecordingStartedEvent); n != 1 {
		t.Errorf("told of what did not begin: %d", n)
	}
}

// TestRecordingIsDownloadedAsAnArchive of captures.
func TestRecordingIsDownloadedAsAnArchive(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.movesIn(b.keeper)
	name := b.recorded()
	a := b.keeper.ask(http.MethodPost, "/admin/recordings/"+name+"/download", "{}") // as the page does
	if want := "attachment; filename=" + name + ".zip"; a.Status != 200 || a.Header.Get("Content-Disposition") != want {
		t.Fatalf("%d %v", a.Status, a.Header)
	}
	archive, err := zip.NewReader(bytes.NewReader(a.Body), int64(len(a.Body)))
	if err != nil || len(archive.File) != 1 || !strings.HasPrefix(archive.File[0].Name, name+"/01_") {
		t.Fatalf("%v %v", archive, err)
	}
	file, err := archive.File[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	text, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(text)
	if lines := strings.Split(string(content), "\n"); err != nil || len(lines) != 13 || lines[3] != "10.0,9,-50,01020301" {
		t.Errorf("%v\n%s", err, content)
	}
	b.keeper.done(http.MethodDelete, "/admin/recordings/"+name, "")
	if got := b.keeper.recordings(); len(got.Recordings) != 0 {
		t.Errorf("it is still there: %+v", got)
	}
}

// TestRecordingGoesWithItsHousehold, and ends when whoever has begun it leaves the home or the office.
func TestRecordingGoesWithItsHousehold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do            func(b *box, tx *store.Tx) error
		running, kept bool
	}{
		"nothing": {func(*box, *store.Tx) error { return nil }, true, true},
		"they leave": {func(b *box, tx *store.Tx) error {
			m, _, err := tx.MembershipOf(b.home, b.keeper.ID)
			if err != nil {
				return err
			}
			return tx.DeleteMembership(m.ID)
		}, false, true},
		"they are no administrator any more": {func(b *box, tx *store.Tx) error {
			return errors.Join(tx.SetAdministrator(b.owner.ID, true), tx.SetAdministrator(b.keeper.ID, false))
		}, false, true},
		"the home is vacated": {func(b *box, tx *store.Tx) error {
			_, err := tx.VacateHome(b.home)
			return err
		}, false, false},
		"another household claims it": {func(b *box, tx *store.Tx) error {
			house, err := tx.Home(b.home)
			house.ClaimedAt = tx.Now().Add(60)
			return errors.Join(err, tx.PutHome(house))
		}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			b.movesIn(b.keeper)
			old := b.recorded()
			apitest.Want[any](t, b.keeper.ask(http.MethodPost, "/admin/recordings", order), 201)
			b.update(func(tx *store.Tx) error { return c.do(b, tx) })
			if err := b.boxes.DropForsaken(t.Context()); err != nil {
				t.Fatal(err)
			}
			_, _, running := b.records.Running()
			_, err := b.records.Find(old)
			if running != c.running || (err == nil) != c.kept {
				t.Errorf("it runs: %t, the former one: %v", running, err)
			}
		})
	}
}

// TestTerminalRecordsAnyHome, and its household is told as well.
func TestTerminalRecordsAnyHome(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	terminal := store.Actor{Kind: store.ByTerminal, Name: "root"}
	if _, err := b.boxes.StartRecording(t.Context(), terminal, recording.Order{Minutes: 5}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("of two networks none was named: %v", err)
	}
	begun, err := b.boxes.StartRecording(t.Context(), terminal, recording.Order{Network: b.network, Minutes: 5})
	if err != nil {
		t.Fatal(err)
	}
	if n, values := b.member.notified(motion.RecordingStartedEvent); n != 1 || values["member"] != "" {
		t.Errorf("told %d times: %v", n, values)
	}
	b.measures()
	if done, err := b.boxes.StopRecording(t.Context(), terminal); err != nil || done.Name != begun.Name || done.Frames != 10 {
		t.Errorf("%+v %v", done, err)
	}
	if lines := b.keeper.audit(); len(lines) != 1 || lines[0].Action != "recording_started" || lines[0].About != begun.Name {
		t.Errorf("%+v", lines)
	}
}
