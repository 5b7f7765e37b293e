package engine_test

import (
	"bytes"
	"path/filepath"
	"testing"
	"time"

	recorder "sensegate/api/box/recording"
	"sensegate/firmware-sim/capture"
	"sensegate/firmware-sim/channel"
	"sensegate/motion"
	"sensegate/motion/csi"
	"sensegate/motion/fuse"
)

// TestRecordedHomeIsACapture records the simulated radio of a home and reads it with the reader that
// the scoring uses: each frame that was sent is there, once, with the label of its time.
func TestRecordedHomeIsACapture(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		s := stageOf(b, "flat")
		directory := filepath.Join(t.TempDir(), "recordings")
		r := recorder.New(recorder.Options{Directory: directory, Listen: func(take recorder.Take) { b.Sensing.Record(take) }, Now: now})
		begun, err := r.Start(recorder.Order{Network: s.network, Minutes: 1})
		if err != nil {
			t.Fatal(err)
		}
		sent := map[string][]channel.Frame{}
		changes := []change{{now(), capture.Ignored}}
		for _, step := range []struct {
			label recorder.Label
			is    capture.Label
		}{{recorder.Empty, capture.Quiet}, {recorder.Still, capture.Still}, {recorder.Moving, capture.Motion}, {recorder.Unlabelled, capture.Ignored}} {
			if err := r.Label(step.label); err != nil {
				t.Fatal(err)
			}
			changes = append(changes, change{now(), capture.Ignored}, change{now().Add(3), step.is})
			s.playInto(10, sent)
		}
		time.Sleep(time.Minute) // it ends by itself
		list, err := r.List()
		if err != nil || len(list) != 1 || list[0].Name != begun.Name || list[0].Why != recorder.EndedByTime || list[0].Dropped != 0 {
			t.Fatalf("%+v %v", list, err)
		}
		s.until = now()
		s.play(1) // nobody records any more
		found, err := capture.Scan(directory)
		if err != nil || len(found) != len(s.links) || len(found) != len(list[0].Files) {
			t.Fatalf("%d captures of %d links, %d files: %v", len(found), len(s.links), len(list[0].Files), err)
		}
		total, labels := 0, map[capture.Label]int{}
		for i, c := range found {
			read, err := capture.ReadCSV(c.Paths[0])
			if err != nil {
				t.Fatal(err)
			}
			link := list[0].Files[i].Link
			want := sent[link]
			if len(read.Frames) != len(want) {
				t.Errorf("%s: %d frames, %d were sent", link, len(read.Frames), len(want))
				continue
			}
			total += len(want)
			start := want[0].Stamp
			for k, f := range read.Frames {
				at := want[k].Stamp
				if !bytes.Equal(f.Data, want[k].Data) || f.RSSI != want[k].RSSI || max(f.Time-at.Since(start), at.Since(start)-f.Time) > 1e-4 || f.Label != labelOf(changes, at) {
					t.Fatalf("%s: frame %d is %+v, sent at %v with RSSI %d and label %d", link, k, f, at.Since(start), want[k].RSSI, labelOf(changes, at))
				}
				labels[f.Label]++
			}
		}
		if total != list[0].Frames || len(labels) != 4 {
			t.Errorf("%d frames, %d are told; labels %v", total, list[0].Frames, labels)
		}
	})
}

// change is a label from a time on.
type change struct {
	at motion.Time
	is capture.Label
}

func labelOf(changes []change, at motion.Time) (is capture.Label) {
	for _, c := range changes {
		if at >= c.at {
			is = c.is
		}
	}
	return is
}

// playInto plays as play does, and keeps what each link has sent, by its name, with the
// imaginary part first.
func (s *stage) playInto(length motion.Seconds, sent map[string][]channel.Frame) {
	s.t.Helper()
	n, err := s.State.Network(s.network)
	if err != nil {
		s.t.Fatal(err)
	}
	for range int(2 * length) {
		s.play(0.5)
		for i := range s.links {
			l := &s.links[i]
			n.Mu.Lock()
			name := n.NameOf(fuse.Link{Src: l.src, Dst: l.dst})
			n.Mu.Unlock()
			for _, f := range l.frames {
				data := bytes.Clone(f.Data)
				if l.layout.Flags&(csi.ImagFirst|csi.Amplitude) == 0 {
					for k := 0; k < len(data); k += 2 {
						data[k], data[k+1] = data[k+1], data[k]
					}
				}
				sent[name] = append(sent[name], channel.Frame{Stamp: f.Stamp, Data: data, RSSI: f.RSSI})
			}
		}
	}
}
