package moving_test

import (
	"bytes"
	"errors"
	"testing"

	"sensegate/api/box/moving"
	"sensegate/motion/fault"
	"sensegate/store"
)

const head = `{"format":"sensegate-network","version":1,"copy":"A","network":1}` + "\n"

// odd are beginnings of files that no program has written.
func odd() []string {
	return []string{
		head + `{"network":{"guardian_id":"a"}}` + "\n",
		head + `{"network":{"guardian_id":"a","master_id":3},"nodes":[{"id":3,"deviceId":"d","node_name":"n"}],"leafs":[{"id":3}],"devices":[{"kind":"radar","id":"d","node_id":3}],` +
			`"links":[{"link_id":"n.x"}],"alerts":[{"rule":{"motion_actions":[{"action":"fcm_push","user_ids":[1]}]}}],` +
			`"household":{"people":[{"account":{"id":1,"email":"a@example.com"},"membership":{"user":1,"role":"owner"}}],"sensors":[{"id":1}],"integration":{}}}` + "\n" +
			`{"event":{"_id":"0192a000-0000-7000-8000-000000000001","ts":1764000000,"data":{"sub":"s","user":{"id":1}}}}` + "\n" +
			`{"armed":{"at":1764000000}}` + "\n" + `{"detection":{"_sensor":1}}` + "\n" + `{"samples":{"tier":5,"start":0,"value":""}}` + "\n" + `{}` + "\n",
		head + `{"network":{"guardian_id":"a"},"nodes":[{"id":1,"deviceId":"d","node_name":"n"},{"id":2,"deviceId":"d","node_name":"m"}]}` + "\n",
		head + `{"network":{"guardian_id":"a"},"household":{"people":[{"account":{"id":1,"email":"no address"}}]}}` + "\n",
		head + `{"network":{"guardian_id":"a"},"household":{"people":[{"account":{"id":1,"email":"a@example.com"}},{"account":{"id":2,"email":"A@example.com"}}]}}` + "\n",
	}
}

// FuzzOpen reads texts as files: what is no file is refused, and nothing is read beyond its end.
func FuzzOpen(f *testing.F) {
	for _, text := range odd() {
		f.Add([]byte(text))
		f.Add([]byte(text + `{"end":{"records":0,"sha256":"00"}}` + "\n"))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		reader, err := moving.Open(bytes.NewReader(packed(t, string(text))))
		if err == nil {
			err = reader.Each(t.Context(), func(store.HistoryRecord) error { return nil })
		}
		if err != nil && fault.KindOf(err) != fault.Invalid {
			t.Errorf("error %v, want Invalid", err)
		}
	})
}

// TestOddFileLeavesTheDatabaseWhole takes in what no program has written, as if its end were right. The
// database is checked at the end.
func TestOddFileLeavesTheDatabaseWhole(t *testing.T) {
	t.Parallel()
	for i, text := range odd() {
		to := newBox(t, 0)
		reader, err := moving.Open(bytes.NewReader(packed(t, text)))
		if err != nil {
			t.Fatal(err)
		}
		in, err := to.BeginImport(t.Context(), reader.Network, store.ImportOptions{Copy: "A"})
		if err == nil {
			if err := reader.Each(t.Context(), func(r store.HistoryRecord) error { return in.Add(t.Context(), r) }); err == nil {
				t.Errorf("file %d: its end is not missed", i)
			}
			if _, err = in.Commit(t.Context()); err != nil {
				err = errors.Join(err, in.Abort(t.Context()))
			}
		}
		if taken := i < 2; taken != (err == nil) {
			t.Errorf("file %d: %v", i, err)
		}
		if err != nil {
			to.wantNothing(t)
		}
	}
}
