package evaluate

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sensegate/firmware-sim/channel"
	"sensegate/firmware-sim/scenario"
	"sensegate/motion"
)

// TestDisturbedRadio: its network is silent and then on another channel, its node starts anew, frames come twice,
// in order, and some are lost.
func TestDisturbedRadio(t *testing.T) {
	t.Parallel()
	home, err := scenario.Open("flat")
	if err != nil {
		t.Fatal(err)
	}
	from := motion.TimeOf(scenarioDay())
	to := from.Add(1200)
	d := disturb(home.Radio(home.Plan(), home.Links()[0], 1), home.Links()[0], 1, from, to)
	var last motion.Time
	formats, doubles, count := map[uint32]bool{}, 0, 0
	silent := motion.Seconds(0)
	for at := from; at < to; at = at.Add(0.5) {
		frames, format := d.sound(at, at.Add(0.5), &channel.Scene{})
		formats[format] = true
		for _, f := range frames {
			if f.Time < last {
				t.Fatalf("a frame of %v follows one of %v", f.Time, last)
			}
			if gap := f.Time.Since(last); last > 0 && gap > 2 {
				silent += gap
			} else if last > 0 && gap < 0.004 {
				doubles++
			}
			last = f.Time
			count++
		}
	}
	if len(formats) != 2 || doubles < count/50 || silent < changeSilence+restartSilence || silent > 2*(changeSilence+restartSilence) {
		t.Errorf("%d frames on %d channels, %d of them doubles, silent for %.1f s", count, len(formats), doubles, silent)
	}
}

// TestQuietHomesAreQuiet, and one in which a dog walks is not.
func TestQuietHomesAreQuiet(t *testing.T) {
	t.Parallel()
	unraced(t)
	for with, number := range map[string]int{Nobody: 1, Pets: 2} { // of a piece in whose first minutes the cat walks about
		home, err := scenario.Open("house-pet-fan")
		if err != nil {
			t.Fatal(err)
		}
		p := piece{Home: home.Name, With: with, Seed: 1, Number: number}
		p.play(home, 6*time.Minute)
		want := with == Pets
		if p.Hours != 0.1 || p.Alone.Hours != 0.1*float64(len(home.Links())) || (p.Events[0] > 0) != want {
			t.Errorf("with %s: %+v, want detections: %t", with, p, want)
		}
	}
}

// TestQuietGoesOnWhereItEnded: what a former run has played is not played again.
func TestQuietGoesOnWhereItEnded(t *testing.T) {
	t.Parallel()
	home, err := scenario.Open("flat")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "quiet.jsonl")
	known, err := openKept(file)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 4 {
		if n == 3 {
			known.program = "another build"
		}
		if err := known.add(piece{Home: "flat", Scenario: digestOf(home), With: Nobody, Seed: 7, Number: n, Hours: 6, Events: [quietLevels]int{n, 0, 0, 0}, Pets: 1, Alone: alone{Hours: 36}}); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	said := 0
	q := Quiet{Seed: 7, Length: 24 * time.Hour, With: Nobody, File: file, Progress: func(done, of int) { said = 100*done + of }}
	if err := RunQuiet([]*scenario.Scenario{home}, q, &out); err == nil || !strings.Contains(err.Error(), "another run") {
		t.Errorf("beside a run on the same file: %v", err)
	}
	if err := known.Close(); err != nil {
		t.Fatal(err)
	}
	if err := RunQuiet([]*scenario.Scenario{home}, q, &out); err != nil {
		t.Fatal(err)
	}
	if said, want := strings.SplitAfter(out.String(), ",")[0], "1 of 4 pieces are of "+file+","; said != want {
		t.Errorf("of a piece of another build: %q, want %q", said, want)
	}
	if row := strings.Fields(strings.Split(out.String(), "\n")[2]); row[0] != "flat" || row[2] != "24" || row[3] != "6" || row[7] != "4" || row[8] != "6.00" || said != 404 {
		t.Errorf("row %q, %d", row, said)
	}
	if whole, err := os.ReadFile(file); err != nil || os.WriteFile(file, bytes.TrimSuffix(whole, []byte("\n")), 0o600) != nil {
		t.Fatal(err)
	}
	for range 2 { // a line without an end gets one before the next piece
		if known, err = openKept(file); err == nil {
			err = errors.Join(known.add(piece{Home: "house", Hours: 6, Alone: alone{Hours: 66}}), known.Close())
		}
		if err != nil {
			t.Errorf("of a last line without an end: %v", err)
		}
	}
	for _, damaged := range []string{"{\n", "{}\n"} {
		if err := os.WriteFile(file, []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := RunQuiet([]*scenario.Scenario{home}, q, &out); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("of a damaged file: %v", err)
		}
	}
	if again, err := scenario.Open("flat"); err != nil || digestOf(again) != digestOf(home) {
		t.Errorf("the same home is another: %v", err)
	}
	changed := *home
	if changed.Fans = append(changed.Fans, scenario.Fan{}); digestOf(&changed) == digestOf(home) {
		t.Error("a home with one more fan is the same")
	}
}
