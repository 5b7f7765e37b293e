package support

import (
	"fmt"
	"log/slog"
	"regexp"
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

// Log returns the lines that may be shown, the oldest first, and says how many are left out. lines are
// the newest first.
func (n *Names) Log(lines []logtail.Line) string {
	var out strings.Builder
	left := 0
	for i := len(lines) - 1; i >= 0; i-- {
		if text, ok := n.logLine(lines[i].Text); ok {
			fmt.Fprintf(&out, "%s %-5s %s\n", lines[i].At.UTC().Format(time.DateTime), lines[i].Level.Level(), text)
		} else {
			left++
		}
	}
	fmt.Fprintf(&out, "\n%d lines are left out: they tell what people do or where motion was, or are not known here.\n", left)
	return out.String()
}

// logLine returns a line that may be shown. The message is one of ours, letter by letter; every value is
// looked at by its key.
func (n *Names) logLine(line string) (shown string, ok bool) {
	message := ""
	for _, one := range machine {
		behind, is := strings.CutPrefix(line, one)
		if is && len(one) > len(message) && (behind == "" || value.MatchString(behind) || strings.HasPrefix(behind, dropped)) {
			message = one
		}
	}
	if message == "" {
		return "", false
	}
	shown = message
	for rest := line[len(message):]; ; {
		m := value.FindString(rest)
		if m == "" {
			return shown, true
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
