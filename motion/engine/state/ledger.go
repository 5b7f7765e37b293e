package state

import (
	"sort"
	"sync"

	"sensegate/motion"
)

// Bounds of the ledger: devices it remembers, reasons per device, bytes kept of
// a message.
const (
	ledgerDevices = 512
	ledgerReasons = 32
	ledgerSample  = 256
	ledgerLines   = 60 // log lines a minute over all devices: strangers can invent names
)

// Refused counts what was refused of one device for one reason.
type Refused struct {
	Reason string      `json:"reason"`
	Count  int         `json:"count"`
	Last   motion.Time `json:"last"`
	Sample string      `json:"sample,omitempty"` // start of the last message, printable
}

// ledger counts bad input and refusals per device and reason: what explains a
// device that does not work. It is bounded; the device that was quiet longest
// makes room.
type ledger struct {
	mu      sync.Mutex
	devices map[string]*account
	minute  motion.Time // when the present minute of logging began
	lines   int         // logged in it
}

type account struct {
	reasons map[string]*Refused
	last    motion.Time
	logged  motion.Time
}

// add counts one refusal and reports whether it is time to log it: at most once
// a minute per device, and ledgerLines a minute in all.
func (l *ledger) add(device, reason string, sample []byte, now motion.Time) (log bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.devices == nil {
		l.devices = map[string]*account{}
	}
	a := l.devices[device]
	if a == nil {
		l.makeRoom()
		a = &account{reasons: map[string]*Refused{}}
		l.devices[device] = a
	}
	a.last = now
	r := a.reasons[reason]
	if r == nil {
		if len(a.reasons) >= ledgerReasons {
			reason = "other"
		}
		if r = a.reasons[reason]; r == nil {
			r = &Refused{Reason: reason}
			a.reasons[reason] = r
		}
	}
	r.Count++
	r.Last = now
	r.Sample = printable(sample)
	if now.Since(l.minute) >= 60 {
		l.minute, l.lines = now, 0
	}
	if now.Since(a.logged) < 60 || l.lines >= ledgerLines {
		return false
	}
	a.logged = now
	l.lines++
	return true
}

// makeRoom drops the account that was quiet longest; l.mu is held.
func (l *ledger) makeRoom() {
	if len(l.devices) < ledgerDevices {
		return
	}
	oldest := ""
	for name, a := range l.devices {
		if oldest == "" || a.last < l.devices[oldest].last {
			oldest = name
		}
	}
	delete(l.devices, oldest)
}

// Of returns what was refused of a device, most frequent first.
func (l *ledger) Of(device string) []Refused {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.devices[device]
	if a == nil {
		return nil
	}
	list := make([]Refused, 0, len(a.reasons))
	for _, r := range a.reasons {
		list = append(list, *r)
	}
	sort.Slice(list, func(i, j int) bool {
		if list[i].Count != list[j].Count {
			return list[i].Count > list[j].Count
		}
		return list[i].Reason < list[j].Reason
	})
	return list
}

// Names returns the devices that have an account.
func (l *ledger) Names() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	names := make([]string, 0, len(l.devices))
	for name := range l.devices {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// printable returns the start of a message with everything but printable ASCII
// replaced by dots.
func printable(message []byte) string {
	b := append([]byte(nil), message[:min(len(message), ledgerSample)]...)
	for i, c := range b {
		if c < 0x20 || c > 0x7e {
			b[i] = '.'
		}
	}
	return string(b)
}
