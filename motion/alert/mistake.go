package alert

import (
	"fmt"

	"sensegate/motion/fault"
)

// mistakes collects everything that is wrong with one input.
type mistakes []fault.Detail

func (m *mistakes) add(location string, value any, format string, args ...any) {
	*m = append(*m, fault.Detail{Location: location, Message: fmt.Sprintf(format, args...), Value: value})
}

// err returns nil without mistakes, else one fault.Invalid with all of them.
func (m mistakes) err() error {
	if len(m) == 0 {
		return nil
	}
	return fault.Mistakes(m...)
}
