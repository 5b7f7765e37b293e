package admin

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/caarlos0/env/v11"

	"sensegate/store/regular"
)

// EnvPrefix begins every variable that overrides a configuration key.
const EnvPrefix = "SENSEGATE_"

// fileSuffix ends a variable that holds the name of a file with the value.
const fileSuffix = "_FILE"

// isOfTests reports whether only the project's own tests and benchmarks read a variable.
func isOfTests(name string) bool {
	own := strings.TrimPrefix(name, EnvPrefix)
	return own == "DATA" || own == "RRULE_VECTORS" || strings.HasPrefix(own, "TEST_") || strings.HasPrefix(own, "BENCH_")
}

// environment is the configuration in the variables with EnvPrefix.
type environment struct {
	set      map[string]variable // by the name of the setting's own variable
	mistakes []Mistake
	broken   map[string]bool // variables of settings whose value was not taken
}

// variable is one that is set to something.
type variable struct {
	name     string // as given
	value    string
	fromFile bool         // name ends with fileSuffix, and value was in that file
	kind     reflect.Type // of the setting
}

// variableOf returns the variable that sets key.
func variableOf(key string) string {
	return EnvPrefix + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
}

// readEnvironment fills config from the variables.
func readEnvironment(environ []string, config any) *environment {
	e := &environment{set: map[string]variable{}, broken: map[string]bool{}}
	known := map[string]reflect.Type{}
	settings(reflect.ValueOf(config).Elem(), EnvPrefix, known)
	for _, pair := range environ {
		if name, value, _ := strings.Cut(pair, "="); strings.HasPrefix(name, EnvPrefix) {
			e.add(name, value, known)
		}
	}
	reached := map[string]bool{}
	err := e.parse(config, func(name string) { reached[name] = true }, slices.Collect(maps.Keys(e.set))...)
	for name, v := range e.set {
		trial := reflect.New(reflect.TypeOf(config).Elem())
		trial.Elem().Set(reflect.ValueOf(config).Elem())
		switch {
		case !reached[name]:
			e.refuse(name, "number the entries from 0, without gaps")
		case err != nil && e.parse(trial.Interface(), func(string) {}, name) != nil:
			e.refuse(name, v.mistake())
		}
	}
	return e
}

// index is the number of an entry of a list in a variable, as in AUTH_PROVIDERS_0_NAME.
var index = regexp.MustCompile(`_\d+_`)

// settings adds the types of all settings below v to known, by variable, with 0 for each
// index.
func settings(v reflect.Value, prefix string, known map[string]reflect.Type) {
	eachField(v, func(field reflect.StructField, _ string, value reflect.Value) {
		prefix := prefix + field.Tag.Get("envPrefix")
		isList := value.Kind() == reflect.Slice && value.Type().Elem().Kind() == reflect.Struct
		switch name := field.Tag.Get("env"); {
		case name != "":
			known[prefix+name] = value.Type()
		case value.Kind() == reflect.Struct:
			settings(value, prefix, known)
		case isList:
			settings(reflect.New(value.Type().Elem()).Elem(), prefix+"0_", known)
		}
	})
}

// add reads a variable.
func (e *environment) add(name, value string, known map[string]reflect.Type) {
	typeOf := func(name string) (reflect.Type, bool) {
		kind, ok := known[index.ReplaceAllString(name, "_0_")]
		return kind, ok
	}
	setting, fromFile := name, false
	kind, ok := typeOf(name)
	if !ok {
		setting, fromFile = strings.CutSuffix(name, fileSuffix)
		kind, ok = typeOf(setting)
	}
	switch {
	case !ok && isOfTests(name):
		return
	case !ok:
		e.unknown(name, slices.Sorted(maps.Keys(known)))
		return
	case fromFile:
		raw, err := regular.Read(value)
		if err != nil {
			e.broken[setting] = true
			e.mistakes = append(e.mistakes, Mistake{Variable: name, Text: err.Error()})
			return
		}
		value = strings.TrimSpace(string(raw))
	}
	if value != "" { // an empty one sets nothing
		e.set[setting] = variable{name, value, fromFile, kind}
	}
}

// unknown notes a variable that is none of the known settings.
func (e *environment) unknown(name string, known []string) {
	own := strings.TrimPrefix(name, EnvPrefix)
	text := "no such variable: see config.example.yaml"
	base, fromFile := strings.CutSuffix(own, fileSuffix)
	for i := range known {
		known[i] = strings.TrimPrefix(known[i], EnvPrefix)
	}
	if similar := nearest(own, known); similar != "" {
		text = fmt.Sprintf("no such variable; did you mean %s%s?", EnvPrefix, similar)
	} else if similar := nearest(base, known); fromFile && similar != "" {
		text = fmt.Sprintf("no such variable; did you mean %s%s%s?", EnvPrefix, similar, fileSuffix)
	}
	e.mistakes = append(e.mistakes, Mistake{Variable: name, Text: text})
}

// parse fills config from the variables of these settings and calls reached with every
// setting that config has.
func (e *environment) parse(config any, reached func(setting string), settings ...string) error {
	values := map[string]string{}
	for _, name := range settings {
		values[name] = e.set[name].value
	}
	return env.ParseWithOptions(config, env.Options{
		Prefix: EnvPrefix, Environment: values, OnSet: func(name string, _ any, _ bool) { reached(name) },
	})
}

// refuse notes that the value of a setting was not taken.
func (e *environment) refuse(setting, text string) {
	e.broken[setting] = true
	e.mistakes = append(e.mistakes, Mistake{Variable: e.set[setting].name, Text: text})
}

// mistake returns in words what is wanted instead of the value. It does not show what a file
// holds, which can be a secret that belongs to another variable.
func (v variable) mistake() string {
	if v.fromFile {
		return wanted(v.kind) + ", in the file"
	}
	return fmt.Sprintf("%s, found %.40q", wanted(v.kind), v.value)
}

// below returns the first variable that sets a key below this one; "" for none.
func (e *environment) below(key string) string {
	for _, setting := range slices.Sorted(maps.Keys(e.set)) {
		if strings.HasPrefix(setting, variableOf(key)+"_") {
			return e.set[setting].name
		}
	}
	return ""
}
