package apitest

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// block is a fenced part of a document: commands ("sh"), the answer of the last
// of them ("json", or "text" where curl writes something else), what comes over the
// open websocket ("json frames"), or what a receiver of pushes gets ("json received").
// "of the moment" says that an answer depends on where there was motion.
type block struct {
	info, text string
	line       int // of the text's first line
}

// blocks returns the fenced parts of a document.
func blocks(document string) (all []block) {
	var open *block
	for i, line := range strings.Split(document, "\n") {
		info, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && open == nil:
			open = &block{info: info, line: i + 2}
		case fence:
			all = append(all, *open)
			open = nil
		case open != nil:
			open.text += line + "\n"
		}
	}
	return all
}

// wanted is a request of a document's command, and what is done with the answer.
type wanted struct {
	method, url, body string
	header            map[string]string
	websocket         bool
	assign            string // variable that gets the picked text
	pick              string // path of a value in the answer, after jq; "" = all of it
	equals            string // with until: value that is waited for
	until             bool
	write             string // curl -w: what is shown instead of the body
}

// shell understands as much of a shell as the documents use: assignments, curl,
// websocat, mosquitto_pub, jq with a path, date, ${NAME#*text}, and $((…)) with a + or -.
type shell struct {
	variables map[string]string
	fixed     map[string]bool // variables that the test gives
	run       func(wanted) (picked string, err error)
	publish   func(user, password, topic, payload string) error
}

var (
	assignment = regexp.MustCompile(`^([A-Z_]+)=`)
	captured   = regexp.MustCompile(`(?s)^([A-Z_]+)=\$\((curl .*)\)$`)
	untilLoop  = regexp.MustCompile(`^until (curl .*) \| jq -e '(\.\S*) == (\S+)' >/dev/null; do sleep 1; done$`)
	piped      = regexp.MustCompile(`(?s)^(.*) \| jq (?:-r )?(\S+)$`)
	reference  = regexp.MustCompile(`^\$([A-Z_]+)|^\$\{([A-Z_]+)\}|^\$\(\(([A-Z_]+)([+-][0-9]+)\)\)|^\$\((date [^)]*)\)|^\$\{([A-Z_]+)#\*([^}]+)\}`)
)

// do carries out the commands of a block.
func (s *shell) do(text string) error {
	for _, command := range commands(text) {
		var err error
		if m := captured.FindStringSubmatch(command); m != nil {
			_, err = s.request(m[2], func(c *wanted) { c.assign = m[1] })
		} else if m := untilLoop.FindStringSubmatch(command); m != nil {
			_, err = s.request(m[1], func(c *wanted) { c.pick, c.equals, c.until = m[2], strings.Trim(m[3], `"`), true })
		} else if m := assignment.FindStringSubmatch(command); m != nil {
			err = s.assign(m[1], strings.TrimPrefix(command, m[0]))
		} else {
			_, err = s.request(command, func(*wanted) {})
		}
		if err != nil {
			return fmt.Errorf("%s: %w", command, err)
		}
	}
	return nil
}

// commands returns the commands of a text: one a line, unless a quote is open or
// the line ends with a backslash.
func commands(text string) (all []string) {
	var command strings.Builder
	quoted := false
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if command.Len() == 0 {
			line, _, _ = strings.Cut(line, "   #")
		}
		quoted = quoted != (strings.Count(line, "'")%2 == 1)
		continued := strings.HasSuffix(line, `\`)
		command.WriteString(strings.TrimSuffix(line, `\`))
		switch {
		case quoted:
			command.WriteString("\n")
		case !continued && strings.TrimSpace(command.String()) != "":
			all = append(all, strings.TrimSpace(command.String()))
			command.Reset()
		}
	}
	if command.Len() > 0 { // not closed
		all = append(all, command.String())
	}
	return all
}

func (s *shell) assign(name, word string) error {
	words, err := s.words(word)
	if err != nil || len(words) != 1 {
		return fmt.Errorf("want one word, got %q (%w)", words, err)
	}
	if !s.fixed[name] {
		s.variables[name] = words[0]
	}
	return nil
}

// words splits a command, with quotes taken away and variables put in.
func (s *shell) words(command string) (words []string, err error) {
	var word strings.Builder
	started, quote := false, byte(0)
	for i := 0; i < len(command); i++ {
		c := command[i]
		switch {
		case c == '$' && quote != '\'':
			m := reference.FindStringSubmatch(command[i:])
			if m == nil {
				return nil, fmt.Errorf("not understood: %s", command[i:])
			}
			text, err := s.value(m)
			if err != nil {
				return nil, err
			}
			word.WriteString(text)
			started = true
			i += len(m[0]) - 1
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteByte(c)
		case c == '\'' || c == '"':
			quote, started = c, true
		case c == ' ' || c == '\n':
			if started {
				words = append(words, word.String())
			}
			word.Reset()
			started = false
		default:
			word.WriteByte(c)
			started = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("quote %c is not closed", quote)
	}
	if started {
		words = append(words, word.String())
	}
	return words, nil
}

// value returns what a match of reference stands for.
func (s *shell) value(m []string) (string, error) {
	if m[5] != "" {
		return date(m[5])
	}
	name := m[1] + m[2] + m[3] + m[6]
	text, known := s.variables[name]
	if !known {
		return "", fmt.Errorf("$%s is not set", name)
	}
	if _, rest, found := strings.Cut(text, m[7]); m[7] != "" && found {
		return rest, nil
	}
	if m[4] == "" {
		return text, nil
	}
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return "", err
	}
	more, err := strconv.ParseInt(m[4], 10, 64)
	return strconv.FormatInt(number+more, 10), err
}

var dateCommand = regexp.MustCompile(`^date -u(?: -d '([+-][0-9]+) (seconds|days)')? \+(%s|%F|%Y%m%dT%H%M%SZ)$`)

// date does what date(1) does.
func date(command string) (string, error) {
	m := dateCommand.FindStringSubmatch(command)
	if m == nil {
		return "", fmt.Errorf("not understood: %s", command)
	}
	at := time.Now().UTC()
	if m[1] != "" {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			return "", err
		}
		at = at.Add(time.Duration(n) * map[string]time.Duration{"seconds": time.Second, "days": 24 * time.Hour}[m[2]])
	}
	return map[string]string{
		"%s": strconv.FormatInt(at.Unix(), 10), "%F": at.Format(time.DateOnly), "%Y%m%dT%H%M%SZ": at.Format("20060102T150405Z"),
	}[m[3]], nil
}

var step = regexp.MustCompile(`^\.([A-Za-z_]\w*)|^\.?\[([0-9]+)\]|^\|max_by\(\.(\w+)\)`)

// choose returns the value at a jq path.
func choose(v value, path string) (value, error) {
	for rest := path; rest != ""; {
		m := step.FindStringSubmatch(rest)
		if m == nil {
			return v, fmt.Errorf("path %s is not understood", path)
		}
		rest = rest[len(m[0]):]
		if inner, ok := v.get(m[1]); ok {
			v = inner
			continue
		}
		if m[3] != "" && len(v.items) > 0 {
			v = slices.MaxFunc(v.items, func(a, b value) int { return cmp.Compare(a.number(m[3]), b.number(m[3])) })
			continue
		}
		i, err := strconv.Atoi(m[2])
		if err != nil || i >= len(v.items) {
			return v, fmt.Errorf("no %s in %s", path, v.line())
		}
		v = v.items[i]
	}
	return v, nil
}

// number returns a field that is a number.
func (v value) number(name string) float64 {
	inner, _ := v.get(name)
	return inner.float()
}

// pick returns the value at a jq path as text; a text without its quotes.
func pick(v value, path string) (string, error) {
	v, err := choose(v, path)
	if text, ok := v.scalar.(string); ok {
		return text, err
	}
	return v.line(), err
}
