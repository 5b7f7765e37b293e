// Package support makes the bundle that is sent to who helps with an appliance: plain files in a zip, in
// which nothing leads back to a household. Names are replaced by stand-ins such as network-1, the same in
// every file of a bundle; of free text only what is known to be harmless stays.
//
// It must not know the engine, the database, or who asks for a bundle.
package support

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Names gives names their stand-ins. The zero value knows none. It must not be used concurrently.
type Names struct {
	things map[string]string // stand-ins of things, by their kind and each of their ids in lower case
	stands map[string]string // by the name in lower case; dropped: several things have it
	counts map[string]int    // of stand-ins, by kind
	kept   map[string]bool   // words that may be shown although they look like names
	match  *regexp.Regexp    // every name; nil: to be made
}

// Add returns the stand-in of a thing, such as room-2, and has its ids replaced by it. An id names one
// thing of a kind alone: what several may have, such as a maker, is for Also. Empty ids are none. A thing
// one of whose ids is known has the stand-in of that.
func (n *Names) Add(kind string, ids ...string) (stand string) {
	if n.things == nil {
		n.things, n.stands, n.counts = map[string]string{}, map[string]string{}, map[string]int{}
	}
	ids = slices.DeleteFunc(ids, func(id string) bool { return folded(id) == "" })
	for _, id := range ids {
		if stand = n.things[kind+" "+folded(id)]; stand != "" {
			break
		}
	}
	if stand == "" && len(ids) > 0 {
		n.counts[kind]++
		stand = fmt.Sprint(kind, "-", n.counts[kind])
	}
	for _, id := range ids {
		if at := kind + " " + folded(id); n.things[at] == "" {
			n.things[at] = stand
		}
	}
	n.Also(stand, ids...)
	return stand
}

// Also has further names of a thing replaced by its stand-in in texts. A name that several things have
// tells neither: it is dropped. A host that every machine has is no name.
func (n *Names) Also(stand string, names ...string) {
	for _, name := range names {
		switch known := n.stands[folded(name)]; {
		case folded(name) == "" || known == stand || everyHost().MatchString(name):
		case known == "":
			n.stands[folded(name)], n.match = stand, nil
		default:
			n.stands[folded(name)] = dropped
		}
	}
}

// Server returns the stand-in of a host, or the host itself where every machine has it.
func (n *Names) Server(host string) string {
	if everyHost().MatchString(host) {
		return host
	}
	return n.Add("server", host)
}

// known returns the stand-in of the thing that alone has one of some names, "" when there is none.
func (n *Names) known(names ...string) string {
	for _, name := range names {
		if stand := n.stands[folded(name)]; stand != "" && stand != dropped {
			return stand
		}
	}
	return ""
}

func folded(name string) string { return strings.ToLower(strings.TrimSpace(name)) }

// Keep has words shown that Text would drop, such as keys of the configuration.
func (n *Names) Keep(words ...string) {
	if n.kept == nil {
		n.kept = map[string]bool{}
	}
	for _, word := range words {
		n.kept[word] = true
	}
}

// dropped stands for what is not shown.
const dropped = "…"

// Text returns a text for people in which names have become stand-ins and every word is left out that
// could be a name, an address, an id or a secret. What stays, and where, is decided thus:
//
//  1. In quotes there is a value: its stand-in if it is a name, else "…".
//  2. A phrase of the program, two words and more, stays letter by letter. A value hardly makes one.
//  3. A name becomes its stand-in, unless each of its words occurs in phrases: a person may be called
//     Free, and "23047 MiB are person-1" would tell it. Such a name is treated like any other word.
//  4. Of the rest short numbers, keys of the configuration and a few single words of ours stay; every
//     other word becomes "…", so that hosts that nobody told this program of do not stand in it.
//
// So whether an ordinary word is a name changes nothing outside quotes, and nothing can be read from it.
func (n *Names) Text(text string) string {
	var out strings.Builder
	if line := inFile().FindStringSubmatch(text); line != nil {
		return n.Text(line[1]) + line[2] + n.Text(text[len(line[0]):])
	}
	key := ours().leading(text)
	out.WriteString(key)
	text = text[len(key):]
	at := 0
	for _, quoted := range inQuotes().FindAllStringIndex(text, -1) {
		out.WriteString(n.unquoted(text[at:quoted[0]]))
		at = quoted[1]
		if stand := n.stands[folded(strings.Trim(text[quoted[0]:at], `"`))]; stand != "" && stand != dropped {
			out.WriteString(`"` + stand + `"`)
		} else {
			out.WriteString(dropped)
		}
	}
	out.WriteString(n.unquoted(text[at:]))
	return out.String()
}

// unquoted is Text of what is not in quotes.
func (n *Names) unquoted(text string) string {
	var out strings.Builder
	at := 0
	for _, m := range n.find(text) {
		out.WriteString(phrased(text[at:m.begin], n.words))
		out.WriteString(m.stand)
		at = m.end
	}
	out.WriteString(phrased(text[at:], n.words))
	return out.String()
}

// phrased returns a text with its phrases as they are, and what other makes of the rest.
func phrased(text string, other func(string) string) string {
	var out strings.Builder
	at := 0
	for _, phrase := range ours().find(text) {
		out.WriteString(other(text[at:phrase.begin]))
		out.WriteString(text[phrase.begin:phrase.end])
		at = phrase.end
	}
	out.WriteString(other(text[at:]))
	return out.String()
}

// Lines is Text of each line of a text.
func (n *Names) Lines(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		out.WriteString(n.Text(strings.TrimSpace(line)) + "\n")
	}
	return out.String()
}

// inFile begins a text about a line of a file.
var inFile = pattern(`^(/\S*|[A-Za-z0-9_.-]+\.ya?ml)(:[0-9]{1,5}: )`)

// inQuotes is a text in quotes, as strconv writes it, perhaps cut short.
var inQuotes = pattern(`"(\\.|[^"\\])*("|\\?$)`)

// found is a name in a text with all that hangs on it, by bytes.
type found struct {
	begin, end int
	stand      string
}

// find returns the names in a text, in order.
func (n *Names) find(text string) (list []found) {
	if n.match == nil {
		n.match = n.pattern()
	}
	phrases := ours().find(text)
	for _, at := range n.match.FindAllStringIndex(text, -1) {
		begin, end := at[0], at[1]
		if slices.ContainsFunc(phrases, func(p found) bool { return p.begin <= begin && end <= p.end }) {
			continue // a part of a phrase
		}
		stand, known := n.stands[strings.ToLower(text[begin:end])]
		if !known {
			stand = dropped // it folds in another way
		}
		if letterBefore(text[:begin]) || letterAfter(text[end:]) { // part of another word
			if utf8.RuneCountInString(text[begin:end]) < 4 {
				continue
			}
			stand = dropped // another thing may be called so
		}
		// What hangs on a name may be the rest of a longer one.
		begin = strings.LastIndexAny(text[:begin], " \t\n([{<\"'=") + 1
		if more := strings.IndexAny(text[end:], " \t\n)]}>\"',;=…"); more >= 0 {
			end += more
		} else {
			end = len(text)
		}
		for end > at[1] && strings.HasSuffix(text[:end], ":") {
			end--
		}
		if port := behindHost().FindStringSubmatchIndex(text[begin:end]); port != nil {
			end = begin + port[2]
		}
		if behind := text[at[1]:max(at[1], end)]; ownFile().MatchString(behind) && strings.HasPrefix(stand, "state-dir-") {
			stand += behind
		}
		if len(list) > 0 && begin < list[len(list)-1].end {
			list[len(list)-1].end = max(end, list[len(list)-1].end)
			continue
		}
		list = append(list, found{begin, end, stand})
	}
	return list
}

// behindHost finds the port behind a host, perhaps of a URL: behind an IPv6 address without brackets is none.
var behindHost = pattern(`^(?:[a-z0-9+]+://)?[^:]*(:[0-9]{1,5})\.?$`)

// ownFile is what the appliance keeps in its state directory.
var ownFile = pattern(`^/(?:backups|provision\.begun|provision\.yaml|recordings|sensegate\.db|sensegate\.sock|signing\.json|tls)$`)

func letterBefore(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(text)
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

func letterAfter(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// pattern returns an expression that is compiled when it is first used: hardly any appliance ever makes a bundle, and each
// would hold 0.4 MB for it.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// nothing matches no text.
var nothing = pattern(`[^\s\S]`)

// pattern returns what matches every name but single letters, plain numbers and ordinary words, the longest first.
func (n *Names) pattern() *regexp.Regexp {
	var names []string
	for name := range n.stands {
		if utf8.RuneCountInString(name) > 1 && strings.Trim(name, "0123456789") != "" && !n.kept[name] && !ours().has(name) {
			names = append(names, regexp.QuoteMeta(name))
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	if len(names) == 0 {
		return nothing()
	}
	match, err := regexp.Compile(`(?i)(?:` + strings.Join(names, "|") + `)`)
	if err != nil {
		return regexp.MustCompile(`[\s\S]`) // all of it may be a name
	}
	return match
}

// words returns a text without the words that may not be shown.
func (n *Names) words(text string) string {
	var out strings.Builder
	at := 0
	all := cores(text)
	number := func(i int) bool { return i >= 0 && i < len(all) && aNumber().MatchString(all[i].text) }
	for i, w := range all {
		out.WriteString(text[at:w.begin])
		at = w.end
		before := text[strings.LastIndexAny(text[:w.begin], " \t\n")+1 : w.begin]
		behind, _, _ := strings.Cut(text[w.end:]+" ", " ")
		switch {
		case strings.Contains(behind, "::"), strings.Contains(before+w.text, "::") && w.text != "1" && !harmless().MatchString(before+w.text):
			out.WriteString(dropped) // an IPv6 address
		case number(i) && (number(i-1) || number(i+1)):
			out.WriteString(dropped) // a telephone number, or a place on a map
		case harmless().MatchString(before + w.text):
			out.WriteString(w.text)
		case n.kept[w.text] || singles[w.text] || servers[w.text] || ours().isKey(w.text) || harmless().MatchString(w.text):
			out.WriteString(w.text)
		case hasPort().MatchString(w.text):
			out.WriteString(dropped + w.text[strings.LastIndexByte(w.text, ':'):])
		default:
			out.WriteString(dropped)
		}
	}
	out.WriteString(text[at:])
	return out.String()
}

var (
	// harmless is a short number, a range, a duration or size, or an address that every machine has.
	harmless = pattern(`^(?:[0-9]{1,5}(?:\.[0-9]{1,3})?(?:h|m|s|ms|µs|B|[KMG]i?B)?|-?[0-9]{1,5}\.\.-?[0-9]{1,5}` +
		`|(?:[0-9]{1,4}(?:\.[0-9]{1,9})?(?:h|m|s|ms|µs)){1,3}` +
		`|(?:127\.0\.0\.1|0\.0\.0\.0|\[::1?\]|localhost)(?::[0-9]{1,5})?)$`)
	// aNumber is one without a unit.
	aNumber = pattern(`^[-+]?[0-9]+(?:[./-][0-9]+)*$`)
	// hasPort is an address with a port: an IPv6 address without brackets is none.
	hasPort = pattern(`^(?:[^:]*\.[^:]*|\[[^\]]*\]):[0-9]{1,5}$`)
)

// singles are words that may stand alone: what joins values, units, and what begins the errors of libraries.
var singles = wordSet(`a an and are as at but by for from in is it not of on or than that the to was which with
	-- B EOF GiB Hz KiB MB MHz MiB ms s UTC
	HTTP HTTPS JSON MQTT PEM TCP TLS UDP configuration connect disconnected environment found http json lookup missing mkdir mmap mqtt nobody open process read remove rename root sensegate stat statfs tcp tls udp user want write x509`)

// servers are common programs that listen on ports.
var servers = wordSet(`AdGuardHome apache2 avahi-daemon busybox caddy conmon containerd dnsmasq docker-proxy emqx esphome grafana haproxy hass homeassistant
	httpd influxd java lighttpd mosquitto nanomq nginx node node-red nodejs pihole-FTL podman prometheus python python3 redis-server rootlessport
	smbd sshd systemd systemd-resolve tor traefik udhcpd uhttpd umdns vernemq victoria-metric zigbee2mqtt`)

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(list) {
		set[word] = true
	}
	return set
}
