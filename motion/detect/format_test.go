package detect_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sensegate/motion"
	"sensegate/motion/detect"
)

// stream pushes frames of one format after another at 50 frames a second.
type stream struct {
	link  *detect.Link
	at    motion.Time
	ticks []detect.Tick
}

func newStream(link *detect.Link) *stream { return &stream{link: link, at: epoch} }

// kind is a format of frames.
type kind struct {
	length int
	ends   []int
	number uint32
}

// frame pushes a frame of a kind.
func (s *stream) frame(k kind, row []float32) {
	s.link.SetFormat(k.number)
	s.link.Push(s.at, row, k.ends, -55, func(t detect.Tick) { s.ticks = append(s.ticks, t) })
	s.at += 0.02
}

// quiet pushes seconds of frames of a kind in which nobody moves.
func (s *stream) quiet(k kind, seconds int) {
	for _, row := range noise(uint64(k.length)+uint64(k.number)<<8, 50*seconds, k.length) {
		s.frame(k, row)
	}
}

// short returns a link that calibrates for five seconds.
func short() *detect.Link {
	config := detect.Defaults()
	config.Calibration = 5
	return detect.NewLink(config)
}

// Each of the three that make a format makes another one alone.
func TestFormatThatComesBackIsStillCalibrated(t *testing.T) {
	t.Parallel()
	common := kind{64, nil, 6}
	for name, other := range map[string]kind{
		"another length":       {128, nil, 6},
		"another segmentation": {64, []int{32, 64}, 6},
		"another number":       {64, nil, 11},
	} {
		s := newStream(short())
		s.quiet(common, 20)
		before, learned := s.link.Calibration(), s.link.Snapshot()
		s.quiet(other, 3)
		if c := s.link.Calibration(); c.Done || !c.Running {
			t.Errorf("%s: calibration %+v on a format that it has not met", name, c)
		}
		s.quiet(other, 10)
		between := s.link.Calibration()
		if l := s.link.Snapshot(); !between.Done || l.Format != other.number || l.Length != other.length || len(l.Former) != 1 {
			t.Errorf("%s: learned %+v", name, l)
		}
		s.ticks = nil
		s.quiet(common, 3)
		after := s.link.Calibration()
		if !before.Done || !after.Done || after.At != before.At || after.Running {
			t.Errorf("%s: calibrated %+v, come back %+v", name, before, after)
		}
		l := s.link.Snapshot()
		if !slices.Equal(l.Bins, learned.Bins) || l.Rate != learned.Rate {
			t.Errorf("%s: come back with %+v, had %+v", name, l, learned)
		}
		last := s.ticks[len(s.ticks)-1]
		if !last.Valid || last.Normal.Motion {
			t.Errorf("%s: last tick %+v", name, last)
		}
		s.quiet(other, 3)
		if c := s.link.Calibration(); c.At != between.At {
			t.Errorf("%s: the other format calibrated %+v, come back %+v", name, between, c)
		}
	}
}

// The shapes of the two formats differ, as those of two transmit chains do: mixed, that looks like motion.
func TestMixedFormatsAreNotComparedWithEachOther(t *testing.T) {
	t.Parallel()
	one, other := kind{64, nil, 1}, kind{64, nil, 2}
	play := func(push func(s *stream, k kind, row []float32)) []detect.Tick {
		s := newStream(short())
		r, rows, others := rand.New(rand.NewPCG(5, 5)), noise(31, 3000, 64), noise(31, 3000, 64)
		for _, row := range others {
			for k := range row {
				row[k] *= float32(1 + 0.6*math.Sin(float64(k)/8))
			}
		}
		for i := range rows {
			if r.Float64() < 0.78 {
				push(s, one, rows[i])
			} else {
				push(s, other, others[i])
			}
		}
		return s.ticks
	}
	mixed := play((*stream).frame)
	pure := play(func(s *stream, k kind, row []float32) {
		if s.at += 0.02; k.number == one.number {
			s.at -= 0.02
			s.frame(k, row)
		}
	})
	confused := play(func(s *stream, _ kind, row []float32) { s.frame(one, row) })
	for i := range pure {
		if mixed[i].Features != pure[i].Features && pure[i].Valid {
			t.Fatalf("tick %d: %+v, without the other format %+v", i, mixed[i].Features, pure[i].Features)
		}
	}
	if m := share(mixed, moving); m > 0 {
		t.Errorf("motion in %.2f of the ticks of two quiet formats", m)
	}
	if last := len(pure) - 1; confused[last].Power < mixed[last].Power+2 {
		t.Errorf("power %.1f where formats are compared, else %.1f: the test shows nothing", confused[last].Power, mixed[last].Power)
	}
}

func TestEvenlyMixedFormatsDoNotTakeTurns(t *testing.T) {
	t.Parallel()
	s := newStream(short())
	r := rand.New(rand.NewPCG(6, 6))
	rows := noise(33, 6000, 64)
	for _, row := range rows {
		s.frame(kind{64, nil, uint32(1 + r.IntN(2))}, row)
	}
	if l := s.link.Snapshot(); len(l.Former) != 0 || !l.Calibrated {
		t.Errorf("learned %+v", l)
	}
}

// Frames that are gathered for half a second come sorted by format, and the times of each go back to where
// those of the one before began.
func TestSortedFormatsDoNotTakeTurns(t *testing.T) {
	t.Parallel()
	s := newStream(short())
	rows, n := noise(37, 5000, 64), 0
	half := func(shares ...int) { // frames of each format in the next half second
		from := s.at
		for format, share := range shares {
			for i := range share {
				s.at = from.Add(0.5 * float64(i) / float64(share))
				s.frame(kind{64, nil, uint32(1 + format)}, rows[n%len(rows)])
				n++
			}
		}
		s.at = from.Add(0.5)
	}
	for range 60 {
		half(70, 60)
	}
	if l := s.link.Snapshot(); l.Format != 1 || len(l.Former) != 0 || !l.Calibrated {
		t.Fatalf("mixed about evenly: learned %+v", l)
	}
	for range 12 {
		half(20, 90)
	}
	if l := s.link.Snapshot(); l.Format != 2 || len(l.Former) != 1 {
		t.Errorf("the other one more than twice as often: learned %+v", l)
	}
	for range 12 {
		half(80, 20, 20)
	}
	if l := s.link.Snapshot(); l.Format != 1 || !l.Calibrated {
		t.Errorf("the first one more often than two others: learned %+v", l)
	}
	for i := range s.ticks[1:] {
		if s.ticks[i+1].Time <= s.ticks[i].Time {
			t.Fatalf("a tick at %v comes after one at %v", s.ticks[i+1].Time, s.ticks[i].Time)
		}
	}
}

func TestFormatsSurviveARestart(t *testing.T) {
	t.Parallel()
	one, other := kind{64, nil, 6}, kind{128, []int{64, 128}, 6}
	s := newStream(short())
	s.quiet(one, 20)
	s.quiet(other, 20)
	learned := s.link.Snapshot()
	text, err := json.Marshal(learned)
	if err != nil {
		t.Fatal(err)
	}
	var stored detect.Learned
	if err := json.Unmarshal(text, &stored); err != nil {
		t.Fatal(err)
	}
	after := newStream(short())
	if err := after.link.Restore(stored); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(learned, after.link.Snapshot()); d != "" {
		t.Errorf("restored link (-before +after):\n%s", d)
	}
	after.quiet(one, 3)
	if l := after.link.Snapshot(); l.Length != 64 || l.CalibratedAt != learned.Former[0].CalibratedAt || !l.Calibrated {
		t.Errorf("the format before, after a restart: %+v, want %+v", l, learned.Former[0])
	}
}

// A first calibration that was under way when the appliance stopped takes its whole time.
func TestRestoredFormatThatWasNotCalibratedCalibrates(t *testing.T) {
	t.Parallel()
	one, other := kind{64, nil, 6}, kind{64, nil, 11}
	s := newStream(short())
	s.quiet(one, 3)
	s.quiet(other, 20)
	after := newStream(short())
	if err := after.link.Restore(s.link.Snapshot()); err != nil {
		t.Fatal(err)
	}
	after.quiet(other, 3)
	after.quiet(one, 3)
	if c := after.link.Calibration(); !c.Running || c.Done {
		t.Errorf("calibration %+v", c)
	}
	after.quiet(one, 4)
	if c := after.link.Calibration(); c.Running || !c.Done {
		t.Errorf("calibration %+v", c)
	}
}

// What was stored before formats had numbers is of whatever number comes first.
func TestWhatWasLearnedWithoutANumberStays(t *testing.T) {
	t.Parallel()
	s := newStream(short())
	s.quiet(kind{64, nil, 0}, 20)
	learned := s.link.Snapshot()
	after := newStream(short())
	if err := after.link.Restore(learned); err != nil {
		t.Fatal(err)
	}
	after.quiet(kind{64, nil, 6}, 1)
	if l := after.link.Snapshot(); l.CalibratedAt != learned.CalibratedAt || l.Format != 6 || len(l.Former) != 0 {
		t.Errorf("learned %+v", l)
	}
	after.quiet(kind{64, nil, 11}, 3)
	if l := after.link.Snapshot(); l.Calibrated || l.Format != 11 {
		t.Errorf("on another number learned %+v", l)
	}
}

func TestFourFormatsAreRemembered(t *testing.T) {
	t.Parallel()
	s := newStream(short())
	for number := range uint32(6) {
		s.quiet(kind{64, nil, number}, 8)
	}
	var numbers []uint32
	for _, l := range s.link.Snapshot().Former {
		numbers = append(numbers, l.Format)
	}
	if !slices.Equal(numbers, []uint32{4, 3, 2}) {
		t.Errorf("former formats %v", numbers)
	}
	s.quiet(kind{64, nil, 2}, 3)
	s.quiet(kind{64, nil, 6}, 3)
	numbers = nil
	for _, l := range s.link.Snapshot().Former {
		numbers = append(numbers, l.Format)
	}
	if !slices.Equal(numbers, []uint32{2, 5, 4}) {
		t.Errorf("former formats %v after one has come back", numbers)
	}
}

func TestLinkWhoseFormatIsGoneTakesAnother(t *testing.T) {
	t.Parallel()
	s := newStream(short())
	s.quiet(kind{64, nil, 1}, 10)
	for i, row := range noise(34, 500, 64) { // two others, neither ahead of the other
		s.frame(kind{64, nil, uint32(2 + i%2)}, row)
	}
	if l := s.link.Snapshot(); l.Format == 1 || !s.ticks[len(s.ticks)-1].Valid {
		t.Errorf("learned %+v, last tick %+v", l, s.ticks[len(s.ticks)-1])
	}
}

func TestCalibrationOutlastsAnotherFormat(t *testing.T) {
	t.Parallel()
	one, other := kind{64, nil, 1}, kind{64, nil, 2}
	s := newStream(short())
	for range 3 { // two or three of five seconds at a time
		if c := s.link.Calibration(); c.Done {
			t.Fatalf("calibration %+v", c)
		}
		s.quiet(one, 3)
		s.quiet(other, 3)
	}
	if c := s.link.Calibration(); !c.Done {
		t.Errorf("calibration of the second format %+v after six seconds or more of it", c)
	}
	s.quiet(one, 3)
	first := s.link.Calibration()
	if !first.Done {
		t.Errorf("calibration of the first format %+v after six seconds or more of it", first)
	}

	s.link.Calibrate()
	s.quiet(one, 2)
	s.quiet(other, 3)
	if c := s.link.Calibration(); !c.Running || !c.Done {
		t.Errorf("a calibration that was asked for: %+v with the other format", c)
	}
	s.quiet(other, 5)
	if c := s.link.Calibration(); c.Running || c.At <= first.At {
		t.Errorf("a calibration that was asked for: %+v at its end", c)
	}
	s.quiet(one, 3)
	if c := s.link.Calibration(); c != first {
		t.Errorf("the first format is calibrated %+v, was %+v", c, first)
	}
}

func TestSensitivityHoldsForAFormatThatComesBack(t *testing.T) {
	t.Parallel()
	one, other := kind{64, nil, 1}, kind{64, nil, 2}
	s := newStream(short())
	s.quiet(one, 10)
	s.quiet(other, 10)
	s.link.SetSensitivity(0)
	s.quiet(one, 5)
	if on, want := s.ticks[len(s.ticks)-1].On, 2*detect.Defaults().Constants.Whole; on != want {
		t.Errorf("threshold %v at the lowest sensitivity, want %v", on, want)
	}
}

func TestMixedFramesAllocateNothing(t *testing.T) {
	rows, others := noise(35, 1000, 64), noise(36, 1000, 128)
	link, i := short(), 0
	push := func() {
		row, number := rows[i%len(rows)], uint32(i%2)
		if i%5 == 0 {
			row = others[i%len(others)]
		}
		link.SetFormat(number)
		link.Push(epoch+motion.Time(i)*0.01, row, nil, -50, func(detect.Tick) {})
		i++
	}
	for range 2000 {
		push()
	}
	if n := testing.AllocsPerRun(5000, push); n != 0 {
		t.Errorf("%v allocations per frame", n)
	}
}
