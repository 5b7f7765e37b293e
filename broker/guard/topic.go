package guard

import (
	"bytes"
	"unicode/utf8"
)

// validText reports whether b is UTF-8 without the characters that section
// 1.5.4 forbids or lets a receiver refuse: controls and non-characters.
func validText(b []byte) bool {
	for i := 0; i < len(b); {
		if b[i] < utf8.RuneSelf {
			if b[i] < 0x20 || b[i] == 0x7f {
				return false
			}
			i++
			continue
		}
		r, n := utf8.DecodeRune(b[i:])
		switch {
		case r == utf8.RuneError && n == 1, r <= 0x9f, r&0xfffe == 0xfffe, 0xfdd0 <= r && r <= 0xfdef:
			return false
		}
		i += n
	}
	return true
}

// checkName checks the topic name of a message (section 4.7).
func (c *Config) checkName(name []byte) *Violation {
	switch {
	case len(name) == 0:
		return refuse(codeProtocol, "topic: empty")
	case !validText(name):
		return refuse(codeMalformed, "topic: not valid UTF-8, or control characters")
	case bytes.ContainsAny(name, "+#"):
		return refuse(codeMalformed, "topic: wildcard in a topic name")
	case hasFold(name, "$SYS"):
		return refuse(codeTopicInvalid, "topic: $SYS belongs to the server")
	}
	return c.checkSize(name, codeTopicInvalid)
}

// checkFilter checks a topic filter, shared ones included (sections 4.7, 4.8).
// The library takes "$share" in any spelling and protocol version for a shared
// subscription, so the guard does too.
func (c *Config) checkFilter(filter []byte) *Violation {
	if !validText(filter) {
		return refuse(codeMalformed, "filter: not valid UTF-8, or control characters")
	}
	if isShared(filter) {
		_, rest, _ := bytes.Cut(filter, []byte("/"))
		group, shared, ok := bytes.Cut(rest, []byte("/"))
		if !ok || len(group) == 0 || bytes.ContainsAny(group, "+#") {
			return refuse(codeMalformed, "filter: bad shared subscription")
		}
		filter = shared
	}
	if len(filter) == 0 {
		return refuse(codeMalformed, "filter: empty")
	}
	for rest, more := filter, true; more; {
		var level []byte
		level, rest, more = bytes.Cut(rest, []byte("/"))
		if len(level) > 1 && bytes.ContainsAny(level, "+#") || more && string(level) == "#" {
			return refuse(codeMalformed, "filter: misplaced wildcard")
		}
	}
	return c.checkSize(filter, codeFilterInvalid)
}

func (c *Config) checkSize(topic []byte, code byte) *Violation {
	if len(topic) > c.MaxTopic {
		return refuse(code, "topic: longer than %d bytes", c.MaxTopic)
	}
	if bytes.Count(topic, []byte("/")) >= c.MaxLevels {
		return refuse(code, "topic: more than %d levels", c.MaxLevels)
	}
	return nil
}

func isShared(filter []byte) bool {
	first, _, _ := bytes.Cut(filter, []byte("/"))
	return len(first) == len("$share") && hasFold(first, "$share")
}

func hasFold(b []byte, prefix string) bool {
	return len(b) >= len(prefix) && bytes.EqualFold(b[:len(prefix)], []byte(prefix))
}
