package remotewrite_test

import (
	"io"
	"testing"

	"github.com/golang/snappy"

	"sensegate/motion"
)

// timesOf returns the times of the samples of a request, in seconds.
func timesOf(t *testing.T, body io.Reader) map[motion.Time]bool {
	t.Helper()
	raw, err := io.ReadAll(body)
	if err == nil {
		raw, err = snappy.Decode(nil, raw)
	}
	if err != nil {
		t.Error(err)
		return nil
	}
	times := map[motion.Time]bool{}
	for _, series := range fields(t, raw, 1) {
		for _, sample := range fields(t, series, 2) {
			var at uint64
			for i, b := range sample[10:] { // after the value and the key of the time
				at |= uint64(b&0x7f) << (7 * i)
			}
			times[motion.Time(at/1000)] = true
		}
	}
	return times
}

// fields returns the bytes of each field of a number.
func fields(t *testing.T, message []byte, number byte) (found [][]byte) {
	t.Helper()
	for len(message) > 0 {
		key, length, i := message[0], 0, 1
		for shift := 0; ; shift += 7 {
			b := message[i]
			length |= int(b&0x7f) << shift
			if i++; b < 0x80 {
				break
			}
		}
		if key>>3 == number {
			found = append(found, message[i:i+length])
		}
		message = message[i+length:]
	}
	return found
}
