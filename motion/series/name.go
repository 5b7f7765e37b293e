package series

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
)

// name appends the table entry of series id, whose column has been appended.
func (w *valueWriter) name(id ID) {
	shared := sharedPrefix(w.previous, id)
	if (len(id)-shared)%2 == 1 && shared > 0 && isHex(id[shared-1:]) {
		shared--
	}
	own := id[shared:]
	w.head = binary.AppendUvarint(w.head, uint64(shared))
	if digits := []byte(own); len(own) > 0 && len(own)%2 == 0 && isHex(own) {
		w.head = binary.AppendUvarint(w.head, uint64(len(own)/2)<<1|1)
		w.head, _ = hex.AppendDecode(w.head, digits)
	} else {
		w.head = binary.AppendUvarint(w.head, uint64(len(own))<<1)
		w.head = append(w.head, own...)
	}
	column := w.columns[w.ended:]
	if bytes.Equal(column, w.columns[w.begun:w.ended]) {
		w.columns, column = w.columns[:w.ended], nil
	} else {
		w.begun, w.ended = w.ended, len(w.columns)
	}
	w.head = binary.AppendUvarint(w.head, uint64(len(column)))
	w.previous = id
}

// isHex reports whether an ID has hexadecimal digits alone.
func isHex(id ID) bool {
	for _, c := range []byte(id) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

func sharedPrefix(a, b ID) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// readName reads the ID that follows previous, in whose memory, of maxName bytes, it is made.
// ok is false if it is too long.
func (v value) readName(c *cursor, previous []byte) (name []byte, ok bool) {
	shared, own := c.uvarint(), c.uvarint()
	packed := v.version > 1 && own&1 == 1
	if v.version > 1 {
		own >>= 1
	}
	length := own
	if packed {
		length = 2 * own
	}
	if shared > uint64(len(previous)) || own > maxName || shared+length > maxName {
		return nil, false
	}
	rest := c.take(own)
	if packed {
		return hex.AppendEncode(previous[:shared], rest), true
	}
	return append(previous[:shared], rest...), true
}
