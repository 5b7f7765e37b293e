package admin

import (
	"cmp"
	"encoding"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"sensegate/api/box"
)

// Sources says where the values of a configuration come from. It holds none of them.
type Sources struct {
	path      string            // "": no file
	lines     map[string]int    // of the keys that the file sets
	variables map[string]string // of the keys that the environment sets
}

// The tag secret of a field says whether its value may be shown. A field whose name sounds like a
// secret has it; TestEverySecretIsMarked in api/appliance wants it.
const (
	hidden     = "true" // never
	hiddenPath = "path" // an address whose path may be known to the service alone: only its host
)

// sourcesOf returns what the file and the environment set of a configuration.
func sourcesOf(path string, file *configFile, variables *environment, config any) *Sources {
	s := &Sources{lines: map[string]int{}, variables: map[string]string{}}
	if absolute, err := filepath.Abs(path); path != "" && err == nil {
		s.path = absolute
	}
	eachSetting(reflect.ValueOf(config).Elem(), "", "", func(key, _ string, _ reflect.Value) {
		way := strings.Split(key, ".")
		if v, set := variables.set[variableOf(key)]; set {
			s.variables[key] = v.name
		} else if line, depth := lineOf(&file.root, way); depth == len(way) {
			s.lines[key] = line
		}
	})
	return s
}

// eachSetting calls visit with the keys below v that have one value or a list of plain ones, and
// with the tag secret of their fields. A list of structs has its entries' keys below their numbers.
func eachSetting(v reflect.Value, key, secret string, visit func(key, secret string, value reflect.Value)) {
	isList := v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct
	switch {
	case v.Kind() == reflect.Struct:
		eachField(v, func(field reflect.StructField, name string, value reflect.Value) {
			eachSetting(value, below(key, name), cmp.Or(field.Tag.Get("secret"), secret), visit)
		})
	case v.Kind() == reflect.Map:
		names := v.MapKeys()
		slices.SortFunc(names, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, name := range names {
			eachSetting(v.MapIndex(name), below(key, name.String()), secret, visit)
		}
	case isList && v.Len() > 0:
		for i := range v.Len() {
			eachSetting(v.Index(i), below(key, strconv.Itoa(i)), secret, visit)
		}
	default:
		visit(key, secret, v)
	}
}

// Settings returns every key of config, a pointer to the configuration, with the value that it has
// there and where that comes from; standard is the configuration without a file and variables.
// s may be nil: nothing is known to be set.
func (s *Sources) Settings(config, standard any) box.Settings {
	if s == nil {
		s = &Sources{}
	}
	usual := map[string]string{}
	eachSetting(reflect.ValueOf(standard), "", "", func(key, secret string, value reflect.Value) {
		if secret != hidden {
			usual[key] = settingText(value, asItIs)
		}
	})
	all := box.Settings{File: s.path, List: []box.Setting{}}
	eachSetting(reflect.ValueOf(config).Elem(), "", "", func(key, secret string, value reflect.Value) {
		text := settingText(value, asItIs)
		found := box.Setting{Key: key, Set: text != "", Origin: box.OfDefault, Standard: usual[key]}
		if line, set := s.lines[key]; set {
			found.Origin, found.Line = box.OfFile, &line
		}
		if name, set := s.variables[key]; set {
			found.Origin, found.Variable = box.OfEnvironment, &name
		}
		switch secret {
		case hidden:
			found.Secret = true
		default:
			text = shortened(settingText(value, func(one string) string { return masked(one, secret == hiddenPath) }))
			found.Value = &text
		}
		all.List = append(all.List, found)
	})
	return all
}

// settingText returns a value as it is written in the configuration file, as shown returns it; a list
// with commas.
func settingText(v reflect.Value, shown func(string) string) string {
	switch value := v.Interface().(type) {
	case slog.Level:
		return shown(strings.ToLower(value.String()))
	case time.Duration:
		return shown(durationText(value))
	case encoding.TextMarshaler:
		if text, err := value.MarshalText(); err == nil {
			return shown(string(text))
		}
	}
	if v.Kind() != reflect.Slice {
		return shown(fmt.Sprint(v))
	}
	items := make([]string, v.Len())
	for i := range items {
		items[i] = settingText(v.Index(i), shown)
	}
	return strings.Join(items, ", ")
}

func asItIs(text string) string { return text }

// durationText returns a duration without parts that are zero: 24h, not 24h0m0s.
func durationText(d time.Duration) string {
	text := d.String()
	if shorter, ok := strings.CutSuffix(text, "m0s"); ok {
		text = shorter + "m"
	}
	if shorter, ok := strings.CutSuffix(text, "h0m"); ok {
		text = shorter + "h"
	}
	return text
}

// mask stands for what is not shown of an address.
const mask = "***"

// masked returns a text with what may open something taken out, if it is an address: user and password,
// the values after ?, and with path everything behind the host.
func masked(text string, path bool) string {
	scheme, rest, isAddress := strings.Cut(text, "://")
	if !isAddress {
		return text
	}
	u, err := url.Parse(text)
	if at := strings.LastIndex(rest, "@"); at >= 0 && (err != nil || u.User != nil) {
		rest = mask + rest[at:]
	}
	if before, _, asks := strings.Cut(rest, "?"); asks {
		rest = before + "?" + mask
	}
	if host, behind, deep := strings.Cut(rest, "/"); path && deep && behind != "" {
		rest = host + "/" + mask
	}
	return scheme + "://" + rest
}

// longestValue is how many bytes of a value are shown: certificates can be values too.
const longestValue = 300

func shortened(text string) string {
	if len(text) <= longestValue {
		return text
	}
	return strings.ToValidUTF8(text[:longestValue], "") + "…"
}

// ShowSettings writes a configuration as a table, or as JSON.
func ShowSettings(out io.Writer, all box.Settings, asJSON bool) error {
	return command{out: out, json: asJSON}.print(all, func(w io.Writer) {
		fmt.Fprintf(w, "KEY\tVALUE\tFROM\tDEFAULT\n")
		for _, s := range all.List {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", s.Key, cmp.Or(shownValue(s), `""`), shownOrigin(s, all.File), usualValue(s))
		}
	})
}

// ShowSetting writes the value of one key of a configuration.
func ShowSetting(out io.Writer, all box.Settings, key string) error {
	for _, s := range all.List {
		switch {
		case s.Key != key:
		case s.Value == nil:
			return fmt.Errorf("%s is a secret, and not shown", key)
		default:
			_, err := fmt.Fprintln(out, *s.Value)
			return err
		}
	}
	return fmt.Errorf("there is no key %q: sensegate config show lists all", key)
}

// shownValue returns the value of a setting in one line.
func shownValue(s box.Setting) string {
	switch {
	case !s.Secret:
		first, _, more := strings.Cut(*s.Value, "\n")
		if more {
			first += " …"
		}
		return first
	case s.Set:
		return "(secret)"
	}
	return "(no secret)"
}

func shownOrigin(s box.Setting, file string) string {
	switch {
	case s.Variable != nil:
		return *s.Variable
	case s.Line != nil:
		return file + ":" + strconv.Itoa(*s.Line)
	}
	return "default"
}

// usualValue returns the default of a setting that has another value.
func usualValue(s box.Setting) string {
	if s.Secret || *s.Value == s.Standard {
		return ""
	}
	return cmp.Or(s.Standard, `""`)
}
