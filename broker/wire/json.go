package wire

import (
	"bytes"
	"encoding/json"
	"io"

	"sensegate/motion/fault"
)

// Limits of one JSON body. They bound what a body of MaxMessage bytes can cost
// in memory, and are several times what the largest known home sends.
const (
	// MaxMessage is the largest message or bootstrap body, in bytes
	// (device-protocol.md 2).
	MaxMessage = 256 << 10

	maxDepth   = 32
	maxValues  = 65536
	maxObjects = 8192
)

// notNumbers are the tokens that agents write for NaN and infinity: those of Python first,
// then those of C's printf. Longer spellings stand before their prefixes.
var notNumbers = [...]string{"-Infinity", "Infinity", "NaN", "-NaN", "-infinity", "infinity", "-nan", "nan", "-inf", "inf", "-Inf", "Inf"}

// parse reads one JSON object. Numbers are kept as json.Number; NaN and Infinity
// are read as null. The payload is not changed.
func parse(payload []byte) (map[string]any, *fault.Error) {
	if len(payload) > MaxMessage {
		return nil, fault.New(fault.TooLarge, "message of %d bytes: at most %d", len(payload), MaxMessage)
	}
	tame, err := withoutNaN(payload)
	if err != nil {
		return nil, err
	}
	if object, ok := quickly(tame); ok {
		return object, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(tame))
	decoder.UseNumber()
	var top any
	if err := decoder.Decode(&top); err != nil {
		return nil, malformed("not JSON: %.80s", err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return nil, malformed("not JSON: something follows the object")
	}
	object, ok := top.(map[string]any)
	if !ok {
		return nil, malformed("want a JSON object")
	}
	return object, nil
}

// withoutNaN returns payload with every token of notNumbers replaced by null, and refuses what
// is nested too deep or has too many values. It does not check that the rest is JSON.
func withoutNaN(payload []byte) ([]byte, *fault.Error) {
	var out []byte // nil until something is replaced
	kept := 0      // payload[:kept] is in out
	depth, values, objects := 0, 1, 0
	for i := 0; i < len(payload); i++ {
		switch payload[i] {
		case '"':
			i = stringEnd(payload, i)
		case '{':
			objects++
			depth++
			values++
		case '[':
			depth++
			values++
		case '}', ']':
			depth--
		case ',':
			values++
		case 'N', 'I', 'n', 'i', '-':
			if n := notNumber(payload[i:]); n > 0 {
				out = append(append(out, payload[kept:i]...), "null"...)
				kept = i + n
				i = kept - 1
			}
		}
		if depth > maxDepth || values > maxValues || objects > maxObjects {
			return nil, invalid("message nested deeper than %d, or of more than %d values or %d objects", maxDepth, maxValues, maxObjects)
		}
	}
	if out == nil {
		return payload, nil
	}
	return append(out, payload[kept:]...), nil
}

// stringEnd returns the index of the quote that closes the string opened at
// start, or the last index when none does.
func stringEnd(payload []byte, start int) int {
	for i := start + 1; i < len(payload); i++ {
		switch payload[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(payload) - 1
}

// notNumber returns the length of the token of notNumbers that b begins with, 0 for none.
func notNumber(b []byte) int {
	for _, token := range notNumbers {
		if len(b) >= len(token) && string(b[:len(token)]) == token {
			return len(token)
		}
	}
	return 0
}
