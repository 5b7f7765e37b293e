package nodewire

import "strconv"

// AppendLine appends a line with f and its end to dst, in the columns of esp-csi on classic chips. f.Data holds
// at most 511 pairs, imaginary first.
func AppendLine(dst []byte, f *Frame) []byte {
	field := func(v int) {
		dst = append(strconv.AppendInt(dst, int64(v), 10), ',')
	}
	bits := func(at, width int) int { return int(f.Format) >> at & (1<<width - 1) }
	zeros := func(n int) {
		for range n {
			field(0)
		}
	}
	dst = append(dst, "CSI_DATA,"...)
	dst = append(strconv.AppendUint(dst, uint64(f.Seq.Number), 10), ',')
	dst = append(append(dst, f.Src.String()...), ',')
	field(int(f.RSSI))
	zeros(1)
	field(bits(0, 2))
	zeros(1)
	field(bits(2, 1))
	zeros(3)
	field(bits(3, 1))
	zeros(2)
	field(int(f.Noise))
	zeros(1)
	field(int(f.Channel))
	field(bits(4, 2))
	zeros(4)
	field(len(f.Data))
	field(bits(6, 1))
	dst = append(dst, '"')
	separator := byte('[')
	for _, v := range f.Data {
		dst = strconv.AppendInt(append(dst, separator), int64(int8(v)), 10)
		separator = ','
	}
	return append(dst, "]\"\n"...)
}
