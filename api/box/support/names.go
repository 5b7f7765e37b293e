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
	"unicode"
	"unicode/utf8"
)

// Names gives names their stand-ins. The zero value knows none. It must not be used concurrently.
type Names struct {
	stands map[string]string // by the name in lower case
	counts map[string]int    // of stand-ins, by kind
	kept   map[string]bool   // words that may be shown although they look like names
	match  *regexp.Regexp    // every name; nil: to be made
}

// Add has names of one thing replaced by one stand-in, such as room-2, which it returns. Empty names
// are none. A thing one of whose names is known has the stand-in of that.
func (n *Names) Add(kind string, names ...string) (stand string) {
	names = slices.DeleteFunc(names, func(name string) bool { return strings.TrimSpace(name) == "" })
	for _, name := range names {
		if known, ok := n.stands[key(name)]; ok {
			stand = known
			break
		}
	}
	if n.stands == nil {
		n.stands, n.counts = map[string]string{}, map[string]int{}
	}
	if stand == "" && len(names) > 0 {
		n.counts[kind]++
		stand = fmt.Sprint(kind, "-", n.counts[kind])
	}
	for _, name := range names {
		if _, known := n.stands[key(name)]; !known {
			n.stands[key(name)], n.match = stand, nil
		}
	}
	return stand
}

func key(name string) string { return strings.ToLower(strings.TrimSpace(name)) }

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
// could be a name, an address, an id or a secret: all but plain words in lower case, short numbers, and
// words of ours.
func (n *Names) Text(text string) string {
	text = inQuotes.ReplaceAllStringFunc(text, func(quoted string) string {
		if _, known := n.stands[key(strings.Trim(quoted, `"`))]; known {
			return quoted // becomes its stand-in
		}
		return dropped
	})
	var out strings.Builder
	at := 0
	for _, m := range n.find(text) {
		out.WriteString(n.words(text[at:m.begin]))
		out.WriteString(m.stand)
		at = m.end
	}
	out.WriteString(n.words(text[at:]))
	return out.String()
}

// inQuotes is a text in quotes, as strconv writes it, perhaps cut short.
var inQuotes = regexp.MustCompile(`"(\\.|[^"\\])*("|\\?$)`)

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
	for _, at := range n.match.FindAllStringIndex(text, -1) {
		begin, end := at[0], at[1]
		stand, known := n.stands[strings.ToLower(text[begin:end])]
		if !known {
			stand = dropped // it folds in another way
		}
		if utf8.RuneCountInString(text[begin:end]) < 4 && (letterBefore(text[:begin]) || letterAfter(text[end:])) {
			continue // part of another word
		}
		// What hangs on a name may be the rest of a longer one.
		begin = strings.LastIndexAny(text[:begin], " \t\n([{<\"'=") + 1
		if more := strings.IndexAny(text[end:], " \t\n)]}>\"',;=…"); more >= 0 {
			end += more
		} else {
			end = len(text)
		}
		if len(list) > 0 && begin < list[len(list)-1].end {
			list[len(list)-1].end = max(end, list[len(list)-1].end)
			continue
		}
		list = append(list, found{begin, end, stand})
	}
	return list
}

func letterBefore(text string) bool {
	r, _ := utf8.DecodeLastRuneInString(text)
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

func letterAfter(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// nothing matches no text.
var nothing = regexp.MustCompile(`[^\s\S]`)

// pattern returns what matches every name but single letters and plain numbers, the longest first.
func (n *Names) pattern() *regexp.Regexp {
	var names []string
	for name := range n.stands {
		if utf8.RuneCountInString(name) > 1 && strings.Trim(name, "0123456789") != "" && !n.kept[name] {
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
		return nothing
	}
	match, err := regexp.Compile(`(?i)(?:` + strings.Join(names, "|") + `)`)
	if err != nil {
		return regexp.MustCompile(`[\s\S]`) // all of it may be a name
	}
	return match
}

var (
	aWord      = regexp.MustCompile(`\S+`) // with its punctuation
	assignment = regexp.MustCompile(`^[a-z_]+=[^/?&]*$`)
)

// words returns a text without the words that may not be shown.
func (n *Names) words(text string) string {
	return aWord.ReplaceAllStringFunc(text, func(word string) string {
		if assignment.MatchString(word) {
			name, value, _ := strings.Cut(word, "=")
			return name + "=" + n.words(value)
		}
		core := strings.Trim(word, "()[]{}<>,;:.!?%\"'`…—–")
		if core == "" {
			return word
		}
		at := strings.Index(word, core)
		switch {
		case strings.Contains(word, "::") && core != "1":
			return dropped // an IPv6 address
		case n.kept[core] || ourWords[core] || harmless.MatchString(core) && !looksHex.MatchString(core):
			return word
		case hasPort.MatchString(core):
			return word[:at] + dropped + core[strings.LastIndexByte(core, ':'):] + word[at+len(core):]
		}
		return word[:at] + dropped + word[at+len(core):]
	})
}

var (
	// harmless is a plain word in lower case, an option of a command, a short number, a duration or size,
	// or an address that every machine has.
	harmless = regexp.MustCompile(`^(?:[a-z]{1,20}(?:'[a-z]{1,3})?|--?[a-z]{1,20}(?:-[a-z]{1,20})?` +
		`|[0-9]{1,5}(?:\.[0-9]{1,3})?(?:[a-zµ]{1,2}|[KMG]i?B)?` +
		`|(?:[0-9]{1,4}(?:\.[0-9]{1,9})?(?:h|m|s|ms|µs)){1,3}` +
		`|(?:127\.0\.0\.1|0\.0\.0\.0|\[::1?\]|localhost)(?::[0-9]{1,5})?)$`)
	looksHex = regexp.MustCompile(`^[a-f'-]{8,}$`)
	// hasPort is an address with a port: an IPv6 address without brackets is none.
	hasPort = regexp.MustCompile(`^(?:[^:]*\.[^:]*|\[[^\]]*\]):[0-9]{1,5}$`)
)

// ourWords are words that stand in what the program and its libraries say, and are no names.
var ourWords = wordSet(`A API As CA CSI DNS EOF End For From Give HTTP HTTPS HT20 Hz I/O GiB ID IP JSON KiB Let LimitNOFILE MAC MHz MQTT Make MiB
	Move On OpenWrt PEM Put QoS csi/link-motion link-motion log-in read-only RSSI Remove SHA-256 SMTP SSL Set Start TCP TLS The UDP URL UTC Use WebSocket bbolt systemd x509`)

func wordSet(list string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(list) {
		set[word] = true
	}
	return set
}
