package support

import (
	"bytes"
	"compress/flate"
	"crypto/tls"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"
	"sync"
	"syscall"
)

// packed are the phrases of the program's own messages, one a line, deflated (RFC 1951): what stands
// between the values in its string literals, where that is two words and more, and the keys of its
// configuration, of provision.yaml and of the device protocol, also with those above them. "make docs" writes it anew; a message that is
// younger is shown as "…".
//
//go:embed phrases.deflate
var packed []byte

// borrowed are phrases of the libraries, which say them in errors of connections, certificates and files.
const borrowed = `dial tcp|dial udp|dial unix|read tcp|read udp|read unix|write tcp|write udp|write unix|listen tcp|listen udp|accept tcp
no such host|server misbehaving|i/o timeout|unexpected EOF|use of closed network connection|missing port in address|too many colons in address
no suitable address found|context deadline exceeded|context canceled|operation was canceled|remote error|file already closed|short write
failed to verify certificate|certificate has expired or is not yet valid|current time|is after|is before|certificate signed by unknown authority
certificate is valid for|certificate is not valid for any names but wanted to match|cannot validate certificate for|because it doesn't contain any IP SANs
certificate is not authorized to sign other certificates|certificate specifies an incompatible key usage|certificate relies on legacy Common Name field use SANs instead
first record does not look like a TLS handshake|TLS handshake timeout|server gave HTTP response to HTTPS client|Client.Timeout exceeded while awaiting headers
malformed HTTP response|unsupported protocol scheme|websocket bad handshake|stopped after 10 redirects|failed to find any PEM data in certificate input
private key does not match public key|database not open|invalid database|version mismatch|checksum error|file size too small|database reached maximum size
invalid character|looking for beginning of value|unexpected end of JSON input|after top-level value|cannot unmarshal|into Go struct field|invalid syntax|value out of range
runtime error|index out of range|with length|with capacity|slice bounds out of range|invalid memory address or nil pointer dereference|integer divide by zero
assignment to entry in nil map|keep alive timeout|session takeover|malformed packet|protocol violation|packet too large|not authorized|quota exceeded|server busy
bad username or password|client identifier not valid|unsupported protocol version|receive maximum exceeded|server shutting down|server unavailable|topic name invalid
did not find expected key|did not find expected node content|did not find expected alphabetic or numeric character|could not find expected directive name|did not find expected|could not find expected|while parsing a block mapping|while parsing a block collection|while parsing a flow mapping|while parsing a flow sequence
while scanning a simple key|while scanning a quoted scalar|while scanning for the next token|mapping values are not allowed in this context|unknown anchor
found character that cannot start any token|found a tab character that violates indentation|found unexpected end of stream|found unknown escape character
control characters are not allowed|block sequence entries are not allowed in this context|invalid UTF-8|expected node content|document start
login refused|publish refused|subscribe refused|packet refused|runuser -u|chown -R|sensegate doctor|sensegate status|sensegate support`

// phrases are the word sequences that may be shown, and their words.
type phrases struct {
	beginning map[string][][]string // by the first word, the longest first
	words     map[string]bool       // in lower case, without numbers
	keys      map[string]bool       // such as mqtt and mqtt.listen, without the numbers of lists
	variables map[string]bool       // those of keys, in lower case without SENSEGATE_, such as mqtt_listen
}

// ours returns the phrases of the program, of its libraries and of the system.
var ours = sync.OnceValue(func() *phrases {
	plain, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
	if err != nil {
		panic("support: " + err.Error()) // it is part of the program
	}
	p := &phrases{map[string][][]string{}, map[string]bool{}, map[string]bool{}, map[string]bool{}}
	for line := range strings.Lines(string(plain)) {
		if key := strings.TrimSpace(line); !strings.Contains(key, " ") {
			p.keys[key] = true
			p.variables[strings.ReplaceAll(key, ".", "_")] = true
		}
	}
	for line := range strings.SplitSeq(string(plain)+"\n"+strings.ReplaceAll(borrowed, "|", "\n"), "\n") {
		p.add(line)
	}
	for _, single := range []map[string]bool{singles, servers} {
		for word := range single {
			p.words[strings.ToLower(word)] = true
		}
	}
	for i := range 256 {
		p.add(fmt.Sprint(tls.AlertError(i)))
		p.add(syscall.Errno(i).Error())
	}
	for _, list := range p.beginning {
		sort.Slice(list, func(i, j int) bool { return len(list[i]) > len(list[j]) })
	}
	return p
})

// add adds a phrase. One word is none: what stands alone may be a name.
func (p *phrases) add(text string) {
	var words []string
	for _, w := range cores(text) {
		words = append(words, w.text)
		if strings.Trim(w.text, "0123456789") != "" {
			p.words[strings.ToLower(w.text)] = true
		}
	}
	if len(words) > 1 {
		p.beginning[words[0]] = append(p.beginning[words[0]], words)
	}
}

// IsKey reports whether a key is one of the program's alone: the keys of a map are not.
func IsKey(key string) bool { return ours().keys[key] || ours().isKey(key) }

// isKey reports whether a word is a key with those above it, such as uplinks.0.url, or the variable of one.
// A host may be made of words that are keys, such as mqtt.home: so the whole of it has to be one.
func (p *phrases) isKey(word string) bool {
	if variable, is := strings.CutPrefix(word, "SENSEGATE_"); is {
		return p.variables[withoutNumbers(strings.ToLower(variable), "_")]
	}
	return strings.Contains(word, ".") && p.keys[withoutNumbers(word, ".")]
}

// withoutNumbers returns a key without the numbers of lists.
func withoutNumbers(key, between string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(key, between), func(part string) bool {
		return part != "" && len(part) <= 3 && strings.Trim(part, "0123456789") == ""
	}), between)
}

// leading returns the key that a text begins with, with its colon, unless that belongs to a phrase.
func (p *phrases) leading(text string) string {
	key, _, is := strings.Cut(text, ": ")
	if !is || !p.keys[key] {
		return ""
	}
	if first := p.find(text); len(first) > 0 && first[0].begin == 0 {
		return ""
	}
	return key + ":"
}

// has reports whether each word of a text stands in a phrase.
func (p *phrases) has(text string) bool {
	return !slices.ContainsFunc(cores(text), func(w core) bool { return !p.words[strings.ToLower(w.text)] })
}

// find returns where phrases stand in a text, in order: from the left, the longest first.
func (p *phrases) find(text string) (list []found) {
	words := cores(text)
	for i := 0; i < len(words); {
		at := slices.IndexFunc(p.beginning[words[i].text], func(phrase []string) bool {
			return len(phrase) <= len(words)-i && slices.EqualFunc(phrase, words[i:i+len(phrase)], func(a string, b core) bool { return a == b.text })
		})
		if at < 0 {
			i++
			continue
		}
		n := len(p.beginning[words[i].text][at])
		list = append(list, found{words[i].begin, words[i+n-1].end, ""})
		i += n
	}
	return list
}

// core is a word without its punctuation, by bytes of the text.
type core struct {
	begin, end int
	text       string
}

var aWord = pattern(`\S+`) // with its punctuation

// cores returns the words of a text.
func cores(text string) (list []core) {
	for _, at := range aWord().FindAllStringIndex(text, -1) {
		word := text[at[0]:at[1]]
		if bare := strings.Trim(word, "()[]{}<>,;:.!?%\"'`…—–"); bare != "" {
			begin := at[0] + strings.Index(word, bare)
			list = append(list, core{begin, begin + len(bare), bare})
		}
	}
	return list
}
