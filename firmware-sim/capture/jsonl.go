package capture

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"sensegate/motion"
)

// Read reads a `*.csv.gz` or `*.csi.jsonl` file. For the latter it returns an
// unlabelled Capture per receiving node and kind, with times from the same moment.
func Read(path string) ([]*Capture, error) {
	if strings.HasSuffix(path, ".csv.gz") {
		c, err := ReadCSV(path)
		if err != nil {
			return nil, err
		}
		return []*Capture{c}, nil
	}
	if !strings.HasSuffix(path, ".csi.jsonl") {
		return nil, fmt.Errorf("read capture %s: want *.csv.gz or *.csi.jsonl", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open capture: %w", err)
	}
	defer f.Close()
	captures, err := parseJSONL(newLines(f), path)
	if err != nil {
		return nil, fmt.Errorf("read capture %s: %w", path, err)
	}
	return captures, nil
}

// record is a line: channel state as hexadecimal I/Q pairs or as a list of
// amplitudes, or another report of a node.
type record struct {
	Timestamp   float64         `json:"timestamp"`
	Node        int             `json:"node_id"`
	RSSI        float64         `json:"rssi"`
	IQ          string          `json:"iq_hex"`
	Subcarriers json.RawMessage `json:"subcarriers"` // amplitudes, or with iq_hex their number
}

// data returns the kind and bytes of the channel state, no bytes if the line has
// none. It rounds amplitudes to whole counts and limits them to 255.
func (r *record) data() (kind string, data []byte, err error) {
	if r.IQ != "" {
		data, err = hex.DecodeString(r.IQ)
		if err != nil {
			return "", nil, fmt.Errorf("iq_hex: %w", err)
		}
		return ImaginaryFirst, data[:len(data)&^1], nil
	}
	if len(r.Subcarriers) == 0 || r.Subcarriers[0] != '[' {
		return "", nil, nil
	}
	var amplitudes []float64
	if err := json.Unmarshal(r.Subcarriers, &amplitudes); err != nil {
		return "", nil, fmt.Errorf("subcarriers: %w", err)
	}
	for _, a := range amplitudes {
		data = append(data, byte(math.Round(min(max(a, 0), 255))))
	}
	return AmplitudeBytes, data, nil
}

func parseJSONL(lines *bufio.Scanner, path string) ([]*Capture, error) {
	var captures []*Capture
	start := motion.Time(0)
	for number := 1; lines.Scan(); number++ {
		if len(strings.TrimSpace(lines.Text())) == 0 {
			continue
		}
		var r record
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		kind, data, err := r.data()
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if len(data) == 0 {
			continue
		}
		if start == 0 {
			start = motion.Time(r.Timestamp)
		}
		c := receiver(&captures, path, r.Node, kind)
		c.Start = start
		c.Frames = append(c.Frames, Frame{
			Time: motion.Time(r.Timestamp).Since(start), Label: Ignored, RSSI: dBm(r.RSSI), Data: data,
		})
	}
	return captures, lines.Err()
}

// receiver returns the capture of a node and kind, and adds it if it is new.
func receiver(captures *[]*Capture, path string, node int, kind string) *Capture {
	i := slices.IndexFunc(*captures, func(c *Capture) bool { return c.Node == node && c.Header.Kind == kind })
	if i >= 0 {
		return (*captures)[i]
	}
	c := &Capture{Path: path, Node: node, Header: Header{Kind: kind}}
	c.Header.complete(path)
	c.Header.Recording = fmt.Sprintf("%s node %d", strings.TrimSuffix(c.Header.Recording, ".csi.jsonl"), node)
	*captures = append(*captures, c)
	return c
}
