package support

import (
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"sensegate/api/logtail"
)

// machine are the messages of the log that tell of the machine, its disk, its connections and devices. What
// people do, asks for or are told, and what motion brings about, is not among them: a line whose
// message is not here is left out.
var machine = []string{
	"accept failed, trying again",
	"bad input",
	"bridge state",
	"certificate authority made",
	"certificate file is damaged and has been moved aside, a new one is made; after a new authority.pem, clients have to be given the new ca.pem",
	"certificate of the owner cannot be used, the former one is shown",
	"certificate of the owner loaded",
	"certificates cannot be renewed",
	"commands not advanced, will retry",
	"connection panicked",
	"cursor of an uplink not stored",
	"damaged samples left out of sums",
	"damaged samples not stamped anew",
	"damaged samples skipped",
	"database backed up",
	"database backed up before migration",
	"database made",
	"database migrated",
	"database not backed up",
	"database not backed up before migration",
	"database too big to be verified whole at the start",
	"device connected",
	"device disconnected",
	"entries of the journal that are not understood were deleted",
	"event cannot be sent",
	"events were no longer kept when an uplink came to them",
	"fewer connections than configured, for want of open files",
	"flush failed, will retry",
	"frames of a node not taken in",
	"free disk space unknown",
	"gatekeeper cannot answer",
	"health not sent",
	"how much memory there is cannot be read",
	"key of account digests not written: it changes at the next start",
	"last backup unknown",
	"leftovers of backups not removed",
	"lines of a node not read",
	"listening",
	"login failed",
	"message of multicast DNS not sent",
	"name on the local network",
	"name on the local network is taken",
	"name on the local network is told by another program of this machine",
	"networks of this box not read",
	"node not let in",
	"node of ESPectre not followed",
	"nodes of ESPectre not looked for",
	"nothing could be stored for too long: the oldest samples in memory are given up",
	"part of an uplink panicked",
	"part of the last samples is lost",
	"reading from the broker panicked",
	"read-only: the disk is nearly full",
	"ready",
	"server certificate made",
	"server certificate not kept",
	"signing key not rotated: the old one goes on",
	"signing keys are damaged and have been moved aside, new ones are made: everybody has to log in again",
	"step panicked",
	"storing failed: the appliance stops, so that it starts again from what is really on the disk",
	"the address of a node belongs to another device now",
	"the adoption window of each network is closed whose own is not known",
	"the box cannot be found by name",
	"the clock was set",
	"the damaged database cannot be salvaged",
	"the database is damaged: what can be read is copied into a new file, which may take minutes",
	"the engine does not do its work: the supervisor is to start the process anew",
	"the last run did not end in order: a power cut, a kill or a crash",
	"the last update",
	"the program went back after an update, and its database with it",
	"the update failed: the former program runs again",
	"the state of events cannot be read: it begins anew",
	"the supervisor is not told",
	"the supervisor's watchdog is not understood and gets no sign of life",
	"times from before the clock was set not corrected, will retry",
	"times of an unset clock not corrected before the next start",
	"tls",
	"a record cannot be read and is left out",
	"a record cannot be read and is lost",
	"an index was damaged: all were rebuilt from their records, nothing is lost",
	"backup cannot be restored",
	"backup cannot be used",
	"uplink connected",
	"uplink failed",
	"uplink has trouble",
	"uplink started",
	"uplink was ahead of the clock",
	"what is past its retention is not deleted",
	"what links have learned cannot be read: they learn anew",
	"will not stored",
	"writing again: there is room on the disk",
}

// acts are those messages of machine that somebody may have brought about at that time, who added an uplink,
// renewed a certificate or looked at the history, and those that come when there was motion.
var acts = map[string]bool{
	"a record cannot be read and is left out":                          true,
	"certificate of the owner cannot be used, the former one is shown": true,
	"certificate of the owner loaded":                                  true,
	"damaged samples skipped":                                          true,
	"event cannot be sent":                                             true,
	"uplink started":                                                   true,
}

// acted is such a line of another message: somebody tries a password, or removes or replaces a device.
var acted = regexp.MustCompile(`^(?:bad input .*login refused|device disconnected .*(?:deleted|removed|replaced|goes to another box))`)

// atOnce is how long after its cause a line may follow: what comes within it before or after "ready"
// belongs to the start, and what an uplink says within it after it was started to that.
const atOnce = time.Minute

// Log returns the lines that may be shown, the oldest first, and says how many are left out. Lines that may
// tell when somebody did something stand at the end, without a time and by the alphabet, unless
// they belong to a start. lines are the newest first.
func (n *Names) Log(lines []logtail.Line) string {
	var out strings.Builder
	var untimed []string
	left := 0
	near := starts(lines)
	begun, seen := map[string]time.Time{}, map[string]bool{}
	for i := len(lines) - 1; i >= 0; i-- {
		at := lines[i].At
		message, text := n.logLine(lines[i].Text)
		about := thing.FindString(text)
		first := message == "device connected" && !seen[about]
		seen[about] = seen[about] || first
		if message == "uplink started" {
			begun[about] = at
		}
		of, fresh := begun[about]
		switch {
		case message == "":
			left++
		case !near(at) && (first || acts[message] || acted.MatchString(lines[i].Text) || fresh && at.Sub(of) <= atOnce):
			if line := fmt.Sprintf("%-5s %s\n", lines[i].Level.Level(), text); !slices.Contains(untimed, line) {
				untimed = append(untimed, line)
			}
		default:
			fmt.Fprintf(&out, "%s %-5s %s\n", at.UTC().Format(time.DateTime), lines[i].Level.Level(), text)
		}
	}
	if len(untimed) > 0 {
		slices.Sort(untimed)
		fmt.Fprintf(&out, "\nWithout their times, as somebody may have brought them about:\n%s", strings.Join(untimed, ""))
	}
	fmt.Fprintf(&out, "\n%d lines are left out: they tell what people do or where motion was, or are not known here.\n", left)
	return out.String()
}

// thing is the device or uplink that a shown line is about.
var thing = regexp.MustCompile(` (?:device|uplink)=\S+`)

// starts returns what tells whether a time belongs to a start of the appliance.
func starts(lines []logtail.Line) func(time.Time) bool {
	var ready []time.Time
	for _, l := range lines {
		if l.Text == "ready" || strings.HasPrefix(l.Text, "ready http=") {
			ready = append(ready, l.At)
		}
	}
	return func(at time.Time) bool {
		return slices.ContainsFunc(ready, func(r time.Time) bool { return at.Sub(r).Abs() <= atOnce })
	}
}

// logLine returns the message of a line and the line as it may be shown; "": it may not. The message is
// one of ours, letter by letter; every value is looked at by its key.
func (n *Names) logLine(line string) (message, shown string) {
	for _, one := range machine {
		behind, is := strings.CutPrefix(line, one)
		if is && len(one) > len(message) && (behind == "" || value.MatchString(behind) || strings.HasPrefix(behind, dropped)) {
			message = one
		}
	}
	if message == "" {
		return "", ""
	}
	shown = message
	for rest := line[len(message):]; ; {
		m := value.FindString(rest)
		if m == "" {
			return message, shown
		}
		name, text, _ := strings.Cut(strings.TrimSpace(m), "=")
		if whole, err := strconv.Unquote(text); err == nil {
			text = whole
		}
		rest = rest[len(m):]
		if text, known := n.logValue(name, text); known {
			shown += " " + name + "=" + text
		}
	}
}

var (
	// value is one key=value of a line, as slog writes it; the last one may be cut off.
	value      = regexp.MustCompile(`^ [a-z0-9_.]+=(?:"(?:\\.|[^"\\])*(?:"|\\?$)|[^\s"]*)`)
	plainName  = regexp.MustCompile(`^[a-z][a-z_0-9]{0,30}$`)
	systemName = regexp.MustCompile(`^(?:bond|br|en|eth|lan|lo|usb|wan|wl|wlan)[0-9-]{0,6}(?:[a-z][0-9]{1,3}){0,4}$`) // of an interface
	goFile     = regexp.MustCompile(`[a-z0-9_]+\.go:[0-9]+`)
)

// logValue returns a value of a line of the log as it may be shown; known is false for one that is not
// shown at all.
func (n *Names) logValue(name, text string) (shown string, known bool) {
	switch name {
	case "err", "why", "reason", "damage", "trouble", "lost", "pause", "state", "path", "aside", "restored", "what":
		return strings.TrimSpace(n.Text(text)), true
	case "panic":
		if !strings.HasPrefix(text, "runtime error:") {
			return dropped, true
		}
		return n.Text(text), true
	case "stack":
		return strings.Join(goFile.FindAllString(text, -1), " "), true
	case "device", "node":
		if i := strings.IndexByte(text, '/'); i >= 0 {
			text = text[i+1:]
		}
		if strings.Trim(text, "0123456789") == "" {
			text = "node " + text
		}
		return n.Add("device", text), true
	case "network":
		return n.Add("network", "network "+text), true
	case "uplink":
		return n.Add("uplink", text), true
	case "interface":
		if systemName.MatchString(text) {
			return text, true
		}
	case "bucket", "listener", "protocol", "kind":
		if plainName.MatchString(text) {
			return text, true
		}
	case "attempts", "backups", "bytes", "by_s", "files", "free_bytes", "http.max_connections", "missing", "mqtt.max_connections", "schema",
		"silent_s", "unclean_stops", "wanted_bytes", "entries", "online":
		if plainValue.MatchString(text) || harmless.MatchString(text) {
			return text, true
		}
	}
	return "", false
}

// Least is the lowest level of lines that a bundle has.
const Least = slog.LevelDebug
