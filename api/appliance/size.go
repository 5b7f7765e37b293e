package appliance

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Size is a number of bytes, written as 64MiB, with KiB, MiB or GiB.
type Size int64

const (
	kibibyte Size = 1 << 10
	mebibyte Size = 1 << 20
	gibibyte Size = 1 << 30
)

// UnmarshalText reads a size.
func (s *Size) UnmarshalText(text []byte) error {
	for unit, bytes := range map[string]Size{"KiB": kibibyte, "MiB": mebibyte, "GiB": gibibyte} {
		digits, ok := strings.CutSuffix(string(text), unit)
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(strings.TrimSpace(digits), 10, 32)
		if err != nil {
			break
		}
		*s = Size(n) * bytes
		return nil
	}
	return errors.New("want a size such as 64MiB")
}

// MarshalText writes the size in the largest unit that divides it.
func (s Size) MarshalText() ([]byte, error) {
	switch {
	case s%gibibyte == 0 && s > 0:
		return fmt.Appendf(nil, "%dGiB", s/gibibyte), nil
	case s%mebibyte == 0:
		return fmt.Appendf(nil, "%dMiB", s/mebibyte), nil
	}
	return fmt.Appendf(nil, "%dKiB", s/kibibyte), nil
}
