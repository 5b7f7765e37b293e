package capture

import (
	"bufio"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
)

// lineSize is the maximum length of a line, in bytes; a frame of 2048 bins has about
// eight thousand.
const lineSize = 1 << 20

// ErrNoHeader means that the first line of a file is not a capture header.
var ErrNoHeader = errors.New("the first line is not a capture header (want # {...})")

// ReadHeader reads only the header of a labelled `*.csv.gz` file.
func ReadHeader(path string) (Header, error) {
	var h Header
	err := withCSV(path, func(lines *bufio.Scanner) (err error) {
		h, err = parseHeader(lines, path)
		return err
	})
	return h, err
}

// ReadCSV reads a labelled `*.csv.gz` file.
func ReadCSV(path string) (*Capture, error) {
	c := &Capture{Path: path}
	err := withCSV(path, func(lines *bufio.Scanner) error { return c.parse(lines) })
	if err != nil {
		return nil, err
	}
	return c, nil
}

func withCSV(path string, read func(*bufio.Scanner) error) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open capture: %w", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("read capture %s: %w", path, err)
	}
	if err := read(newLines(z)); err != nil {
		return fmt.Errorf("read capture %s: %w", path, err)
	}
	return nil
}

func newLines(r io.Reader) *bufio.Scanner {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 64<<10), lineSize)
	return lines
}

func parseHeader(lines *bufio.Scanner, path string) (Header, error) {
	var h Header
	if !lines.Scan() {
		if err := lines.Err(); err != nil {
			return h, err
		}
		return h, ErrNoHeader
	}
	text, found := strings.CutPrefix(lines.Text(), "#")
	if !found {
		return h, ErrNoHeader
	}
	if err := json.Unmarshal([]byte(text), &h); err != nil {
		return h, fmt.Errorf("header: %w", err)
	}
	if _, err := h.Flags(); err != nil {
		return h, fmt.Errorf("header: %w", err)
	}
	h.complete(path)
	return h, nil
}

func (c *Capture) parse(lines *bufio.Scanner) (err error) {
	if c.Header, err = parseHeader(lines, c.Path); err != nil {
		return err
	}
	for number := 2; lines.Scan(); number++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || number == 2 && strings.HasPrefix(line, "t_ms") {
			continue
		}
		f, err := parseFrame(line)
		if err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
		c.Frames = append(c.Frames, f)
	}
	return lines.Err()
}

// parseFrame reads one line `t_ms,label,rssi,data_hex`.
func parseFrame(line string) (Frame, error) {
	var f Frame
	field := strings.Split(line, ",")
	if len(field) != 4 {
		return f, fmt.Errorf("%d fields, want t_ms,label,rssi,data_hex", len(field))
	}
	ms, err := strconv.ParseFloat(field[0], 64)
	if err != nil || math.IsNaN(ms) || math.IsInf(ms, 0) {
		return f, fmt.Errorf("t_ms %.20q is not a number", field[0])
	}
	f.Time = ms / 1e3
	f.Label = parseLabel(field[1])
	if f.RSSI, err = parseRSSI(field[2]); err != nil {
		return f, err
	}
	if f.Data, err = hex.DecodeString(field[3]); err != nil {
		return f, fmt.Errorf("data_hex: %w", err)
	}
	return f, nil
}

// parseLabel returns Ignored for an unknown label.
func parseLabel(s string) Label {
	switch strings.TrimSpace(s) {
	case "0":
		return Quiet
	case "1":
		return Still
	case "2":
		return Motion
	default:
		return Ignored
	}
}

func parseRSSI(s string) (int8, error) {
	if s == "" {
		return 0, nil
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, fmt.Errorf("rssi %.20q is not a number", s)
	}
	return dBm(v), nil
}

// dBm returns v rounded, or 0 (unknown) if it is not a signal strength.
func dBm(v float64) int8 {
	if !(v >= -127 && v < 0) {
		return 0
	}
	return int8(math.Round(v))
}
