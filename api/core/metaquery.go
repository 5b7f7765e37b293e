package core

import (
	"encoding/json"
	"strings"

	"sensegate/motion"
	"sensegate/motion/fault"
)

// metaQuery asks whether a network's meta has a key, or a value there that fits
// a pattern (payloads.md 4.1).
type metaQuery struct {
	inDWM   bool // the key stands inside the dwm object
	key     string
	exists  bool // ask for the key alone
	pattern string
}

// metaForms is what a caller is told who sends anything else.
const metaForms = `query: want meta->>'key' or meta->'dwm'->>'key' with val, or meta ? 'key' or meta->'dwm' ? 'key' without`

// parseMetaQuery reads a query of the grammar
//
//	query = "meta" [ "->" "'dwm'" ] ( "->>" | exists ) "'" key "'"
//	exists = "?" | "\?" | "\\?"
//
// with spaces between its words; a key has no quote in it. A value is compared
// with the pattern val, which "->>" needs and the others do not take; "" is none.
// Everything else is Malformed.
func parseMetaQuery(text, val string) (metaQuery, error) {
	q, ok := readMetaQuery(text)
	switch {
	case !ok:
		return metaQuery{}, fault.New(fault.Malformed, "%s", metaForms)
	case q.exists && val != "":
		return metaQuery{}, fault.New(fault.Malformed, "val: a query for the existence of a key takes none")
	case !q.exists && val == "":
		return metaQuery{}, fault.New(fault.Malformed, "val: the pattern to compare with is missing; %% stands for any text")
	}
	q.pattern = val
	return q, nil
}

// readMetaQuery reads the query alone.
func readMetaQuery(text string) (q metaQuery, ok bool) {
	rest, ok := word(text, "meta")
	if !ok {
		return q, false
	}
	if inner, ok := word(rest, "->"); ok {
		if inner, ok = word(inner, "'dwm'"); ok {
			q.inDWM, rest = true, inner
		}
	}
	after, isValue := word(rest, "->>")
	for _, exists := range []string{"?", `\?`, `\\?`} {
		if !isValue && !q.exists {
			after, q.exists = word(rest, exists)
		}
	}
	if !isValue && !q.exists {
		return q, false
	}
	quoted, ok := strings.CutPrefix(after, "'")
	if !ok {
		return q, false
	}
	key, end, ok := strings.Cut(quoted, "'")
	q.key = key
	return q, ok && key != "" && strings.Trim(end, " ") == ""
}

// word returns what follows a word of the query and the spaces behind it.
func word(text, w string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(strings.TrimLeft(text, " "), w)
	return strings.TrimLeft(rest, " "), ok
}

// matches reports whether meta has what q asks for. A value that is not a string
// is compared as its JSON text; null is no value.
func (q metaQuery) matches(meta motion.Document) bool {
	object := map[string]any(meta)
	if q.inDWM {
		object, _ = meta["dwm"].(map[string]any)
	}
	value, present := object[q.key]
	if q.exists {
		return present
	}
	switch v := value.(type) {
	case nil:
		return false
	case string:
		return like(v, q.pattern)
	}
	text, err := json.Marshal(value)
	return err == nil && like(string(text), q.pattern)
}

// like reports whether text as a whole fits a pattern in which each % stands for any run
// of characters, none included, \% for a percent sign, and everything else for itself.
func like(text, pattern string) bool {
	part, rest, wild := beforeWildcard(pattern)
	if !wild {
		return text == part
	}
	text, ok := strings.CutPrefix(text, part)
	for ok {
		if part, rest, wild = beforeWildcard(rest); !wild {
			return strings.HasSuffix(text, part)
		}
		_, text, ok = strings.Cut(text, part)
	}
	return false
}

// beforeWildcard returns what stands before the first wildcard of a pattern and what follows
// it, or all of it.
func beforeWildcard(pattern string) (part, rest string, wild bool) {
	part = pattern
	for i := range len(pattern) {
		if pattern[i] == '%' && (i == 0 || pattern[i-1] != '\\') {
			part, rest, wild = pattern[:i], pattern[i+1:], true
			break
		}
	}
	return strings.ReplaceAll(part, `\%`, "%"), rest, wild
}
