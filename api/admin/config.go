package admin

import (
	"cmp"
	"encoding"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"reflect"
	"sort"
	"strconv"
	"strings"
	"time"

	"sensegate/store/regular"
)

// Mistake is one thing that is wrong with a configuration: in a line of the file, or in a
// variable of the environment.
type Mistake struct {
	Line     int    // 0: not in the file
	Variable string // "": not in the environment
	Text     string // begins with the key, except for what is wrong with a variable alone
}

// ConfigError lists everything that is wrong with a configuration, in the order of the
// file and then of the variables' names.
type ConfigError struct {
	Path     string // "" = no file
	Mistakes []Mistake
}

// Error returns a line for each mistake.
func (e *ConfigError) Error() string {
	lines := make([]string, len(e.Mistakes))
	for i, m := range e.Mistakes {
		switch {
		case m.Line > 0:
			lines[i] = fmt.Sprintf("%s:%d: %s", e.Path, m.Line, m.Text)
		case m.Variable != "":
			lines[i] = fmt.Sprintf("environment: %s: %s", m.Variable, m.Text)
		default:
			lines[i] = "configuration: " + m.Text
		}
	}
	return strings.Join(lines, "\n")
}

// LoadConfig fills config, a pointer to a struct that holds the defaults, from the YAML file
// at path ("" = none) and then from the environment, and returns what sets which key, beside mistakes too. validate
// returns the rules that config breaks, each beginning with its key such as "http.listen: ". All
// mistakes come at once, as a *ConfigError: unknown keys and variables, keys that are set twice, a second YAML document,
// values of another type, and broken rules. A file that is not YAML is the only mistake then:
// without its values no rule is checked.
func LoadConfig(path string, environ []string, config any, validate func() error) (*Sources, error) {
	file := configFile{}
	if path != "" {
		raw, err := regular.Read(path)
		if err != nil {
			return nil, &ConfigError{Path: path, Mistakes: []Mistake{{Text: unreadable(path, err)}}}
		}
		file.read(raw, reflect.ValueOf(config).Elem())
	}
	variables := readEnvironment(environ, config)
	failed := &ConfigError{Path: path, Mistakes: append(file.mistakes, variables.mistakes...)}
	if !file.malformed {
		failed.addRules(validate(), &file, variables, reflect.ValueOf(config).Elem())
	}
	sources := sourcesOf(path, &file, variables, config)
	if len(failed.Mistakes) == 0 {
		return sources, nil
	}
	sort.SliceStable(failed.Mistakes, func(i, j int) bool {
		a, b := &failed.Mistakes[i], &failed.Mistakes[j]
		inFile := cmp.Compare(min(b.Line, 1), min(a.Line, 1))
		return cmp.Or(inFile, cmp.Compare(a.Line, b.Line), cmp.Compare(a.Variable, b.Variable)) < 0
	})
	return sources, failed
}

// unreadable says why a file cannot be read, and what to do.
func unreadable(path string, err error) string {
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Sprintf("%v; let this user (%d) read it: chgrp, and chmod 0640 %s", err, os.Geteuid(), path)
	}
	return err.Error()
}

// addRules adds the broken rules, except those about keys whose value was not taken.
func (e *ConfigError) addRules(broken error, file *configFile, variables *environment, config reflect.Value) {
	for _, err := range leaves(broken) {
		key, _, _ := strings.Cut(err.Error(), ":")
		if file.isBroken(key) || variables.broken[variableOf(key)] {
			continue
		}
		m := Mistake{Text: err.Error() + found(config, strings.Split(key, "."))}
		m.Line, m.Variable = origin(key, file, variables)
		e.Mistakes = append(e.Mistakes, m)
	}
}

// origin returns the line or the variable that sets key; when neither does, that of the
// nearest key above it that is set or has another key below it that is.
func origin(key string, file *configFile, variables *environment) (line int, variable string) {
	path := strings.Split(key, ".")
	if v, set := variables.set[variableOf(key)]; set {
		return 0, v.name
	}
	line, depth := lineOf(&file.root, path)
	for level := len(path); level > 0; level-- {
		if depth == level {
			return line, ""
		}
		if name := variables.below(strings.Join(path[:level], ".")); name != "" {
			return 0, name
		}
	}
	return 0, ""
}

// found returns the value that breaks a rule, such as ", found 0". It never shows texts, which
// can be secrets: the rules themselves show those that cannot.
func found(v reflect.Value, path []string) string {
	for _, name := range path {
		next := reflect.Value{}
		switch v.Kind() {
		case reflect.Struct:
			eachField(v, func(field reflect.StructField, key string, value reflect.Value) {
				if key == name {
					next = value
				}
			})
		case reflect.Slice:
			if i, err := strconv.Atoi(name); err == nil && i < v.Len() {
				next = v.Index(i)
			}
		}
		v = next
	}
	switch {
	case !v.IsValid():
		return ""
	case v.CanInt(), v.CanUint(), v.CanFloat():
		if t, ok := v.Interface().(encoding.TextMarshaler); ok {
			if text, err := t.MarshalText(); err == nil {
				return ", found " + string(text)
			}
		}
		return fmt.Sprintf(", found %v", v)
	}
	return ""
}

// eachField calls visit with the fields of a struct that have a key, and their keys.
func eachField(v reflect.Value, visit func(field reflect.StructField, key string, value reflect.Value)) {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name, option, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		switch {
		case !field.IsExported() || name == "-":
		case option == "inline":
			eachField(v.Field(i), visit)
		default:
			visit(field, cmp.Or(name, strings.ToLower(field.Name)), v.Field(i))
		}
	}
}

// wanted returns in words what a value of a type looks like: of a type with UnmarshalText what
// that says of an empty text, "want ...".
func wanted(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[time.Duration]():
		return "want a duration such as 60s"
	case t == reflect.TypeFor[slog.Level]():
		return "want debug, info, warn or error"
	}
	if reader, ok := reflect.New(t).Interface().(encoding.TextUnmarshaler); ok {
		return fmt.Sprint(reader.UnmarshalText(nil))
	}
	switch kind := t.Kind(); {
	case kind == reflect.Bool:
		return "want true or false"
	case kind >= reflect.Int && kind <= reflect.Int64:
		return "want a whole number"
	case kind >= reflect.Uint && kind <= reflect.Uint64:
		return fmt.Sprintf("want a whole number, 0 to %d", uint64(1)<<t.Bits()-1)
	case kind == reflect.Float32, kind == reflect.Float64:
		return "want a number"
	case kind == reflect.Slice:
		return "want a list"
	case kind == reflect.Struct, kind == reflect.Map:
		return "want keys below it"
	}
	return "want text"
}

// nearest returns the one of names that differs from name in the fewest letters; "" when
// all differ in more than a quarter of it.
func nearest(name string, names []string) string {
	best, least := "", max(len(name)/4, 1)+1
	for _, other := range names {
		if d := distance(name, other); d < least {
			best, least = other, d
		}
	}
	return best
}

// distance counts the letters to insert, delete or replace, or neighbours to swap, to make
// b of a (the optimal string alignment distance).
func distance(a, b string) int {
	before, last, row := []int(nil), []int(nil), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row = last, row, make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			differs := 0
			if a[i-1] != b[j-1] {
				differs = 1
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+differs)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}

// leaves returns the errors that err joins.
func leaves(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, leaf := range joined.Unwrap() {
		all = append(all, leaves(leaf)...)
	}
	return all
}
