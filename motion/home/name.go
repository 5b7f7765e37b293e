package home

import (
	"sensegate/motion"
	"sensegate/motion/fault"
)

// WrongName is the code of a fault about a name that a person has typed.
const WrongName = "name"

// CheckName notes what motion.NameMistake says of a name. The one that was there before is right: it
// may be older than the rule, and comes back when something else is changed.
func CheckName(m *fault.Details, at, name, before string) {
	if wrong := motion.NameMistake(name); wrong != "" && name != before {
		m.Add(at, name, "%s", wrong)
	}
}

// NameFault returns an Invalid fault with what is wrong with names, nil for nothing.
func NameFault(wrong fault.Details) error {
	if len(wrong) == 0 {
		return nil
	}
	wrong.Sort()
	return &fault.Error{Kind: fault.Invalid, Code: WrongName, Message: "request is not valid", Details: wrong}
}
