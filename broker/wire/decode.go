package wire

import (
	"sensegate/motion"
	"sensegate/motion/fault"
)

// minCSI is the length of a csi message's header, in bytes
// (device-protocol.md 2.5).
const minCSI = 31

// Decoder decodes reports in memory that it uses again. The zero Decoder is ready. It is not safe for concurrent use.
type Decoder struct{ matrix matrixReader }

// Decode reads the payload of an event. What cannot be read is a *fault.Error of
// kind Malformed, what makes no sense one of kind Invalid, and what is longer
// than MaxMessage one of kind TooLarge; each names the place. Values that the
// device did not send are NaN or zero as the report types say.
//
// A csi payload is passed through as [motion.RawCSI], without a copy; everything
// else is independent of payload. A *motion.Matrix is valid until the next call.
func (d *Decoder) Decode(t Topic, payload []byte) (motion.Report, error) {
	if !t.Command && t.Name == EventMatrix && t.Format == FormatJSON && d.matrix.read(payload) {
		return &d.matrix.message, nil
	}
	return decode(t, payload)
}

// decode is Decode of what only it can read.
func decode(t Topic, payload []byte) (motion.Report, error) {
	if t.Command {
		return nil, invalid("command %.32q: devices send events", t.Name)
	}
	if t.Name == EventCSI {
		return decodeCSI(t.Format, payload)
	}
	read := decoders[t.Name]
	switch {
	case read == nil:
		return nil, invalid("event %.32q is not known", t.Name)
	case t.Format != FormatJSON:
		return nil, wrongFormat(t.Name, t.Format, FormatJSON)
	case t.Name == EventEvent && len(payload) > motion.MaxEvent:
		return nil, fault.New(fault.TooLarge, "event of %d bytes: at most %d", len(payload), motion.MaxEvent)
	}
	top, err := parse(payload)
	if err != nil {
		return nil, err
	}
	report, err := read(top)
	if err != nil {
		return nil, err
	}
	return report, nil
}

// decoders read the events that are JSON.
var decoders = map[string]func(map[string]any) (motion.Report, *fault.Error){
	EventStatus:        decodeStatus,
	EventMatrix:        decodeMatrix,
	EventHistory:       decodeHistory,
	EventEvent:         decodeEvent,
	EventLinkMotion:    decodeLinkMotions,
	EventManageResult:  decodeManageResult,
	EventDeviceInfoAck: decodeDeviceInfoAck,
}

func wrongFormat(event, got, want string) *fault.Error {
	return invalid("%s in format %.32q: want %s", event, got, want)
}

// decodeCSI checks no more than what the decoder of the frames cannot do without.
func decodeCSI(format string, payload []byte) (motion.Report, error) {
	switch {
	case format != FormatBin:
		return nil, wrongFormat(EventCSI, format, FormatBin)
	case len(payload) > MaxMessage:
		return nil, fault.New(fault.TooLarge, "message of %d bytes: at most %d", len(payload), MaxMessage)
	case len(payload) < minCSI:
		return nil, malformed("csi of %d bytes: at least %d", len(payload), minCSI)
	}
	return motion.RawCSI(payload), nil
}

// manageResult is a manage-result as it is sent.
type manageResult struct {
	ID     int64           `json:"id"`
	State  string          `json:"state"`
	Result motion.Document `json:"result,omitempty"`
}

// decodeManageResult reads the answer to a management command; the state is one
// that a device can reach: 100, 2xx or 4xx (payloads.md 4.13).
func decodeManageResult(top map[string]any) (motion.Report, *fault.Error) {
	var result manageResult
	if err := into(&result, top); err != nil {
		return nil, err
	}
	if result.ID <= 0 {
		return nil, under("id", invalid("want the positive id of the command"))
	}
	if !deviceState(result.State) {
		return nil, under("state", invalid("%s: want 100, 2xx or 4xx", short(result.State)))
	}
	return motion.ManageResult(result), nil
}

func deviceState(s string) bool {
	if s == "100" {
		return true
	}
	digit := func(c byte) bool { return c >= '0' && c <= '9' }
	return len(s) == 3 && (s[0] == '2' || s[0] == '4') && digit(s[1]) && digit(s[2])
}

// deviceInfoAck is a device-info-ack as it is sent.
type deviceInfoAck struct {
	MAC motion.MAC `json:"mac"`
}

func decodeDeviceInfoAck(top map[string]any) (motion.Report, *fault.Error) {
	var ack deviceInfoAck
	if err := into(&ack, top); err != nil {
		return nil, err
	}
	if ack.MAC.IsZero() {
		return nil, under("mac", invalid("missing"))
	}
	return motion.DeviceInfoAck(ack), nil
}
