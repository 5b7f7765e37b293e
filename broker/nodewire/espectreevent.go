package nodewire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"strconv"
)

// A node of ESPectre version 3 answers GET /espectre/v1/events with server-sent events
// (https://html.spec.whatwg.org/multipage/server-sent-events.html): one named motion after each evaluation,
// others now and then, and a comment each ten seconds.

// espectreLine is the maximum length of a line of events, and of the data of an event.
const espectreLine = 4096

// ESPectreMotion is what a node of ESPectre has found.
type ESPectreMotion struct {
	Uptime uint64  // ms since the node was started
	Motion bool    // what its own threshold makes of Score
	Score  float64 // 0..1
}

// ESPectreEvents reads the events of one connection.
type ESPectreEvents struct {
	from *bufio.Reader
	name [16]byte // of the event that is being read
	size int      // of name
	data []byte
}

// NewESPectreEvents returns a reader of the events in from, the body of an answer.
func NewESPectreEvents(from io.Reader) *ESPectreEvents {
	return &ESPectreEvents{from: bufio.NewReaderSize(from, espectreLine), data: make([]byte, 0, espectreLine)}
}

// Next reads the next event and, if it is motion, stores it in m.
//
// ErrOther: another event, or a comment, which is a sign of life. ErrForm: a motion event that cannot be read,
// after which the next one can. Any other error ends the stream: ErrTruncated (a line or the data is too
// long), io.EOF, and that of the reader.
func (e *ESPectreEvents) Next(m *ESPectreMotion) error {
	for {
		line, err := e.from.ReadSlice('\n')
		switch {
		case err == bufio.ErrBufferFull:
			return ErrTruncated
		case err != nil:
			return err // a line without an end is no line
		}
		line = bytes.TrimSuffix(line[:len(line)-1], []byte{'\r'})
		if len(line) == 0 {
			if e.size == 0 && len(e.data) == 0 {
				continue
			}
			return e.dispatch(m)
		}
		field, value, _ := bytes.Cut(line, []byte{':'})
		value = bytes.TrimPrefix(value, []byte{' '})
		switch string(field) {
		case "":
			return ErrOther
		case "event":
			e.size = copy(e.name[:], value)
		case "data":
			if len(e.data)+len(value) >= espectreLine {
				return ErrTruncated
			}
			e.data = append(append(e.data, value...), '\n')
		}
	}
}

// dispatch decodes the event that has been read.
func (e *ESPectreEvents) dispatch(m *ESPectreMotion) error {
	name, data := e.name[:e.size], e.data
	e.size, e.data = 0, e.data[:0]
	if string(name) != "motion" {
		return ErrOther
	}
	var found struct {
		Uptime *uint64  `json:"timestamp_ms"`
		State  string   `json:"state"`
		Score  *float64 `json:"score"`
	}
	if json.Unmarshal(data, &found) != nil || found.Uptime == nil || found.Score == nil {
		return ErrForm
	}
	moving := found.State == "motion"
	if !moving && found.State != "idle" || !(*found.Score >= 0 && *found.Score <= 1) {
		return ErrForm
	}
	*m = ESPectreMotion{*found.Uptime, moving, *found.Score}
	return nil
}

// AppendESPectreMotion appends a motion event to dst.
func AppendESPectreMotion(dst []byte, m ESPectreMotion) []byte {
	state := "idle"
	if m.Motion {
		state = "motion"
	}
	dst = append(dst, "event: motion\ndata: {\"timestamp_ms\":"...)
	dst = strconv.AppendUint(dst, m.Uptime, 10)
	dst = append(dst, `,"state":"`+state+`","score":`...)
	dst = strconv.AppendFloat(dst, m.Score, 'f', 4, 64)
	return append(dst, "}\n\n"...)
}
