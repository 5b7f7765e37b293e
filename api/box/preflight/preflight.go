// Package preflight looks whether a machine lets the appliance work, before it listens and whenever
// somebody asks: the state directory, the disk, the clock, files that may be open, memory, ports. Each
// finding is one line with what to do. Nothing is changed but an empty file, which is made and removed.
package preflight

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Grade is how a finding is.
type Grade int

// Grades of findings, the worst last.
const (
	Fine    Grade = iota
	Warning       // it works, but not as it should
	Wrong         // it does not work
)

// String is how a grade is shown.
func (g Grade) String() string { return [...]string{"ok", "warning", "wrong"}[g] }

// Finding is what one look found.
type Finding struct {
	What  string // that was looked at, such as "http.listen"
	Grade Grade
	Says  string // what was found
	Fix   string // what to do, a sentence; "": nothing
}

// String returns the finding as one line.
func (f Finding) String() string {
	line := f.What + ": " + f.Says
	if f.Fix != "" {
		line += ". " + f.Fix
	}
	return line
}

// Port is an address that the appliance is to listen on.
type Port struct {
	Key     string // of the configuration
	Network string // tcp or udp
	Address string // host:port
}

// Needs is what an appliance needs.
type Needs struct {
	StateDir string
	Database string    // file name in StateDir
	LogFile  string    // "": none
	MinFree  int64     // bytes that are to stay free on the disk
	Files    int       // that may have to be open at once
	Built    time.Time // the clock is wrong before that
	Memory   uint64    // bytes of the machine or container; 0: unknown
	Ports    []Port
	Running  int // process id of an appliance that serves this state directory; 0: none
}

// leastMemory is the least memory of a machine, in bytes, that the product is made for.
const leastMemory = 48 << 20

// Look returns every finding, in the order in which somebody should read them.
func Look(n Needs, now time.Time) []Finding {
	found := n.disk()
	found = append(found, n.clock(now), n.files())
	if n.Memory > 0 {
		found = append(found, n.memory())
	}
	if n.LogFile != "" {
		found = append(found, n.logFile())
	}
	var idle []string // keys of ports that the appliance that runs would have, if it had this configuration
	for _, p := range n.Ports {
		f := p.look(n.Running)
		if f.Says == p.free() && !strings.HasSuffix(p.Address, ":0") {
			idle = append(idle, p.Key)
		}
		found = append(found, f)
	}
	if n.Running != 0 && len(idle) > 0 {
		found = append(found, n.second(idle))
	}
	return found
}

// second tells of an appliance that runs on the state directory with another configuration than this one.
func (n Needs) second(idle []string) Finding {
	return Finding{
		What: "state_dir", Grade: Warning,
		Says: fmt.Sprintf("an appliance runs on %s (process %d) with another configuration: it does not listen as %s says", n.StateDir, n.Running, strings.Join(idle, ", ")),
		Fix:  "Restart it where the configuration was changed; for a second appliance set state_dir to a directory of its own",
	}
}

// Worst returns the worst grade.
func Worst(found []Finding) Grade {
	return slices.MaxFunc(found, func(a, b Finding) int { return cmp.Compare(a.Grade, b.Grade) }).Grade
}

// Show writes the findings of at least a grade, one line each.
func Show(w io.Writer, found []Finding, from Grade) {
	for _, f := range found {
		if f.Grade >= from {
			fmt.Fprintf(w, "%-7s  %s\n", f.Grade, f)
		}
	}
}

// farAhead is how long after the last write to the database a clock is taken to be wrong.
const farAhead = 400 * 24 * time.Hour

// clock looks at the time.
func (n Needs) clock(now time.Time) Finding {
	f := Finding{What: "clock", Says: now.UTC().Format("2006-01-02 15:04:05") + " UTC"}
	if now.Before(n.Built) {
		f.Grade = Warning
		f.Says += ", which is before this program was made: it is not set"
		f.Fix = "Let the machine fetch the time (timedatectl set-ntp true; on OpenWrt: /etc/init.d/sysntpd enable); what is stored meanwhile is stamped anew then"
	}
	if info, err := os.Stat(filepath.Join(n.StateDir, n.Database)); err == nil && now.Sub(info.ModTime()) > farAhead {
		f.Grade = Warning
		f.Says += fmt.Sprintf(", more than a year after the database was last written (%s): it is ahead, or the appliance was off for that long", info.ModTime().UTC().Format(time.DateOnly))
		f.Fix = "Compare it with another clock before the start: what is stored by a clock that is ahead stays in the future"
	}
	return f
}

// memory looks at how much memory there is.
func (n Needs) memory() Finding {
	f := Finding{What: "memory", Says: mib(n.Memory)}
	if n.Memory < leastMemory {
		f.Grade = Warning
		f.Says += fmt.Sprintf(", it is made for %s and more", mib[uint64](leastMemory))
		f.Fix = "Give the container more, or use swap on zram"
	}
	return f
}

// mib shows a number of bytes.
func mib[N uint64 | int64](bytes N) string { return fmt.Sprintf("%d MiB", bytes>>20) }
