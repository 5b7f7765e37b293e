package install

import (
	"fmt"
	"slices"
	"strings"

	"sensegate/firmware-sim/sim"
)

// Help lists what Do understands.
const Help = `list                            the devices, whether they have come, and their faults
next, all                       the next device comes, or all of them
walk ROOM                       somebody walks there for 20 s
stop                            they stop
refused password|network|off    the ` + RefusedNode + ` has a wrong password, or belongs to another network
deaf on|off                     the ` + DeafNode + ` is connected, without frames
moved on|off                    the ` + MovedLeaf + ` stands in the bedroom, not in the office
help                            print this text
`

// Do carries out a command of one line and returns what to print. Its errors say what is
// understood.
func (i *Installation) Do(line string) (text string, err error) {
	name, argument, _ := strings.Cut(strings.TrimSpace(line), " ")
	argument = strings.TrimSpace(argument)
	wants := []string{"walk", "refused", "deaf", "moved"}
	if slices.Contains(wants, name) != (argument != "") && name != "" {
		return "", fmt.Errorf("%q: want one of these:\n%s", line, strings.TrimSuffix(Help, "\n"))
	}
	switch name {
	case "":
		return "", nil
	case "list":
		return i.list(), nil
	case "next":
		if came, ok := i.Next(); ok {
			return came.Name + " comes\n", nil
		}
		return "all have come\n", nil
	case "all":
		i.All()
		return "all have come\n", nil
	case "walk":
		return "", i.Walk(argument)
	case "stop":
		i.Stop()
		return "", nil
	case "refused":
		if argument == "off" {
			argument = ""
		}
		return "", i.SetRefused(sim.Refusal(argument))
	case "deaf":
		return "", onOff(argument, i.SetDeaf)
	case "moved":
		return "", onOff(argument, i.SetMoved)
	case "help":
		return Help, nil
	}
	return "", fmt.Errorf("%q: want one of these:\n%s", line, strings.TrimSuffix(Help, "\n"))
}

// onOff sets a switch.
func onOff(argument string, set func(bool)) error {
	if argument != "on" && argument != "off" {
		return fmt.Errorf("%q: want on or off", argument)
	}
	set(argument == "on")
	return nil
}

// list returns the devices, one a line.
func (i *Installation) list() string {
	var text strings.Builder
	for _, d := range i.Devices() {
		state := "to come"
		if d.Here {
			state = "here"
		}
		line := fmt.Sprintf("%-8s %-18s %-12s %-22s %s", state, d.Name, d.Room, d.ID, d.Fault)
		fmt.Fprintln(&text, strings.TrimRight(line, " "))
	}
	return text.String()
}
