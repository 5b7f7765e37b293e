package guard

import "fmt"

// Violation is a packet that the guard refused. The connection is closed; an
// MQTT 5 client is told Code first (section 4.13).
type Violation struct {
	Code   byte   // MQTT 5 reason code
	Text   string // what is wrong, without any content of the packet
	silent bool   // close without an answer: the peer does not speak MQTT, or is leaving
}

// Error returns the text.
func (v *Violation) Error() string { return v.Text }

// Reason codes of MQTT 5 section 2.4 that the guard uses.
const (
	codeMalformed      = 0x81
	codeProtocol       = 0x82
	codeVersion        = 0x84
	codeClientID       = 0x85
	codeShutdown       = 0x8b
	codeAuthMethod     = 0x8c
	codeFilterInvalid  = 0x8f
	codeTopicInvalid   = 0x90
	codeAliasInvalid   = 0x94
	codeTooLarge       = 0x95
	codeQoSUnsupported = 0x9b
)

func refuse(code byte, format string, args ...any) *Violation {
	return &Violation{Code: code, Text: fmt.Sprintf(format, args...)}
}

// refuseSilently is refuse without an answer to the client.
func refuseSilently(format string, args ...any) *Violation {
	v := refuse(codeMalformed, format, args...)
	v.silent = true
	return v
}

// disconnect is the DISCONNECT that tells an MQTT 5 client code.
func disconnect(code byte) []byte { return []byte{typeDisconnect << 4, 1, code} }

// connack is the CONNACK that refuses a client of version for v, nil when that version has
// none (3.1.1 section 3.2.2.3).
func connack(version byte, v *Violation) []byte {
	switch {
	case v.silent:
		return nil
	case version >= 5:
		return []byte{typeConnack << 4, 3, 0, v.Code, 0}
	case v.Code == codeVersion:
		return []byte{typeConnack << 4, 2, 0, 1}
	case v.Code == codeClientID:
		return []byte{typeConnack << 4, 2, 0, 2}
	}
	return nil
}
