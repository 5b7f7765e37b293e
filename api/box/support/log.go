package support

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"sensegate/api/logtail"
)

// timing says when a line of the log keeps its time in a bundle.
type timing int

const (
	never   timing = iota // somebody at home, a device of theirs or motion may bring it about
	atStart               // likewise, but not in the minute around a start
	always                // the life of the box itself brings it about
)

// machine are the messages of the log that tell of the machine, its disk, its connections and devices, and
// when they keep their time. What people do, ask for or are told, and what motion brings about, is not among
// them: a line whose message is not here is left out.
var machine = map[string]timing{
	"a record cannot be read and is lost":                                        always,
	"accept failed, trying again":                                                always,
	"an index was damaged: all were rebuilt from their records, nothing is lost": always,
	"backup cannot be restored":                                                  always,
	"backup cannot be used":                                                      always,
	"certificate authority made":                                                 always,
	"certificate file is damaged and has been moved aside, a new one is made; after a new authority.pem, clients have to be given the new ca.pem": always,
	"certificates cannot be renewed":                                       always,
	"database backed up":                                                   always,
	"database backed up before migration":                                  always,
	"database made":                                                        always,
	"database migrated":                                                    always,
	"database not backed up":                                               always,
	"database not backed up before migration":                              always,
	"database too big to be verified whole at the start":                   always,
	"entries of the journal that are not understood were deleted":          always,
	"fewer connections than configured, for want of open files":            always,
	"flush failed, will retry":                                             always,
	"free disk space unknown":                                              always,
	"health not sent":                                                      always,
	"how much memory there is cannot be read":                              always,
	"key of account digests not written: it changes at the next start":     always,
	"last backup unknown":                                                  always,
	"leftovers of backups not removed":                                     always,
	"listening":                                                            always,
	"name on the local network":                                            always,
	"name on the local network is told by another program of this machine": always,
	"nothing could be stored for too long: the oldest samples in memory are given up": always,
	"part of the last samples is lost":                                                always,
	"read-only: the disk is nearly full":                                              always,
	"ready":                                                                           always,
	"server certificate made":                                                         always,
	"server certificate not kept":                                                     always,
	"signing key not rotated: the old one goes on":                                    always,
	"signing keys are damaged and have been moved aside, new ones are made: everybody has to log in again": always,
	"storing failed: the appliance stops, so that it starts again from what is really on the disk":         always,
	"the adoption window of each network is closed whose own is not known":                                 always,
	"the box cannot be found by name":         always,
	"the clock was set":                       always,
	"the damaged database cannot be salvaged": always,
	"the database is damaged: what can be read is copied into a new file, which may take minutes": always,
	"the engine does not do its work: the supervisor is to start the process anew":                always,
	"the last run did not end in order: a power cut, a kill or a crash":                           always,
	"the last update": always,
	"the backup from before the update cannot be used":                       always,
	"the database from before the update is back":                            always,
	"the new program has failed: the next start goes back to the former one": always,
	"the new program is good":                                                always,
	"the new program is not tried at this start":                             always,
	"the new program is ready, which cannot be noted yet and is tried again": always,
	"the note of an update is not about this program and is removed":         always,
	"trying the new program":                                                 always,
	"the supervisor is not told":                                             always,
	"the supervisor's watchdog is not understood and gets no sign of life":   always,
	"the update failed: going back to the former program":                    always,
	"times from before the clock was set not corrected, will retry":          always,
	"times of an unset clock not corrected before the next start":            always,
	"tls": always,
	"what is past its retention is not deleted": always,
	"writing again: there is room on the disk":  always,

	"certificate of the owner cannot be used, the former one is shown": atStart,
	"certificate of the owner loaded":                                  atStart,
	"device connected":                                                 atStart,
	"the state of events cannot be read: it begins anew":               atStart,
	"uplink connected":                                                 atStart, // a message, such as an event, may have cut it off before
	"uplink failed":                                                    atStart,
	"uplink has trouble":                                               atStart,
	"uplink started":                                                   atStart,
	"uplink was ahead of the clock":                                    atStart,
	"what links have learned cannot be read: they learn anew":          atStart,

	"a record cannot be read and is left out": never,
	"bad input":                                              never,
	"bridge state":                                           never,
	"commands not advanced, will retry":                      never,
	"connection panicked":                                    never,
	"cursor of an uplink not stored":                         never,
	"damaged samples left out of sums":                       never,
	"damaged samples not stamped anew":                       never,
	"damaged samples skipped":                                never,
	"device disconnected":                                    never,
	"event cannot be sent":                                   never,
	"events were no longer kept when an uplink came to them": never,
	"frames of a node not taken in":                          never,
	"gatekeeper cannot answer":                               never,
	"lines of a node not read":                               never,
	"login failed":                                           never,
	"message of multicast DNS not sent":                      never,
	"name on the local network is taken":                     never,
	"networks of this box not read":                          never,
	"node not let in":                                        never,
	"node of ESPectre not followed":                          never,
	"nodes of ESPectre not looked for":                       never,
	"part of an uplink panicked":                             never,
	"reading from the broker panicked":                       never,
	"step panicked":                                          never,
	"the address of a node belongs to another device now":    never,
	"will not stored":                                        never,
}

// atOnce is how long after its cause a line may follow: what comes within it before or after "ready"
// belongs to the start.
const atOnce = time.Minute

// Log returns the lines that may be shown, the oldest first, and says how many are left out. Lines that may
// tell when somebody did something, or where motion was, stand at the end, without a time and by the
// alphabet. lines are the newest first.
func (n *Names) Log(lines []logtail.Line) string {
	var out strings.Builder
	untimed := map[string]int{} // how often each line is there
	left := 0
	near := starts(lines)
	for i := len(lines) - 1; i >= 0; i-- {
		at := lines[i].At
		message, text := n.logLine(lines[i].Text)
		if message == "" {
			left++
			continue
		}
		line := fmt.Sprintf("%-5s %s", lines[i].Level.Level(), text)
		switch keeps := machine[message]; {
		case keeps == always, keeps != never && near(at):
			fmt.Fprintf(&out, "%s %s\n", at.UTC().Format(time.DateTime), line)
		default:
			untimed[line]++
		}
	}
	if len(untimed) > 0 {
		out.WriteString("\nWithout their times, as somebody or motion may have brought them about:\n")
	}
	for _, line := range slices.Sorted(maps.Keys(untimed)) {
		out.WriteString(line + often(untimed[line]) + "\n")
	}
	fmt.Fprintf(&out, "\nLines left out, as they tell what people do or where motion was, or are not known here: %s.\n", About(left))
	return out.String()
}

// often says about how often a line is there.
func often(times int) string {
	if times == 1 {
		return ""
	}
	return " (" + About(times) + " times)"
}

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
	for one := range machine {
		behind, is := strings.CutPrefix(line, one)
		if is && len(one) > len(message) && (behind == "" || value().MatchString(behind) || strings.HasPrefix(behind, dropped)) {
			message = one
		}
	}
	if message == "" {
		return "", ""
	}
	shown = message
	for rest := line[len(message):]; ; {
		m := value().FindString(rest)
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
	value      = pattern(`^ [a-z0-9_.]+=(?:"(?:\\.|[^"\\])*(?:"|\\?$)|[^\s"]*)`)
	plainName  = pattern(`^[a-z][a-z_0-9]{0,30}$`)
	systemName = pattern(`^(?:bond|br|en|eth|lan|lo|usb|wan|wl|wlan)[0-9-]{0,6}(?:[a-z][0-9]{1,3}){0,4}$`) // of an interface
	goFile     = pattern(`[a-z0-9_]+\.go:[0-9]+`)
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
		return strings.Join(goFile().FindAllString(text, -1), " "), true
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
		if systemName().MatchString(text) {
			return text, true
		}
	case "bucket", "listener", "protocol", "kind":
		if plainName().MatchString(text) {
			return text, true
		}
	case "bytes", "free_bytes": // a backup grows with what happens at home
		if number, err := strconv.ParseInt(text, 10, 64); err == nil {
			return strconv.FormatInt(Round(number), 10), true
		}
	case "attempts", "backups", "by_s", "files", "http.max_connections", "missing", "mqtt.max_connections", "schema",
		"silent_s", "unclean_stops", "wanted_bytes", "entries", "online":
		if plainValue().MatchString(text) || harmless().MatchString(text) {
			return text, true
		}
	}
	return "", false
}

// Least is the lowest level of lines that a bundle has.
const Least = slog.LevelDebug
