package sim

import (
	"encoding/json"
	"fmt"
	"time"

	"sensegate/broker/wire"
	"sensegate/motion"
)

// The states of a management command that a device sends (payloads.md 4.13).
const (
	stateRunning = "100"
	stateDone    = "200"
	stateUnknown = "404"
)

// command answers a command to one of the box's agents (device-protocol.md 2.7).
// It runs on the session's goroutine and does not block. It logs and ignores
// commands that it cannot decode.
func (b *box) command(a *agent, name string, payload []byte) {
	a.tally.commands.Add(1)
	switch name {
	case wire.CommandConfig:
		obey(a, name, payload, b.settings.apply)
	case wire.CommandLive:
		obey(a, name, payload, func(c wire.Live) { b.settings.watch(c, time.Now()) })
	case wire.CommandDeviceInfo:
		obey(a, name, payload, func(info motion.DeviceInfo) { a.answer(motion.DeviceInfoAck{MAC: info.MAC}, nil) })
	case wire.CommandManage:
		obey(a, name, payload, func(c wire.Manage) { b.manage(a, c) })
	case wire.CommandReset:
		a.log.Info("reset to factory settings")
		b.settings.reset()
		b.again(restart{reason: "reset", reset: true})
	default:
		a.log.Warn("command not known", "command", name)
	}
}

// obey decodes a command and carries it out.
func obey[C any](a *agent, name string, payload []byte, do func(C)) {
	var c C
	if len(payload) == 0 { // a retained command was cleared
		return
	}
	if err := json.Unmarshal(payload, &c); err != nil {
		a.log.Warn("command not readable", "command", name, "err", err)
		return
	}
	a.log.Info("command", "command", name)
	do(c)
}

// manage runs a management command: it answers 100 first, then the result.
func (b *box) manage(a *agent, c wire.Manage) {
	out, known := b.output(a, c.Command)
	if !known {
		a.answer(motion.ManageResult{ID: c.ID, State: stateUnknown}, nil)
		return
	}
	a.answer(motion.ManageResult{ID: c.ID, State: stateRunning}, nil)
	var sent func()
	if c.Command == "reboot" {
		sent = func() { b.again(restart{reason: "reboot"}) }
	}
	a.answer(motion.ManageResult{ID: c.ID, State: stateDone, Result: motion.Document{"out": out}}, sent)
}

// output returns the output of a management command, and whether it is known.
func (b *box) output(a *agent, command string) (string, bool) {
	switch command {
	case "reboot":
		return "", true
	case "ping":
		return "pong", true
	case "status":
		b.settings.askFull()
		return fmt.Sprintf("%s online, configuration revision %d", b.node().Name, b.settings.revision()), true
	case "config":
		text, err := json.Marshal(map[string]any{"rev": b.settings.revision(), "sounding": b.settings.sounding()})
		return string(text), err == nil
	case "log":
		counts := a.tally.counters()
		return fmt.Sprintf("%d messages, %d commands, %d connections", counts.Messages, counts.Commands, counts.Connections), true
	}
	return "", false
}
