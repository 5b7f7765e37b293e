package command

import (
	"cmp"
	"fmt"
	"slices"

	"sensegate/motion/fault"
)

// mistakes collects what is wrong with a body.
type mistakes []fault.Detail

func (m *mistakes) add(location, format string, args ...any) {
	*m = append(*m, fault.Detail{Location: location, Message: fmt.Sprintf(format, args...)})
}

// fault returns an Invalid fault with the mistakes by location, nil when there
// are none.
func (m mistakes) fault() error {
	if len(m) == 0 {
		return nil
	}
	slices.SortStableFunc(m, func(a, b fault.Detail) int {
		return cmp.Or(cmp.Compare(a.Location, b.Location), cmp.Compare(a.Message, b.Message))
	})
	return &fault.Error{Kind: fault.Invalid, Message: "request is not valid", Details: m}
}
