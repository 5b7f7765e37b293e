package recording

import (
	"bytes"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"sensegate/motion"
	"sensegate/motion/csi"
)

// memberSize is how many bytes of lines become a gzip member at the latest.
const memberSize = 64 << 10

// columns heads the lines of frames.
const columns = "t_ms,label,rssi,data_hex\n"

// format is a link in a format: each has a file of its own, because the detection keeps a
// reference for each.
type format struct {
	link    string
	number  uint16 // of the device's format
	bins    int
	flags   csi.Flags // without ImagFirst: files have the imaginary part first
	channel uint8
	ends    string // of the segments
}

func formatOf(of *batch, b *csi.Batch) format {
	return format{of.link, of.format, b.Subcarriers, b.Flags &^ csi.ImagFirst, b.Channel, fmt.Sprint(b.Ends)}
}

// header is the first line of a file.
type header struct {
	Dataset    string      `json:"dataset"`
	Group      string      `json:"group"`
	Kind       string      `json:"kind"`
	Bins       int         `json:"bins"`
	Segments   [][2]int    `json:"segments,omitempty"`
	GainLocked bool        `json:"gain_locked"`
	Link       string      `json:"link"`
	Channel    uint8       `json:"channel,omitempty"`
	Start      motion.Time `json:"start"` // of the first frame
}

// stream is the file of a link in a format. Its lines are those of a labelled capture: the header,
// the names of the columns, and one line a frame.
type stream struct {
	File
	file  *os.File
	start motion.Time // of the first frame
	text  []byte      // lines that are not written yet
	wait  int         // frames that these are of
	dirty bool        // the disk may not have all that was written
}

// newStream makes the file of a link in the format of a batch, whose first frame is of a time.
func newStream(path, group string, f format, b *csi.Batch, start motion.Time) (*stream, error) {
	h := header{
		Dataset: "sensegate", Group: group, Kind: "iq_int8_imag_first", Bins: f.bins, GainLocked: f.flags&csi.GainLocked != 0,
		Link: f.link, Channel: f.channel, Start: start,
	}
	if f.flags&csi.Amplitude != 0 {
		h.Kind = "amp_uint8"
	}
	from := 0
	for _, end := range b.Ends {
		h.Segments = append(h.Segments, [2]int{from, end})
		from = end
	}
	head, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	one := &stream{File: File{Name: filepath.Base(path), Link: f.link, Bins: f.bins}, file: file, start: start}
	one.text = fmt.Appendf(one.text, "# %s\n%s", head, columns)
	return one, nil
}

// add adds the line of a frame that was measured at a time.
func (one *stream) add(at motion.Time, label byte, f *csi.Frame, flags csi.Flags) {
	t := strconv.AppendFloat(one.text, 1e3*at.Since(one.start), 'f', 1, 64)
	t = append(t, ',', label, ',')
	if f.RSSI < 0 {
		t = strconv.AppendInt(t, int64(f.RSSI), 10)
	}
	t = append(t, ',')
	if flags&(csi.Amplitude|csi.ImagFirst) == 0 {
		for i := 0; i+1 < len(f.Data); i += 2 {
			t = hex.AppendEncode(t, []byte{f.Data[i+1], f.Data[i]})
		}
	} else {
		t = hex.AppendEncode(t, f.Data)
	}
	one.text = append(t, '\n')
	one.wait++
	one.Frames++
}

// full reports whether it holds enough for a member.
func (one *stream) full() bool { return len(one.text) >= memberSize }

// put writes the lines that it holds as one gzip member, whole or not at all.
func (one *stream) put(with *press) error {
	if len(one.text) == 0 {
		return nil
	}
	member, err := with.member(one.text)
	if err == nil {
		_, err = one.file.Write(member)
	}
	if err != nil {
		one.Frames -= one.wait
		err = errors.Join(err, one.file.Truncate(one.Bytes))
	} else {
		one.Bytes += int64(len(member))
	}
	one.text, one.wait, one.dirty = one.text[:0], 0, true
	return err
}

// sync makes durable what was written.
func (one *stream) sync() error {
	if !one.dirty {
		return nil
	}
	one.dirty = false
	return one.file.Sync()
}

// press compresses. All streams share one, because its tables are large.
type press struct {
	zip *gzip.Writer
	out bytes.Buffer
}

// member returns a text as a gzip member, which is valid until the next call.
func (p *press) member(text []byte) ([]byte, error) {
	p.out.Reset()
	var err error
	if p.zip == nil {
		p.zip, err = gzip.NewWriterLevel(&p.out, gzip.BestSpeed)
	} else {
		p.zip.Reset(&p.out)
	}
	if err != nil {
		return nil, err
	}
	_, err = p.zip.Write(text)
	err = errors.Join(err, p.zip.Close()) // which writes as well
	return p.out.Bytes(), err
}
