package nodewire

import (
	"bytes"
	"encoding/hex"
	"unicode/utf8"

	"sensegate/motion"
	"sensegate/motion/csi"
)

// Firmwares made with esp-csi or ESP32-CSI-Tool print a line of text for each frame, on a serial port at 921600
// baud (espressif/esp-csi, examples/get-started; StevenMHernandez/ESP32-CSI-Tool). A line has one of three sets
// of columns, the names of which come in a line of their own when the firmware starts. The last column is the
// channel state in brackets: signed numbers, imaginary first, with commas or blanks between them. Two programs
// may write at once, so that garbled lines are usual.

// Limits of a line.
const (
	LinesLongest = 8192 // bytes, the end of the line included

	linesValues  = 1022 // numbers of a frame; the longest known one has 612
	linesColumns = 32
)

// columns are the places of those columns in a line that are used; -1: it has no such column.
type columns struct {
	count int // with the channel state, which is the last one

	seq, mac, rssi, mode, bandwidth, stbc, noise, channel, secondary, length, word int
}

// The columns of lines without names, told apart by their number.
var (
	// esp-csi on ESP32, S2, S3 and C3: type,id,mac,rssi,rate,sig_mode,mcs,bandwidth,smoothing,not_sounding,
	// aggregation,stbc,fec_coding,sgi,noise_floor,ampdu_cnt,channel,secondary_channel,local_timestamp,ant,
	// sig_len,rx_state,len,first_word,data
	classicColumns = columns{
		count: 25, seq: 1, mac: 2, rssi: 3, mode: 5, bandwidth: 7, stbc: 11, noise: 14, channel: 16, secondary: 17, length: 22, word: 23,
	}
	// esp-csi on C5 and C6: type,seq,mac,rssi,rate,noise_floor,fft_gain,agc_gain,channel,local_timestamp,
	// sig_len,rx_state,len,first_word,data
	shortColumns = columns{
		count: 15, seq: 1, mac: 2, rssi: 3, mode: -1, bandwidth: -1, stbc: -1, noise: 5, channel: 8, secondary: -1, length: 12, word: 13,
	}
	// ESP32-CSI-Tool: type,role,mac, as in classicColumns up to rx_state, real_time_set,real_timestamp,len,CSI_DATA
	toolColumns = columns{
		count: 26, seq: -1, mac: 2, rssi: 3, mode: 5, bandwidth: 7, stbc: 11, noise: 14, channel: 16, secondary: 17, length: 24, word: -1,
	}
)

// Lines decodes the lines of one device.
type Lines struct {
	named      columns // by the last line of names
	wide       bool    // the numbers have twelve bits
	values     [linesValues]int16
	data       [linesValues]byte
	amplitudes [linesValues / 2]float32
	ends       [2]int
}

// Decode decodes a line, of at most LinesLongest bytes with or without its end, into f. The first segment of
// f is the legacy training field, the second one what follows it. Bits 0..1 of f.Format are the mode of the
// frame, 2 is set at 40 MHz, 3 with STBC, 4..5 are where the secondary channel is, 6 is set when the first two
// subcarriers are not valid (they are 0), and 7 with amplitudes: once a device has sent numbers of twelve bits,
// which only C5 does, all of its frames have those.
//
// ErrOther: the line is another one of such firmwares, such as the names of the columns. ErrTruncated: it has
// fewer numbers than it says.
func (l *Lines) Decode(line []byte, f *Frame) error {
	line = bytes.TrimRight(line, "\r\n")
	if len(line) > LinesLongest {
		return ErrForm
	}
	if bytes.HasPrefix(line, []byte("type,")) {
		l.readNames(line)
		return ErrOther
	}
	if !bytes.HasPrefix(line, []byte("CSI_DATA,")) {
		if bytes.ContainsFunc(line, func(c rune) bool { return c < ' ' && c != '\t' && c != '\x1b' || c == utf8.RuneError }) {
			return ErrForm // noise, as at another rate of the line
		}
		return ErrOther
	}
	head, state, found := bytes.Cut(line, []byte{'['})
	if !found {
		return ErrTruncated
	}
	var h lineHead
	if err := h.read(head, &l.named); err != nil {
		return err
	}
	n, err := l.readValues(state, h.columns.isShort())
	switch {
	case err != nil:
		return err
	case n < h.length && !(h.columns.isTool() && n == toolValues):
		return ErrTruncated
	case n == 0 || n%2 != 0 || h.length >= 0 && n > h.length:
		return ErrForm
	}
	*f = h.frame
	f.Length = n
	l.putState(f, n)
	l.putEnds(f, h.columns.isShort())
	return nil
}

// isShort reports whether the columns are those of C5 and C6.
func (c *columns) isShort() bool { return c.mode < 0 }

// isTool reports whether the columns are those of ESP32-CSI-Tool.
func (c *columns) isTool() bool { return c.word < 0 }

// toolValues is how many numbers ESP32-CSI-Tool prints at most of a longer frame.
const toolValues = 128

// readNames takes over a line of names.
func (l *Lines) readNames(line []byte) {
	c := columns{seq: -1, mac: -1, rssi: -1, mode: -1, bandwidth: -1, stbc: -1, noise: -1, channel: -1, secondary: -1, length: -1, word: -1}
	hasState := false
	for name := range bytes.SplitSeq(line, []byte{','}) {
		hasState = false
		switch string(bytes.TrimSpace(name)) {
		case "id", "seq":
			c.seq = c.count
		case "mac":
			c.mac = c.count
		case "rssi":
			c.rssi = c.count
		case "sig_mode":
			c.mode = c.count
		case "bandwidth":
			c.bandwidth = c.count
		case "stbc":
			c.stbc = c.count
		case "noise_floor":
			c.noise = c.count
		case "channel":
			c.channel = c.count
		case "secondary_channel":
			c.secondary = c.count
		case "len":
			c.length = c.count
		case "first_word":
			c.word = c.count
		case "data", "CSI_DATA":
			hasState = true
		}
		c.count++
	}
	if hasState && c.mac > 0 && c.count <= linesColumns {
		l.named, l.wide = c, false // the device has started anew
	}
}

// lineHead is what stands before the channel state.
type lineHead struct {
	columns *columns
	frame   Frame
	length  int // how many numbers follow, -1: unknown
}

// read reads the fields before the channel state, of which the last one may be a quotation mark.
func (h *lineHead) read(head []byte, named *columns) error {
	var fields [linesColumns][]byte
	n := 0
	for more := true; more; n++ {
		if n == linesColumns {
			return ErrForm
		}
		fields[n], head, more = bytes.Cut(head, []byte{','})
	}
	switch n {
	case named.count:
		h.columns = named
	case classicColumns.count:
		h.columns = &classicColumns
	case shortColumns.count:
		h.columns = &shortColumns
	case toolColumns.count:
		h.columns = &toolColumns
	default:
		return ErrForm
	}
	if last := fields[n-1]; len(last) > 0 && string(last) != `"` {
		return ErrForm
	}
	return h.readFields(&fields)
}

// readFields reads the fields by their columns.
func (h *lineHead) readFields(fields *[linesColumns][]byte) error {
	ok := true
	number := func(column int, least, most, missing int64) int64 {
		if column < 0 {
			return missing
		}
		v, isNumber := parseNumber(fields[column])
		if !isNumber || v < least || v > most {
			ok = false
		}
		return v
	}
	c, f := h.columns, &h.frame
	h.length = int(number(c.length, 0, linesValues, -1))
	f.RSSI = int8(min(number(c.rssi, -128, 127, 0), 0))
	f.Noise = int8(number(c.noise, -128, 127, int64(csi.NoiseUnknown)))
	f.Channel = uint8(number(c.channel, 0, 255, 0))
	f.Format = uint16(number(c.mode, 0, 3, 0) | number(c.bandwidth, 0, 1, 0)<<2 | number(c.stbc, 0, 1, 0)<<3 |
		number(c.secondary, 0, 3, 0)<<4 | number(c.word, 0, 1, 0)<<6)
	if c.seq >= 0 {
		f.Seq = Sequence{uint32(number(c.seq, 0, 1<<32-1, 0)), 32}
	}
	var isMAC bool
	if f.Src, isMAC = parseMAC(fields[c.mac]); !ok || !isMAC {
		return ErrForm
	}
	return nil
}

// readValues reads the numbers up to the closing bracket and returns how many there are.
func (l *Lines) readValues(text []byte, mayBeWide bool) (n int, err error) {
	i, low, high := 0, 0, 0
	for {
		for i < len(text) && (text[i] == ',' || text[i] == ' ') {
			i++
		}
		if i == len(text) {
			return 0, ErrTruncated
		}
		if text[i] == ']' {
			break
		}
		negative := text[i] == '-'
		if negative {
			i++
		}
		start, v := i, 0
		for ; i < len(text) && text[i]-'0' <= 9; i++ {
			v = v*10 + int(text[i]-'0')
		}
		if i == len(text) {
			return 0, ErrTruncated
		}
		if end := text[i]; i == start || i-start > 4 || n == linesValues || end != ',' && end != ' ' && end != ']' {
			return 0, ErrForm
		}
		if negative {
			v = -v
		}
		low, high = min(low, v), max(high, v)
		l.values[n] = int16(v)
		n++
	}
	if rest := bytes.TrimSpace(text[i+1:]); len(rest) > 0 && string(rest) != `"` {
		return 0, ErrForm
	}
	if low < -128 || high > 127 {
		if !mayBeWide || low < -2048 || high > 2047 {
			return 0, ErrForm
		}
		l.wide = true
	}
	return n, nil
}

// putState puts the first n numbers into f.
func (l *Lines) putState(f *Frame, n int) {
	values := l.values[:n]
	if f.Format&linesFirstMissing != 0 {
		clear(values[:min(4, n)])
	}
	if l.wide {
		for k := range n / 2 {
			im, re := float32(values[2*k]), float32(values[2*k+1])
			l.amplitudes[k] = sqrt(re*re + im*im)
		}
		f.Format |= linesWide
		f.Amplitudes = l.amplitudes[:n/2]
		return
	}
	for k, v := range values {
		l.data[k] = byte(v)
	}
	f.Flags, f.Data = csi.ImagFirst, l.data[:n]
}

// Bits of Format.
const (
	linesFirstMissing = 1 << 6
	linesWide         = 1 << 7
)

// putEnds divides f into segments: 64 subcarriers of the legacy training field and the rest. C5 and C6 send
// one field: twice with STBC, of 57 or 64 subcarriers. 128 may be both halves of a band of 40 MHz as well;
// nothing joins these in the middle.
func (l *Lines) putEnds(f *Frame, isShort bool) {
	n, first := f.Subcarriers(), 64
	switch {
	case isShort && n == 2*57:
		first = 57
	case isShort && n%64 != 0:
		first = n
	}
	if n > first {
		l.ends = [2]int{first, n}
		f.Ends = l.ends[:]
	}
}

// parseNumber reads a whole number of up to ten digits.
func parseNumber(text []byte) (v int64, ok bool) {
	text, negative := bytes.CutPrefix(text, []byte{'-'})
	if len(text) == 0 || len(text) > 10 {
		return 0, false
	}
	for _, c := range text {
		if c-'0' > 9 {
			return 0, false
		}
		v = v*10 + int64(c-'0')
	}
	if negative {
		v = -v
	}
	return v, true
}

// parseMAC reads six octets of two hexadecimal digits with colons between them. Other than motion.ParseMAC it
// allocates nothing.
func parseMAC(text []byte) (mac motion.MAC, ok bool) {
	if len(text) != 17 {
		return mac, false
	}
	for i := range mac {
		octet := text[3*i:]
		if i < 5 && octet[2] != ':' {
			return mac, false
		}
		if _, err := hex.Decode(mac[i:i+1], octet[:2]); err != nil {
			return mac, false
		}
	}
	return mac, true
}
