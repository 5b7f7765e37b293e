package capture

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"

	"sensegate/motion"
)

const (
	timeColumn = "local_timestamp"

	longestStep                = 10_000_000 // µs between two lines; more: the device has started anew
	lineGap     motion.Seconds = 0.01       // between lines whose times do not tell
)

// ReadLines reads a `*.csv` file with the lines that esp-csi or ESP32-CSI-Tool has printed. Lines without
// channel state come at the time of the one before.
func ReadLines(path string) ([]Message, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("open capture: %w", err)
	}
	return parseLines(text), nil
}

func parseLines(text []byte) []Message {
	var messages []Message
	named, last, at := -1, int64(-1), motion.Seconds(0)
	for line := range bytes.Lines(text) {
		if head, _, isState := bytes.Cut(line, []byte{'['}); isState {
			now := timeOf(bytes.Split(head, []byte{','}), named)
			switch step := (now - last) & (1<<32 - 1); { // µs, which wrap
			case last < 0:
			case now < 0 || step > longestStep:
				at += lineGap
			default:
				at += motion.Seconds(step) / 1e6
			}
			last = max(now, 0)
		} else if bytes.HasPrefix(line, []byte("type,")) {
			named = slices.IndexFunc(bytes.Split(line, []byte{','}), func(name []byte) bool { return string(name) == timeColumn })
		}
		messages = append(messages, Message{Time: at, Payload: line})
	}
	return messages
}

// timeOf returns the time in the fields of a line, in µs, -1 if it has none. The named column is -1 when no
// names have come: then the number of fields tells, as esp-csi and ESP32-CSI-Tool have them.
func timeOf(fields [][]byte, named int) int64 {
	column := named
	if named < 0 {
		switch len(fields) {
		case 15:
			column = 9
		case 25, 26:
			column = 18
		}
	}
	if column < 0 || column >= len(fields) {
		return -1
	}
	now, err := strconv.ParseUint(string(fields[column]), 10, 32)
	if err != nil {
		return -1
	}
	return int64(now)
}
