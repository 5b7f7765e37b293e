package homeassistant

import (
	"encoding/json"
	"strconv"
	"strings"
)

// expression reads a, or a if b else c.
func (p *parser) expression(depth int) (expression, error) {
	if depth++; depth > maxDepth {
		return nil, notUnderstood(strings.Join(p.tokens, " "))
	}
	value, err := p.or(depth)
	if err != nil || p.next("if") == "" {
		return value, err
	}
	condition, err := p.or(depth)
	if err != nil {
		return nil, err
	}
	other := expression(func(*scope) any { return undefined{} })
	if p.next("else") != "" {
		if other, err = p.expression(depth); err != nil {
			return nil, err
		}
	}
	return func(s *scope) any {
		if truth(condition(s)) {
			return value(s)
		}
		return other(s)
	}, nil
}

// or reads a or b.
func (p *parser) or(depth int) (expression, error) {
	a, err := p.and(depth)
	for err == nil && p.next("or") != "" {
		left := a
		var right expression
		right, err = p.and(depth)
		a = func(s *scope) any {
			if v := left(s); truth(v) {
				return v
			}
			return right(s)
		}
	}
	return a, err
}

// and reads a and b.
func (p *parser) and(depth int) (expression, error) {
	a, err := p.comparison(depth)
	for err == nil && p.next("and") != "" {
		left := a
		var right expression
		right, err = p.comparison(depth)
		a = func(s *scope) any {
			if v := left(s); !truth(v) {
				return v
			}
			return right(s)
		}
	}
	return a, err
}

// comparison reads not a, a == b and the like, and a is defined.
func (p *parser) comparison(depth int) (expression, error) {
	if depth++; depth > maxDepth {
		return nil, notUnderstood(strings.Join(p.tokens, " "))
	}
	if p.next("not") != "" {
		a, err := p.comparison(depth)
		return func(s *scope) any { return !truth(a(s)) }, err
	}
	a, err := p.filtered(depth)
	if err != nil {
		return nil, err
	}
	if p.next("is") != "" {
		wanted := p.next("not") == ""
		if p.next("defined") == "" {
			return nil, notUnderstood("is " + strings.Join(p.tokens, " "))
		}
		return func(s *scope) any {
			_, missing := a(s).(undefined)
			return missing != wanted
		}, nil
	}
	sign := p.next("==", "!=", "<", ">", "<=", ">=")
	if sign == "" {
		return a, nil
	}
	b, err := p.filtered(depth)
	return func(s *scope) any {
		order, ok := compare(a(s), b(s))
		equal := ok && order == 0
		switch sign {
		case "==":
			return equal
		case "!=":
			return !equal
		case "<":
			return ok && order < 0
		case ">":
			return ok && order > 0
		case "<=":
			return equal || ok && order < 0
		}
		return equal || ok && order > 0
	}, err
}

// filtered reads a value with its filters.
func (p *parser) filtered(depth int) (expression, error) {
	a, err := p.operand(depth)
	for err == nil && p.next("|") != "" {
		name := p.next()
		var given any
		if p.next("(") != "" {
			token := p.next()
			v, ok := literal(token)
			if !ok || p.next(")") == "" {
				return nil, notUnderstood(name + "(" + token)
			}
			given = v
		}
		filter, ok := filters[name]
		if !ok {
			return nil, notUnderstood("| " + name)
		}
		before := a
		a = func(s *scope) any { return filter(s, before(s), given) }
	}
	return a, err
}

// operand reads a literal, value, value_json with what is looked up in it, or an expression in parentheses.
func (p *parser) operand(depth int) (a expression, err error) {
	token := p.next()
	switch token {
	case "value":
		a = func(s *scope) any { return s.value }
	case "value_json":
		a = func(s *scope) any { return s.json }
	case "(":
		a, err = p.expression(depth)
		if err == nil && p.next(")") == "" {
			err = notUnderstood("(")
		}
	default:
		v, ok := literal(token)
		if !ok {
			return nil, notUnderstood(token)
		}
		a = func(*scope) any { return v }
	}
	for err == nil {
		var key any
		switch p.next(".", "[") {
		case "":
			return a, nil
		case ".":
			key, err = p.attribute()
		case "[":
			token := p.next()
			var ok bool
			if key, ok = literal(token); !ok || p.next("]") == "" {
				err = notUnderstood("[" + token)
			}
		}
		before := a
		a = func(s *scope) any { return lookUp(before(s), key) }
	}
	return nil, err
}

// attribute reads the name after a dot, or get('name').
func (p *parser) attribute() (any, error) {
	name := p.next()
	if name != "get" || p.next("(") == "" {
		return name, nil
	}
	token := p.next()
	key, ok := literal(token)
	if !ok || p.next(")") == "" {
		return nil, notUnderstood("get(" + token)
	}
	return key, nil
}

// lookUp returns what a value has under a key.
func lookUp(in, key any) any {
	switch in := in.(type) {
	case map[string]any:
		if name, ok := key.(string); ok {
			if v, ok := in[name]; ok {
				return v
			}
		}
	case []any:
		if number, ok := key.(json.Number); ok {
			if i, err := strconv.Atoi(number.String()); err == nil && i >= 0 && i < len(in) {
				return in[i]
			}
		}
	}
	return undefined{}
}

// filters are the filters that are known, by name.
var filters = map[string]func(s *scope, v, given any) any{
	"default": orDefault,
	"d":       orDefault,
	"lower":   func(_ *scope, v, _ any) any { return strings.ToLower(textOf(v)) },
	"upper":   func(_ *scope, v, _ any) any { return strings.ToUpper(textOf(v)) },
	"trim":    func(_ *scope, v, _ any) any { return strings.TrimSpace(textOf(v)) },
	"string":  func(_ *scope, v, _ any) any { return textOf(v) },
	"int": func(_ *scope, v, _ any) any {
		n, err := strconv.ParseFloat(textOf(v), 64)
		if err != nil || n < -1e15 || n > 1e15 {
			n = 0
		}
		return json.Number(strconv.FormatInt(int64(n), 10))
	},
	"is_defined": func(s *scope, v, _ any) any {
		if _, is := v.(undefined); is {
			s.missing = true
		}
		return v
	},
}

// orDefault returns what is given for an undefined value.
func orDefault(_ *scope, v, given any) any {
	if _, is := v.(undefined); is {
		return given
	}
	return v
}
