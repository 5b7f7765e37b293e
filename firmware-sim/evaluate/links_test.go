package evaluate

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sensegate/firmware-sim/channel"
	"sensegate/firmware-sim/scenario"
	"sensegate/motion"
)

func TestHomesOfManyLinks(t *testing.T) {
	t.Parallel()
	homes, err := linkHomes()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, home := range homes {
		names = append(names, home.Name)
	}
	if got := strings.Join(names, " "); got != "2 4 8 16 30" {
		t.Errorf("homes of %s links", got)
	}
}

// TestTroubleIsWhereItIsSaidToBe: in each kind of trouble other links sound than without, and a mesh that
// re-routes hears a device on one link or on the other.
func TestTroubleIsWhereItIsSaidToBe(t *testing.T) {
	t.Parallel()
	homes, err := linkHomes()
	if err != nil {
		t.Fatal(err)
	}
	home, begin := homes[2], motion.TimeOf(scenarioDay())
	c := &cast{home: home, plan: home.Plan(), seed: 1, changes: []motion.Time{begin.Add(10)}}
	for what, want := range map[trouble]int{nothing: 0, deaf: 1, interfered: 1, flips: 1, stuck: 1} {
		got := 0
		for _, link := range home.Links() {
			if _, wrong := c.affected(link, what); wrong {
				got++
			}
		}
		if got != want {
			t.Errorf("%s: %d links are affected, want %d", troubles[what], got, want)
		}
	}
	victim := scenario.Link{Leaf: c.victim(), Peer: -1, Node: home.Leafs[c.victim()].Node}
	voices, _ := c.affected(victim, reroutes)
	if len(voices) != 2 || voices[0].link != victim || voices[1].link.Node == victim.Node {
		t.Fatalf("voices %+v", voices)
	}
	for at, want := range map[motion.Seconds][2]bool{5: {true, false}, 11: {false, false}, 15: {false, true}} {
		for i, v := range voices {
			frames, _ := v.sound(begin.Add(at), begin.Add(at+1), &channel.Scene{})
			if (len(frames) > 10) != want[i] {
				t.Errorf("%v s after the beginning link %d has %d frames", at, i, len(frames))
			}
		}
	}
}

// TestTroubleMakesNoEvents: neither a mesh that re-routes nor a guardian that roams makes one in a quiet home; a link that is stuck makes one, until it is marked.
func TestTroubleMakesNoEvents(t *testing.T) {
	t.Parallel()
	homes, err := linkHomes()
	if err != nil {
		t.Fatal(err)
	}
	scores := playLinks(homes[0], 1, 12*time.Minute, 1)
	for what := range scores {
		s, want := &scores[what], 0
		if trouble(what) == stuck {
			want = 1
		}
		if got := s.events; got != want && trouble(what) != flips && trouble(what) != interfered {
			t.Errorf("%s: %d events, want %d", troubles[what], got, want)
		}
		if s.walks == 0 || s.missed > 0 || math.Abs(s.hours-0.19) > 0.01 {
			t.Errorf("%s: %d of %d walks missed, %.2f hours of quiet", troubles[what], s.missed, s.walks, s.hours)
		}
	}
	if scores[roamsLevel].changes != 1 {
		t.Errorf("%d changes", scores[roamsLevel].changes)
	}
}

// TestTheDocumentHasEachTrouble: docs/simulator.md has a row of each, for each size. Those of the smallest homes are compared with
// what is measured; the others take minutes.
func TestTheDocumentHasEachTrouble(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "simulator.md"))
	if err != nil {
		t.Fatal(err)
	}
	document := rows(string(text))
	homes, err := linkHomes()
	if err != nil {
		t.Fatal(err)
	}
	var smallest [2][troubleKind]linkScore
	if !raced {
		concurrently(len(smallest), func(i int) { smallest[i] = playLinks(homes[0], 1+uint64(i), linkQuiet, linkWalks) })
	}
	for what, name := range troubles {
		for _, links := range []string{"2", "4", "8", "16", "30", "all"} {
			row := name + " " + links + " "
			if links == homes[0].Name && !raced {
				smallest[0][what].add(&smallest[1][what])
				row += rows(smallest[0][what].row())
			}
			if !strings.Contains(document, "\n"+row) {
				t.Errorf("docs/simulator.md lacks %q", row)
			}
		}
	}
}

// rows returns the lines of a text with one space between words.
func rows(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return strings.Join(lines, "\n")
}

// TestWhoStaysAloneIsCounted: a stay of some minutes, in the room of the device of the smallest home.
func TestWhoStaysAloneIsCounted(t *testing.T) {
	t.Parallel()
	homes, err := linkHomes()
	if err != nil {
		t.Fatal(err)
	}
	room := 0
	for serving(homes[0], room) == 0 {
		room++
	}
	s := playStay(homes[0], room, 1, 10*time.Minute)
	if s.minutes < 3 || s.minutes > 30 || s.seen == 0 || s.seen > s.minutes || s.lost > 0 || s.marked > 0 {
		t.Errorf("%+v", s)
	}
}
