package homeassistant

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// parser reads a template from its beginning to its end.
type parser struct {
	rest   string
	tokens []string // of the expression or statement that is being read
}

// parts reads up to the end of the template, or to a statement that belongs to the surrounding if, which it
// returns without its marks.
func (p *parser) parts(depth int) (parts []part, end string, err error) {
	for p.rest != "" {
		at := mark.FindStringIndex(p.rest)
		if at == nil {
			parts, p.rest = append(parts, part{text: p.rest}), ""
			break
		}
		if at[0] > 0 {
			parts = append(parts, part{text: p.rest[:at[0]]})
		}
		kind := p.rest[at[0]+1]
		inside, err := p.cut(at[1], kind)
		if err != nil {
			return nil, "", err
		}
		switch kind {
		case '{':
			output, err := p.whole(inside, depth)
			if err != nil {
				return nil, "", err
			}
			parts = append(parts, part{output: output})
		case '%':
			word, condition, _ := strings.Cut(inside, " ")
			if word != "if" {
				return parts, inside, nil
			}
			choices, err := p.choices(condition, depth+1)
			if err != nil {
				return nil, "", err
			}
			parts = append(parts, part{choices: choices})
		}
	}
	return parts, "", nil
}

// mark begins an expression, a statement or a comment.
var mark = regexp.MustCompile(`\{[{%#]`)

// cut takes what stands between marks, from a place on, out of the rest; -, which strips space, goes.
func (p *parser) cut(at int, kind byte) (inside string, err error) {
	closing := map[byte]string{'{': "}}", '%': "%}", '#': "#}"}[kind]
	inside, rest, ok := strings.Cut(p.rest[at:], closing)
	if !ok {
		return "", notUnderstood(p.rest[at-2:])
	}
	p.rest = rest
	return strings.TrimSpace(strings.Trim(inside, "-")), nil
}

// choices reads the branches of an if whose first condition was read, up to its endif.
func (p *parser) choices(condition string, depth int) (choices []choice, err error) {
	if depth > maxDepth {
		return nil, notUnderstood(condition)
	}
	word := "if"
	for {
		c := choice{}
		if word != "else" {
			if c.condition, err = p.whole(condition, depth); err != nil {
				return nil, err
			}
		}
		var end string
		if c.parts, end, err = p.parts(depth); err != nil {
			return nil, err
		}
		choices = append(choices, c)
		before := word
		word, condition, _ = strings.Cut(end, " ")
		switch {
		case end == "endif":
			return choices, nil
		case before == "else" || word != "elif" && end != "else":
			return nil, notUnderstood("{% " + end + " %}")
		}
	}
}

// whole reads an expression that nothing follows.
func (p *parser) whole(source string, depth int) (expression, error) {
	tokens, err := tokenize(source)
	if err != nil {
		return nil, err
	}
	p.tokens = tokens
	e, err := p.expression(depth)
	if err == nil && len(p.tokens) > 0 {
		err = notUnderstood(strings.Join(p.tokens, " "))
	}
	return e, err
}

// tokenize splits an expression into names, numbers, texts (with the quote that begins them) and signs.
func tokenize(source string) (tokens []string, err error) {
	inName := func(c rune) bool {
		return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
	}
	for source = strings.TrimSpace(source); source != ""; source = strings.TrimLeftFunc(source, unicode.IsSpace) {
		size := 1
		switch c := source[0]; {
		case c == '\'' || c == '"':
			end := strings.IndexByte(source[1:], c)
			if end < 0 || strings.Contains(source[1:end+1], `\`) {
				return nil, notUnderstood(source)
			}
			tokens, source = append(tokens, source[:end+1]), source[end+2:]
			continue
		case c >= '0' && c <= '9' || c == '-' && len(source) > 1 && source[1] >= '0' && source[1] <= '9':
			for size < len(source) && (source[size] >= '0' && source[size] <= '9' || source[size] == '.') {
				size++
			}
		case inName(rune(c)):
			if size = strings.IndexFunc(source, func(c rune) bool { return !inName(c) }); size < 0 {
				size = len(source)
			}
		case strings.ContainsRune("=!<>", rune(c)) && len(source) > 1 && source[1] == '=':
			size = 2
		case !strings.ContainsRune("<>.[]()|,", rune(c)):
			return nil, notUnderstood(source)
		}
		tokens, source = append(tokens, source[:size]), source[size:]
	}
	return tokens, nil
}

// next takes the next token if it is one of words, or any if there are none; "" if it is not.
func (p *parser) next(words ...string) string {
	if len(p.tokens) == 0 {
		return ""
	}
	token := p.tokens[0]
	for _, word := range words {
		if token == word {
			words = nil
		}
	}
	if len(words) > 0 {
		return ""
	}
	p.tokens = p.tokens[1:]
	return token
}

// literal returns the value of a token that is a text, a number or a constant.
func literal(token string) (v any, ok bool) {
	switch token {
	case "":
		return nil, false
	case "true", "True":
		return true, true
	case "false", "False":
		return false, true
	case "none", "None":
		return nil, true
	}
	if token[0] == '\'' || token[0] == '"' {
		return token[1:], true
	}
	if _, err := strconv.ParseFloat(token, 64); err == nil && token[0] <= '9' {
		return json.Number(token), true
	}
	return nil, false
}
