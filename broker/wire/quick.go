package wire

import "encoding/json"

// quick reads the JSON that devices send in bulk, several times as fast as encoding/json: text without
// escapes, in ASCII, nested no deeper than maxDepth. Of all else it says that it cannot. What it reads are parts of the
// text: of a string, which may be kept, or of a payload, which need not be copied for it.
type quick[text ~string | ~[]byte] struct {
	text  text
	at    int
	depth int
}

// quickly reads one JSON object as encoding/json does into an any, with numbers as json.Number. ok is
// false for what only encoding/json can read, or nobody.
func quickly(payload []byte) (object map[string]any, ok bool) {
	q := quick[string]{text: string(payload)}
	top, ok := q.value()
	if !ok || q.next() != 0 || q.at < len(q.text) {
		return nil, false
	}
	object, ok = top.(map[string]any)
	return object, ok
}

// next skips white space and returns the byte behind it, 0 at the end.
func (q *quick[text]) next() byte {
	for q.at < len(q.text) {
		switch c := q.text[q.at]; c {
		case ' ', '\t', '\r', '\n':
			q.at++
		default:
			return c
		}
	}
	return 0
}

func (q *quick[text]) value() (value any, ok bool) {
	switch c := q.next(); {
	case c == '"':
		part, ok := q.str()
		return string(part), ok
	case c == '-' || c >= '0' && c <= '9':
		part, ok := q.number()
		return json.Number(part), ok
	case c == '[':
		return q.list()
	case c == '{':
		return q.object()
	}
	switch {
	case q.word("true"):
		return true, true
	case q.word("false"):
		return false, true
	}
	return nil, q.word("null")
}

// word skips a word if it is what comes next.
func (q *quick[text]) word(word string) bool {
	rest := q.text[q.at:]
	if len(rest) < len(word) || string(rest[:len(word)]) != word {
		return false
	}
	q.at += len(word)
	return true
}

func (q *quick[text]) str() (part text, ok bool) {
	begin := q.at + 1
	for i := begin; i < len(q.text); i++ {
		switch c := q.text[i]; {
		case c == '"':
			q.at = i + 1
			return q.text[begin:i], true
		case c < ' ' || c == '\\' || c >= 0x80:
			return part, false
		}
	}
	return part, false
}

func (q *quick[text]) number() (part text, ok bool) {
	begin := q.at
	if q.text[q.at] == '-' {
		q.at++
	}
	whole := q.at
	if !q.digits() || q.text[whole] == '0' && q.at > whole+1 {
		return part, false
	}
	if q.at < len(q.text) && q.text[q.at] == '.' {
		q.at++
		if !q.digits() {
			return part, false
		}
	}
	if q.at < len(q.text) && q.text[q.at]|' ' == 'e' {
		q.at++
		if q.at < len(q.text) && (q.text[q.at] == '+' || q.text[q.at] == '-') {
			q.at++
		}
		if !q.digits() {
			return part, false
		}
	}
	return q.text[begin:q.at], true
}

// digits skips digits, of which there has to be one.
func (q *quick[text]) digits() bool {
	begin := q.at
	for q.at < len(q.text) && q.text[q.at] >= '0' && q.text[q.at] <= '9' {
		q.at++
	}
	return q.at > begin
}

func (q *quick[text]) list() (list []any, ok bool) {
	list = []any{}
	ok = q.members(']', func() bool {
		value, ok := q.value()
		list = append(list, value)
		return ok
	})
	return list, ok
}

func (q *quick[text]) object() (object map[string]any, ok bool) {
	object = map[string]any{}
	ok = q.fields(func(name text) (ok bool) {
		object[string(name)], ok = q.value()
		return ok
	})
	return object, ok
}

// fields reads an object, the value of each name by one.
func (q *quick[text]) fields(one func(name text) bool) bool {
	return q.members('}', func() bool {
		if q.next() != '"' {
			return false
		}
		name, ok := q.str()
		if !ok || q.next() != ':' {
			return false
		}
		q.at++
		return one(name)
	})
}

// members reads what stands between commas up to the end, each by one.
func (q *quick[text]) members(end byte, one func() bool) bool {
	if q.depth++; q.depth > maxDepth {
		return false
	}
	defer func() { q.depth-- }()
	q.at++
	if q.next() == end {
		q.at++
		return true
	}
	for one() {
		switch q.next() {
		case ',':
			q.at++
		case end:
			q.at++
			return true
		default:
			return false
		}
	}
	return false
}
