package browser_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"sensegate/api/apitest"
	"sensegate/api/box/recording"
	"sensegate/motion"
	"sensegate/motion/csi"
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

// TestHouseholdIsToldOfARecording: also when somebody at the appliance itself records, or a recording
// that begins finds no room.
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
	a := b.keeper.ask(http.MethodPost, "/admin/recordings/"+name+"/download", "")
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
