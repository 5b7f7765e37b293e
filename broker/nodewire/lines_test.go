package nodewire_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"sensegate/broker/nodewire"
	"sensegate/motion"
	"sensegate/motion/csi"
)

const (
	classicNames = "type,id,mac,rssi,rate,sig_mode,mcs,bandwidth,smoothing,not_sounding,aggregation,stbc,fec_coding,sgi,noise_floor," +
		"ampdu_cnt,channel,secondary_channel,local_timestamp,ant,sig_len,rx_state,len,first_word,data"
	shortNames = "type,seq,mac,rssi,rate,noise_floor,fft_gain,agc_gain,channel,local_timestamp,sig_len,rx_state,len,first_word,data"

	classicHead = `CSI_DATA,7,94:d9:b3:80:8c:81,-30,11,1,6,1,0,1,0,1,0,0,-93,0,13,2,2751923,0,67,0,%d,%d,"[%s]"`
	shortHead   = `CSI_DATA,7,1a:00:00:00:00:00,-23,11,-96,32,4,11,372852,47,0,%d,%d,"[%s]"`
	toolHead    = `CSI_DATA,PASSIVE,D0:6E:DE:27:6B:63,-77,11,1,4,0,1,1,1,1,0,0,-97,2,6,0,2504852,0,1554,0,0,2.695925,%d,[%s]`
)

// numbers returns n numbers with a separator, from k·step on.
func numbers(n, step int, separator string) string {
	var text []string
	for k := range n {
		text = append(text, fmt.Sprint((k*step)%100))
	}
	return strings.Join(text, separator)
}

func TestThreeSetsOfColumnsAreRead(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, line string
		want       nodewire.Frame
	}{
		{"esp-csi on classic chips", fmt.Sprintf(classicHead, 128, 0, numbers(128, -1, ",")), nodewire.Frame{
			Src: motion.MAC{0x94, 0xd9, 0xb3, 0x80, 0x8c, 0x81}, Seq: nodewire.Sequence{Number: 7, Bits: 32},
			Channel: 13, RSSI: -30, Noise: -93, Format: 2<<4 | 1<<3 | 1<<2 | 1, Length: 128,
		}},
		{"esp-csi on C5 and C6", fmt.Sprintf(shortHead, 256, 0, numbers(256, -1, ",")), nodewire.Frame{
			Src: motion.MAC{0x1a}, Seq: nodewire.Sequence{Number: 7, Bits: 32}, Channel: 11, RSSI: -23, Noise: -96,
			Length: 256, Ends: []int{64, 128},
		}},
		{"ESP32-CSI-Tool", fmt.Sprintf(toolHead, 384, numbers(128, -1, " ")+" "), nodewire.Frame{
			Src: motion.MAC{0xd0, 0x6e, 0xde, 0x27, 0x6b, 0x63}, Channel: 6, RSSI: -77, Noise: -97, Format: 1<<3 | 1, Length: 128,
		}},
		{"ESP32-CSI-Tool, all fields", fmt.Sprintf(toolHead, 384, numbers(384, -1, " ")), nodewire.Frame{
			Src: motion.MAC{0xd0, 0x6e, 0xde, 0x27, 0x6b, 0x63}, Channel: 6, RSSI: -77, Noise: -97,
			Format: 1<<3 | 1, Length: 384, Ends: []int{64, 192},
		}},
		{"57 subcarriers twice", fmt.Sprintf(shortHead, 228, 0, numbers(228, -1, ",")), nodewire.Frame{
			Src: motion.MAC{0x1a}, Seq: nodewire.Sequence{Number: 7, Bits: 32}, Channel: 11, RSSI: -23, Noise: -96,
			Length: 228, Ends: []int{57, 114},
		}},
		{"one field of 245 subcarriers", fmt.Sprintf(shortHead, 490, 0, numbers(490, -1, ",")), nodewire.Frame{
			Src: motion.MAC{0x1a}, Seq: nodewire.Sequence{Number: 7, Bits: 32}, Channel: 11, RSSI: -23, Noise: -96, Length: 490,
		}},
	} {
		for _, end := range []string{"", "\n", "\r\n"} {
			var lines nodewire.Lines
			var f nodewire.Frame
			if err := lines.Decode([]byte(test.line+end), &f); err != nil {
				t.Errorf("%s: %v", test.name, err)
				continue
			}
			for k, v := range f.Data {
				if int8(v) != int8(-k%100) {
					t.Errorf("%s: number %d is %d", test.name, k, int8(v))
					break
				}
			}
			ends, flags := f.Ends, f.Flags
			want := test.want
			if !slices.Equal(ends, want.Ends) || flags != csi.ImagFirst || len(f.Data) != want.Length || f.Src != want.Src || f.Seq != want.Seq ||
				f.Channel != want.Channel || f.RSSI != want.RSSI || f.Noise != want.Noise || f.Format != want.Format || f.Length != want.Length {
				t.Errorf("%s: %+v, want %+v", test.name, f, want)
			}
		}
	}
}

func TestNamesSetTheColumns(t *testing.T) {
	t.Parallel()
	var lines nodewire.Lines
	var f nodewire.Frame
	line := []byte("CSI_DATA,-40,aa:bb:cc:dd:ee:ff,9,x,4,[1,2,3,4]")
	is(t, "before the names", lines.Decode(line, &f), nodewire.ErrForm)
	is(t, "the names", lines.Decode([]byte("type,rssi,mac,seq,fruit,len,data\r\n"), &f), nodewire.ErrOther)
	if err := lines.Decode(line, &f); err != nil || f.RSSI != -40 || f.Seq.Number != 9 || f.Src != (motion.MAC{0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff}) ||
		f.Noise != csi.NoiseUnknown || f.Channel != 0 || !bytes.Equal(f.Data, []byte{1, 2, 3, 4}) {
		t.Errorf("%+v, %v", f, err)
	}
	if err := lines.Decode(fmt.Appendf(nil, classicHead, 4, 0, "1,2,3,4"), &f); err != nil || f.Channel != 13 {
		t.Errorf("a line of other columns: %+v, %v", f, err)
	}
	for _, names := range []string{"type,rssi,mac", "type,data", "type,data,mac", "type," + strings.Repeat("x,", 40) + "mac,data"} {
		is(t, names, lines.Decode([]byte(names), &f), nodewire.ErrOther)
		is(t, "after "+names, lines.Decode(line, &f), nil)
	}
}

func TestTwelveBitsBecomeAmplitudes(t *testing.T) {
	t.Parallel()
	var lines nodewire.Lines
	var f nodewire.Frame
	wide := fmt.Appendf(nil, shortHead, 6, 0, "-2048,2047,3,-4,0,0")
	narrow := fmt.Appendf(nil, shortHead, 6, 0, "3,4,6,8,0,0")
	if err := lines.Decode(narrow, &f); err != nil || f.Format != 0 || len(f.Data) != 6 {
		t.Fatalf("%+v, %v", f, err)
	}
	for _, test := range []struct {
		line []byte
		want []float32
	}{
		{wide, []float32{float32(math.Hypot(2048, 2047)), 5, 0}},
		{narrow, []float32{5, 10, 0}}, // as the ones before
	} {
		if err := lines.Decode(test.line, &f); err != nil || len(f.Data) != 0 || f.Format != 1<<7 || !slices.Equal(f.Amplitudes, test.want) {
			t.Errorf("%s: %+v, %v", test.line, f, err)
		}
	}
	is(t, "the device starts anew", lines.Decode([]byte(shortNames), &f), nodewire.ErrOther)
	if err := lines.Decode(narrow, &f); err != nil || f.Format != 0 || len(f.Data) != 6 {
		t.Errorf("%+v, %v", f, err)
	}
}

func TestSignalAboveZeroIsUnknown(t *testing.T) {
	t.Parallel()
	var lines nodewire.Lines
	var f nodewire.Frame
	line := strings.Replace(fmt.Sprintf(shortHead, 2, 0, "1,2"), "-23", "12", 1)
	if err := lines.Decode([]byte(line), &f); err != nil || f.RSSI != 0 {
		t.Errorf("%d dBm, %v", f.RSSI, err)
	}
}

func TestFirstWordThatIsNotValidIsCleared(t *testing.T) {
	t.Parallel()
	var lines nodewire.Lines
	for head, format := range map[string]uint16{classicHead: 1<<6 | 2<<4 | 1<<3 | 1<<2 | 1, shortHead: 1 << 6} {
		var f nodewire.Frame
		if err := lines.Decode(fmt.Appendf(nil, head, 6, 1, "1,2,3,4,5,6"), &f); err != nil || !bytes.Equal(f.Data, []byte{0, 0, 0, 0, 5, 6}) || f.Format != format {
			t.Errorf("%+v, %v", f, err)
		}
	}
}

func TestGarbledLinesAreRefused(t *testing.T) {
	t.Parallel()
	good := fmt.Sprintf(classicHead, 4, 0, "1,-2,3,4")
	replace := func(old, with string) string {
		t.Helper()
		if !strings.Contains(good, old) {
			t.Fatalf("no %q in the line", old)
		}
		return strings.Replace(good, old, with, 1)
	}
	for _, test := range []struct {
		name, line string
		want       error
	}{
		{"good", good, nil},
		{"nothing", "", nodewire.ErrOther},
		{"motion figures", "RADAR_DADA,1,2,3,4,5,6,7,8,9", nodewire.ErrOther},
		{"a log", "I (372) wifi: connected", nodewire.ErrOther},
		{"another word", "CSI_DATAX" + good[8:], nodewire.ErrOther},
		{"the first half", good[:40], nodewire.ErrTruncated},
		{"without the last number", replace(",4]", "]"), nodewire.ErrTruncated},
		{"without an end", strings.TrimSuffix(good, `]"`), nodewire.ErrTruncated},
		{"ends after a sign", good[:strings.Index(good, "2,3")], nodewire.ErrTruncated},
		{"one number too many", replace(",4]", ",4,5]"), nodewire.ErrForm},
		{"two too many", replace(",4]", ",4,5,6]"), nodewire.ErrForm},
		{"an odd number", fmt.Sprintf(classicHead, 3, 0, "1,2,3"), nodewire.ErrForm},
		{"none", fmt.Sprintf(classicHead, 0, 0, ""), nodewire.ErrForm},
		{"too many", fmt.Sprintf(classicHead, 1024, 0, numbers(1024, 1, ",")), nodewire.ErrForm},
		{"a log in the numbers", replace("-2,", "-2I (3) wifi,"), nodewire.ErrForm},
		{"a sign in a number", replace("-2,", "1-2,"), nodewire.ErrForm},
		{"two signs", replace("-2,", "--2,"), nodewire.ErrForm},
		{"a large number", replace("-2,", "-129,"), nodewire.ErrForm},
		{"five digits", replace("-2,", "00002,"), nodewire.ErrForm},
		{"more behind", good + "x", nodewire.ErrForm},
		{"a column too few", replace(",0,67", ",67"), nodewire.ErrForm},
		{"very many columns", replace(",0,67", strings.Repeat(",0", 40)), nodewire.ErrForm},
		{"a letter in a number", replace("-30", "-3O"), nodewire.ErrForm},
		{"no number", replace("-30", ""), nodewire.ErrForm},
		{"a signal of 200 dBm", replace("-30", "-200"), nodewire.ErrForm},
		{"a short address", replace("94:d9", "94d9"), nodewire.ErrForm},
		{"a wrong address", replace("94:d9", "94:dg"), nodewire.ErrForm},
		{"another separator", replace("94:d9", "94-d9"), nodewire.ErrForm},
		{"a mark in place of the quotation mark", replace(`"[`, `'[`), nodewire.ErrForm},
		{"a line without an end in sight", good[:30] + strings.Repeat("0", nodewire.LinesLongest), nodewire.ErrForm},
		{"twelve bits of a chip with eight", fmt.Sprintf(classicHead, 4, 0, "1,2,3,2047"), nodewire.ErrForm},
		{"thirteen bits", fmt.Sprintf(shortHead, 4, 0, "1,2,3,2048"), nodewire.ErrForm},
		{"thirteen bits below", fmt.Sprintf(shortHead, 4, 0, "1,2,3,-2049"), nodewire.ErrForm},
		{"nine bits", fmt.Sprintf(classicHead, 4, 0, "1,2,3,128"), nodewire.ErrForm},
		{"eight bits", fmt.Sprintf(classicHead, 4, 0, "1,2,-128,127"), nil},
		{"fewer numbers than ESP32-CSI-Tool prints", fmt.Sprintf(toolHead, 384, "1 2 3 4 "), nodewire.ErrTruncated},
	} {
		var lines nodewire.Lines
		var f nodewire.Frame
		is(t, test.name, lines.Decode([]byte(test.line), &f), test.want)
	}
}

func TestRecordedLinesOfESP32CSITool(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(dataFile(t, "nodes", "esp32_csi_tool", "example_data.csv"))
	if err != nil {
		t.Fatal(err)
	}
	for _, named := range []bool{true, false} {
		var lines nodewire.Lines
		var f nodewire.Frame
		frames := 0
		levels := make([]float32, 64)
		for i, line := range slices.Collect(bytes.Lines(text)) {
			if i == 0 {
				if named {
					is(t, "the names", lines.Decode(line, &f), nodewire.ErrOther)
				}
				continue
			}
			if err := lines.Decode(line, &f); err != nil {
				t.Fatalf("line %d: %v", i+1, err)
			}
			frames++
			if f.Src.String() != "d0:6e:de:27:6b:63" || f.Channel != 6 || f.RSSI >= -60 || f.Noise != -96 && f.Noise != -97 ||
				f.Subcarriers() != 64 || f.Format != 1<<3|1 || len(f.Ends) != 0 {
				t.Fatalf("line %d: %+v", i+1, f)
			}
			for k, a := range csi.Amplitudes(nil, f.Data, f.Flags) {
				levels[k] += a
			}
		}
		if frames != 60 {
			t.Errorf("%d frames, want 60", frames)
		}
		for k, sum := range levels {
			if null := k >= 27 && k <= 37; null != (sum == 0) { // the order of classic chips
				t.Errorf("subcarrier %d: level %v", k, sum/60)
			}
		}
	}
}

func FuzzLines(f *testing.F) {
	f.Add([]byte(classicNames + "\n" + fmt.Sprintf(classicHead, 4, 1, "1,-2,3,4") + "\n"))
	f.Add([]byte(shortNames + "\r\n" + fmt.Sprintf(shortHead, 4, 0, "1,-2,3,-2048") + "\r\n" + fmt.Sprintf(shortHead, 2, 0, "1,2")))
	f.Add(fmt.Appendf(nil, toolHead, 384, "1 2 -3 4 "))
	f.Add([]byte("type,mac,data\nCSI_DATA,00:11:22:33:44:55,[1,2]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var lines nodewire.Lines
		for line := range bytes.Lines(text) {
			var frame nodewire.Frame
			original := bytes.Clone(line)
			if err := lines.Decode(slices.Clip(line), &frame); err != nil {
				checkError(t, err)
				continue
			}
			if !bytes.Equal(line, original) {
				t.Fatal("the line was changed")
			}
			checkFrame(t, &frame, 511)
			if len(frame.Data) == 0 || frame.Src.IsZero() {
				continue
			}
			var second nodewire.Lines
			var again nodewire.Frame
			if err := second.Decode(nodewire.AppendLine(nil, &frame), &again); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(again.Data, frame.Data) || again.Src != frame.Src || again.Format != frame.Format || again.RSSI != frame.RSSI ||
				again.Noise != frame.Noise || again.Channel != frame.Channel || again.Seq.Number != frame.Seq.Number {
				t.Fatalf("%+v became %+v", frame, again)
			}
		}
	})
}

func TestNoiseIsNoLine(t *testing.T) {
	t.Parallel()
	var lines nodewire.Lines
	for text, want := range map[string]error{
		"\x80\xff\x01garbage": nodewire.ErrForm, "I (1234) wifi: connected": nodewire.ErrOther, "\x1b[0;32mI (1) boot\x1b[0m": nodewire.ErrOther, "": nodewire.ErrOther,
	} {
		var f nodewire.Frame
		if err := lines.Decode([]byte(text), &f); err != want {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
}
