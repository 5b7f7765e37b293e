package motion

import (
	"encoding/hex"
	"fmt"
	"slices"
)

// MAC is a 48-bit hardware address (IEEE 802 EUI-48). Its text form is
// lower-case with colons, "02:bb:00:00:00:31". The zero MAC means "none".
type MAC [6]byte

// ParseMAC reads twelve hexadecimal digits of either case, bare or with ':' or
// '-' between the octets.
func ParseMAC(s string) (MAC, error) {
	m, ok := parseMAC(s)
	if !ok {
		return MAC{}, notMAC(s) // which a caller allocates only if it keeps it: ParseMAC is inlined
	}
	return m, nil
}

// parseMAC is ParseMAC without words for what is wrong.
func parseMAC(s string) (m MAC, ok bool) {
	if len(s) != 12 && len(s) != 17 {
		return m, false
	}
	digits := append(make([]byte, 0, 17), s...)
	if len(s) == 17 && (s[2] == ':' || s[2] == '-') {
		digits = slices.DeleteFunc(digits, func(c byte) bool { return c == s[2] })
	}
	if len(digits) != 12 {
		return m, false
	}
	_, err := hex.Decode(m[:], digits)
	return m, err == nil
}

// notMAC is the error of a text that is no address. Its words are made when they are
// asked for: that a name is no address is the usual case where it may be either.
type notMAC string

func (s notMAC) Error() string {
	return fmt.Sprintf("mac %.32q: want six octets such as 02:bb:00:00:00:31", string(s))
}

// String returns the text form, or "" for the zero MAC.
func (m MAC) String() string {
	return string(m.Append(make([]byte, 0, 17)))
}

// Append appends the text form.
func (m MAC) Append(b []byte) []byte {
	if m.IsZero() {
		return b
	}
	const digits = "0123456789abcdef"
	for i, octet := range m {
		if i > 0 {
			b = append(b, ':')
		}
		b = append(b, digits[octet>>4], digits[octet&15])
	}
	return b
}

// Name returns the twelve digits without colons: the stable wire name of a leaf
// in link ids, "02bb00000031"; "" for the zero MAC.
func (m MAC) Name() string {
	if m.IsZero() {
		return ""
	}
	return hex.EncodeToString(m[:])
}

// IsZero reports whether m is no address at all.
func (m MAC) IsZero() bool { return m == MAC{} }

// MarshalText returns the text form.
func (m MAC) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText accepts what ParseMAC accepts, and "" for the zero MAC.
func (m *MAC) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*m = MAC{}
		return nil
	}
	parsed, err := ParseMAC(string(text))
	if err != nil {
		return err
	}
	*m = parsed
	return nil
}
