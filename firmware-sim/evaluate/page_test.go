package evaluate

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"sensegate/firmware-sim/capture"
	"sensegate/firmware-sim/scenario"
	"sensegate/motion"
)

// element is an element of a page.
type element struct {
	name     string
	attr     map[string]string
	text     string // of it and of all below it
	children []*element
}

// parsePage reads a page, which is XML too, and checks what holds of each: no address but of its own parts, each of which
// is there once, and a title and a description of each picture.
func parsePage(t *testing.T, path string) *element {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if loads := regexp.MustCompile(`(?i)https?:|//|url\(|@import|<script|<link|<img|\bsrc=|ZgotmplZ|NaN|Inf\b`).Find(text); loads != nil {
		t.Errorf("the page holds %q", loads)
	}
	open := []*element{{attr: map[string]string{}}}
	for decoder := xml.NewDecoder(bytes.NewReader(text)); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		last := open[len(open)-1]
		switch token := token.(type) {
		case xml.StartElement:
			e := &element{name: token.Name.Local, attr: map[string]string{}}
			for _, a := range token.Attr {
				e.attr[a.Name.Local] = a.Value
			}
			last.children = append(last.children, e)
			open = append(open, e)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			for _, e := range open {
				e.text += string(token)
			}
		}
	}
	ids := map[string]int{}
	for _, e := range open[0].all("") {
		if id := e.attr["id"]; id != "" {
			ids[id]++
		}
	}
	for id, n := range ids {
		if n > 1 {
			t.Errorf("%d elements with the id %s", n, id)
		}
	}
	for _, e := range open[0].all("") {
		if to, some := e.attr["href"]; some && (!strings.HasPrefix(to, "#") || ids[to[1:]] != 1) {
			t.Errorf("a link leads to %q", to)
		}
		if e.name != "svg" || e.attr["aria-hidden"] == "true" {
			continue
		}
		if len(e.children) < 2 || e.children[0].name != "title" || e.children[1].name != "desc" || e.children[0].text == "" || e.children[1].text == "" ||
			e.attr["role"] != "img" || e.attr["aria-labelledby"] != e.children[0].attr["id"]+" "+e.children[1].attr["id"] {
			t.Errorf("a picture without words: %v", e.attr)
		}
	}
	return open[0]
}

// all returns the elements of a name below e, in order; "" = of any.
func (e *element) all(name string) []*element {
	var all []*element
	for _, c := range e.children {
		if name == "" || c.name == name {
			all = append(all, c)
		}
		all = append(all, c.all(name)...)
	}
	return all
}

// chartOf returns the section of a recording.
func (e *element) chartOf(t *testing.T, name string) *element {
	t.Helper()
	for _, s := range e.all("section") {
		if heads := s.all("h3"); strings.HasPrefix(s.attr["id"], "r") && len(heads) == 1 && strings.Contains(heads[0].text, ". "+name+" ") {
			return s
		}
	}
	t.Fatalf("no chart of %s", name)
	return nil
}

// listedMoment is a moment that a page lists.
type listedMoment struct {
	from, to, length float64
	what             string
}

// moments returns what the list of a chart says, and checks that each leads to its place in the plot.
func (e *element) moments(t *testing.T, s span) []listedMoment {
	t.Helper()
	places := map[string]*element{}
	for _, r := range e.all("rect") {
		places[r.attr["id"]] = r
	}
	var all []listedMoment
	for _, item := range e.all("li") {
		text := regexp.MustCompile(`^([\d:.]+) to ([\d:.]+): (.*), ([\d.]+) s$`).FindStringSubmatch(item.text)
		if text == nil {
			t.Fatalf("a moment is %q", item.text)
		}
		m := listedMoment{seconds(t, text[1]), seconds(t, text[2]), number64(t, text[4]), text[3]}
		all = append(all, m)
		place := places[item.all("a")[0].attr["href"][1:]]
		if place == nil {
			t.Fatalf("%q leads nowhere in the plot", item.text)
		}
		if x := number64(t, place.attr["x"]); math.Abs(x-s.x(m.from)) > 0.06 {
			t.Errorf("%q is at %v of %v", item.text, x, plotWidth)
		}
		if wide := number64(t, place.attr["width"]); math.Abs(wide-max(1, s.x(m.to)-s.x(m.from))) > 0.06 {
			t.Errorf("%q is %v wide", item.text, wide)
		}
	}
	return all
}

func number64(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// seconds reads what clock writes.
func seconds(t *testing.T, text string) (sum float64) {
	t.Helper()
	for _, digits := range strings.Split(text, ":") {
		sum = 60*sum + number64(t, digits)
	}
	return sum
}

// covers reports whether blocks of the class hold the place x.
func (e *element) covers(t *testing.T, class string, x float64) bool {
	t.Helper()
	for _, p := range e.all("path") {
		if p.attr["class"] != class {
			continue
		}
		for _, block := range regexp.MustCompile(`M([\d.]+) [\d.]+H([\d.]+)V`).FindAllStringSubmatch(p.attr["d"], -1) {
			if number64(t, block[1]) <= x && x < number64(t, block[2]) {
				return true
			}
		}
	}
	return false
}

// mislabelled writes a minute in which somebody walks from 20 s to 30 s, as labelled, and from 45 s to 55 s, which is
// labelled quiet; from 35 s to 42 s nobody walks, though that is the label.
func mislabelled(t *testing.T, path string) {
	t.Helper()
	within := func(at, from, to float64) bool { return from <= at && at < to }
	writeCapture(t, path, `{"kind":"amp_uint8","calibrate":{"frames":500},"group":"den & <hall>"}`, 57, 50, 60,
		func(at float64) bool { return within(at, 20, 30) || within(at, 45, 55) },
		func(at float64) capture.Label {
			if within(at, 20, 30) || within(at, 35, 42) {
				return capture.Motion
			}
			return capture.Quiet
		})
}

// runPage evaluates captures and returns the page and what else the command says.
func runPage(t *testing.T, dirs ...string) (page *element, r report) {
	t.Helper()
	options := Defaults()
	options.JSON, options.Page = true, Page{File: filepath.Join(t.TempDir(), "page.html"), Command: `evaluate "a b"`, Version: "version 1"}
	var out bytes.Buffer
	if err := Run(dirs, &out, options); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(filepath.Dir(options.Page.File)); err != nil || len(left) != 1 {
		t.Errorf("%v, %v beside the page", err, left)
	}
	return parsePage(t, options.Page.File), r
}

func TestThePageShowsWhatWasWrongTheWorstFirst(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synthesise(t, filepath.Join(dir, "easy.csv.gz"), `{"kind":"amp_uint8","calibrate":{"frames":200},"group":"attic"}`, 57, 50)
	mislabelled(t, filepath.Join(dir, "hard.csv.gz"))
	page, r := runPage(t, dir)

	hard := page.chartOf(t, "hard")
	if hard.attr["id"] != "r1" || page.chartOf(t, "easy").attr["id"] != "r2" {
		t.Errorf("hard is %s", hard.attr["id"])
	}
	s := span{0, 59.98 + 0.25}
	moments := hard.moments(t, s)
	about := func(v, want float64) bool { return math.Abs(v-want) < 1.5 }
	if len(moments) < 2 || moments[0].what != "false motion" || !about(moments[0].from, 45) || !about(moments[0].to, 57) ||
		moments[1].what != "missed motion" || !about(moments[1].from, 35) || !about(moments[1].to, 42) {
		t.Errorf("moments %+v", moments)
	}
	if worst := page.all("ol")[0].all("li")[0].text; !strings.HasPrefix(worst, "hard, 0:4") || !strings.Contains(worst, "false motion") {
		t.Errorf("the worst moment of all is %q", worst)
	}
	for at, want := range map[float64]bool{15: false, 25: true, 38: false, 50: true, 59: false} {
		if hard.covers(t, "decided", s.x(at)) != want {
			t.Errorf("at %v s motion was decided: %v", at, !want)
		}
	}
	for at, want := range map[float64]bool{5: false, 15: false, 25: true, 38: true, 50: false} {
		if hard.covers(t, "motion", s.x(at)) != want {
			t.Errorf("at %v s the label is motion: %v", at, !want)
		}
	}
	for at, want := range map[float64]bool{5: false, 15: true, 25: false, 50: true} {
		if labels := hard.all("svg")[3]; labels.covers(t, "quiet", s.x(at)) != want {
			t.Errorf("at %v s the label is quiet and scored: %v", at, !want)
		}
	}
	checkCounts(t, page, r)
	for _, want := range []string{`evaluate "a b"`, "version 1", "den & <hall>", "sensitivity 50", fmt.Sprintf("%.2f %%", *r.Macro), "Very Low"} {
		if !strings.Contains(page.text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// checkCounts compares the wrong seconds of each chart with the figures of the table.
func checkCounts(t *testing.T, page *element, r report) {
	t.Helper()
	for _, row := range r.Captures {
		missed, alarmed := 0.0, 0.0
		chart := page.chartOf(t, row.Capture)
		if row.Recall != nil {
			missed = (1 - *row.Recall/100) * row.MotionMinutes * 60
		}
		if row.FalsePositives != nil {
			alarmed = *row.FalsePositives / 100 * row.QuietMinutes * 60
		}
		said := regexp.MustCompile(`Missed ([\d.]+) s, false ([\d.]+) s`).FindStringSubmatch(chart.text)
		if said == nil || math.Abs(number64(t, said[1])-missed) > 1e-6 || math.Abs(number64(t, said[2])-alarmed) > 1e-6 {
			t.Errorf("%s: %v; the table has %.2f and %.2f", row.Capture, said, missed, alarmed)
		}
		sum := 0.0
		for _, item := range chart.all("li") {
			if length := regexp.MustCompile(`(?:missed|false) motion, ([\d.]+) s$`).FindStringSubmatch(item.text); length != nil {
				sum += number64(t, length[1])
			}
		}
		if len(chart.all("li")) < listed && math.Abs(sum-missed-alarmed) > 1e-6 {
			t.Errorf("%s: %v s are listed of %v", row.Capture, sum, missed+alarmed)
		}
	}
}

func TestThePageOfARealRecordingShowsWhatTheTableCounted(t *testing.T) {
	t.Parallel()
	room := filepath.Join(captures(t), "ialr", "room2_part_1.csv.gz")
	page, r := runPage(t, room)
	checkCounts(t, page, r)

	recordings, err := capture.Scan(room)
	if err != nil || len(recordings) != 1 || recordings[0].Load() != nil {
		t.Fatal(err, recordings)
	}
	run, err := follow(recordings[0], recordings[0].Frames, Defaults().config())
	if err != nil {
		t.Fatal(err)
	}
	chart := page.chartOf(t, recordings[0].Name)
	s := span{0, recordings[0].Frames[len(recordings[0].Frames)-1].Time + 0.25}
	least, wrong := math.Inf(1), 0
	for _, tick := range run.ticks {
		if at := s.x(motion.Seconds(tick.Time) + 0.125); chart.covers(t, "decided", at) != tick.Normal.Motion {
			wrong++ // where a run begins or ends within a pixel
		}
		if tick.Valid {
			least = min(least, tick.Features.R)
		}
	}
	if wrong > len(run.ticks)/200 {
		t.Errorf("%d of %d decisions are shown wrong", wrong, len(run.ticks))
	}
	if desc := chart.all("desc")[1].text; !strings.Contains(desc, fmt.Sprintf("From %.2f to", least)) {
		t.Errorf("R is said to go %q, from %.2f", desc, least)
	}
}

func TestThePageOfSimulatedHomesSaysSo(t *testing.T) {
	t.Parallel()
	home, err := scenario.Open("flat")
	if err != nil {
		t.Fatal(err)
	}
	play := Play{Seed: 1, Length: 20 * time.Second, Hours: []time.Duration{7*time.Hour + 15*time.Minute}, Page: Page{File: filepath.Join(t.TempDir(), "page.html")}}
	var out bytes.Buffer
	if err := RunScenarios([]*scenario.Scenario{home}, play, &out); err != nil {
		t.Fatal(err)
	}
	page := parsePage(t, play.Page.File)
	chart := page.chartOf(t, "flat at 7:15:00")
	if !strings.Contains(page.text, "Simulated: ") || len(chart.all("svg")) < 3 {
		t.Errorf("page:\n%s", page.text)
	}
	var cells []string
	for _, c := range page.all("table")[0].all("tbody")[0].all("tr")[0].children {
		cells = append(cells, c.text)
	}
	if row := strings.Split(strings.TrimSpace(out.String()), "\n")[1]; strings.Join(strings.Fields(row), " ") != strings.Join(cells, " ") {
		t.Errorf("the table has %q, the page %q", row, cells)
	}
}

// TestARecordingWithoutDecisionsHasItsPlaceOnThePage: it is shorter than what the detector needs.
func TestARecordingWithoutDecisionsHasItsPlaceOnThePage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	quiet := func(float64) capture.Label { return capture.Quiet }
	for name, length := range map[string]float64{"moment": 0.05, "instant": 0.5, "short": 3} {
		writeCapture(t, filepath.Join(dir, name+".csv.gz"), `{"kind":"amp_uint8"}`, 57, 20, length, func(float64) bool { return false }, quiet)
	}
	page, r := runPage(t, dir)
	checkCounts(t, page, r)
	if !strings.Contains(page.text, "Nothing was wrong.") {
		t.Errorf("page:\n%s", page.text)
	}
}

// TestNoHalfPage: what cannot be written is told before anything is measured, and what stood there stays.
func TestNoHalfPage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	synthesise(t, filepath.Join(dir, "a.csv.gz"), `{"kind":"amp_uint8"}`, 57, 20)
	for name, file := range map[string]string{
		"no such directory": filepath.Join(dir, "none", "page.html"), "not a regular file": dir,
	} {
		options := Defaults()
		options.Page.File = file
		var out bytes.Buffer
		if err := Run([]string{dir}, &out, options); err == nil || !strings.Contains(err.Error(), "write report: ") ||
			!strings.Contains(err.Error(), file) || out.Len() > 0 {
			t.Errorf("%s: %v, and it says %q", name, err, &out)
		}
	}
	page := Page{File: filepath.Join(dir, "page.html")}
	if err := os.WriteFile(page.File, []byte("former"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := page.write(&pageContent{Charts: []*chart{nil}}); err == nil {
		t.Error("a page without a chart was written")
	}
	if text, err := os.ReadFile(page.File); err != nil || string(text) != "former" {
		t.Errorf("%v, %q stands there", err, text)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "page*")); err != nil || len(left) != 1 {
		t.Errorf("%v, left behind: %q", err, left)
	}
}
