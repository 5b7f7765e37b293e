package wire

import (
	"strings"

	"sensegate/motion"
	"sensegate/motion/fault"
)

// maxName is the longest id or node name, in bytes.
const maxName = 64

// ValidID reports whether s can be a device id (guardian_id, deviceId): 1 to 64
// ASCII letters, digits and - _ . : so that it is one level of a topic, without
// wildcards.
func ValidID(s string) bool {
	if s == "" || len(s) > maxName {
		return false
	}
	for i := range len(s) {
		c := s[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && c != '-' && c != '_' && c != '.' && c != ':' {
			return false
		}
	}
	return true
}

// wireName checks one end of a link id: a node name, which is kept, or a MAC in
// any spelling, which becomes its twelve lower-case digits. A dot would make the
// link id ambiguous.
func wireName(s string) (string, *fault.Error) {
	mac, err := motion.ParseMAC(s)
	if err == nil && !mac.IsZero() {
		if len(s) == 12 { // the digits alone
			return strings.ToLower(s), nil
		}
		return mac.Name(), nil
	}
	if err == nil || !ValidID(s) || strings.Contains(s, ".") {
		return "", invalid("%s: want a name of 1 to 64 letters, digits and - _ :", short(s))
	}
	return s, nil
}

// plainName reports whether s is an end of a link id as wireName would have it, which nearly all are: neither a MAC in another
// spelling nor invalid. It reports false for some others too.
func plainName(s string) bool {
	if s == "" || len(s) > maxName || len(s) == 17 {
		return false
	}
	name, zero := false, true // no hexadecimal digits; nothing but zeros
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'f':
			zero = zero && c == '0'
		case c|0x20 >= 'a' && c|0x20 <= 'z', c == '-', c == '_', c == ':':
			name = true
		default:
			return false
		}
	}
	return len(s) != 12 || !name && !zero
}

// linkID normalises a link id to "dst_name.src_name", which keeps nothing else of the message in memory. The old form
// "DDDDDD-SSSSSS" only becomes lower case: which devices it means is known to
// the network alone, see [motion.IsOldLinkID].
func linkID(s string) (string, *fault.Error) {
	if dst, src, _ := strings.Cut(s, "."); plainName(dst) && plainName(src) {
		return strings.Clone(s), nil
	}
	if motion.IsOldLinkID(s) {
		return strings.Clone(strings.ToLower(s)), nil
	}
	dst, src, found := strings.Cut(s, ".")
	if !found {
		return "", invalid("%s: want a link id dst_name.src_name", short(s))
	}
	dst, err := wireName(dst)
	if err != nil {
		return "", err
	}
	src, err = wireName(src)
	if err != nil {
		return "", err
	}
	return motion.LinkName(dst, src), nil
}
