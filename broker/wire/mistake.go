package wire

import (
	"fmt"
	"strings"

	"sensegate/motion/fault"
)

// malformed is the fault of input that cannot be read; invalid is that of input that can be
// read and breaks a rule. under puts the place in front of the message.
func malformed(format string, args ...any) *fault.Error {
	return fault.New(fault.Malformed, format, args...)
}

func invalid(format string, args ...any) *fault.Error {
	return fault.New(fault.Invalid, format, args...)
}

// under puts a step of the path in front of a mistake: a key, or an index such
// as "[3]".
func under(step string, err *fault.Error) *fault.Error {
	if err == nil {
		return nil
	}
	separator := ": "
	switch {
	case len(err.Details) == 0:
		err.Details = []fault.Detail{{Location: step, Message: err.Message}}
	case strings.HasPrefix(err.Details[0].Location, "["):
		separator = ""
		err.Details[0].Location = step + err.Details[0].Location
	default:
		separator = "."
		err.Details[0].Location = step + "." + err.Details[0].Location
	}
	err.Message = step + separator + err.Message
	return err
}

// item is under for the element at index i of a list.
func item(i int, err *fault.Error) *fault.Error {
	return under(fmt.Sprintf("[%d]", i), err)
}
