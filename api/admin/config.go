package admin

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/caarlos0/env/v11"
	"go.yaml.in/yaml/v3"
)

// EnvPrefix begins every variable that overrides a configuration key.
const EnvPrefix = "SENSEGATE_"

// Mistake is one thing that is wrong with a configuration. Line is 0 for what
// comes from the environment or from a default.
type Mistake struct {
	Line int
	Text string
}

// ConfigError lists everything that is wrong with a configuration.
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
		default:
			lines[i] = "configuration: " + m.Text
		}
	}
	return strings.Join(lines, "\n")
}

// LoadConfig fills config, which holds the defaults, from the YAML file at path
// ("" = none) and then from the environment. Keys are strict. validate returns
// the rules that config breaks, each beginning with its key such as
// "http.listen: "; it runs even when the file has other mistakes, so that all are
// told at once, as a *ConfigError.
func LoadConfig(path string, environ []string, config any, validate func() error) error {
	failed := &ConfigError{Path: path}
	var root yaml.Node
	if path != "" {
		raw, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("read configuration: %w", err)
		}
		failed.add(decodeStrict(raw, config))
		_ = yaml.Unmarshal(raw, &root) // what is wrong with it has just been said
	}
	variables, err := environment(environ)
	if err != nil {
		failed.Mistakes = append(failed.Mistakes, Mistake{Text: err.Error()})
	}
	if err := env.ParseWithOptions(config, env.Options{Prefix: EnvPrefix, Environment: variables}); err != nil {
		failed.addEnvironment(err)
	}
	for _, err := range leaves(validate()) {
		key, _, _ := strings.Cut(err.Error(), ":")
		failed.Mistakes = append(failed.Mistakes, Mistake{Line: lineOf(&root, strings.Split(key, ".")), Text: err.Error()})
	}
	if len(failed.Mistakes) == 0 {
		return nil
	}
	slices.SortStableFunc(failed.Mistakes, func(a, b Mistake) int { return cmp.Compare(a.Line, b.Line) })
	return failed
}

// decodeStrict reads YAML into config; unknown and repeated keys are mistakes.
func decodeStrict(raw []byte, config any) error {
	decoder := yaml.NewDecoder(bytes.NewReader(raw))
	decoder.KnownFields(true)
	err := decoder.Decode(config)
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// yamlMistake is how the YAML library words a mistake.
var yamlMistake = regexp.MustCompile(`^(?:yaml: )?line (\d+): (.*)$`)

// goType is a part of its wording that says nothing to a person.
var goType = regexp.MustCompile(` (not found|already set) in type \S+|into \S+$`)

// add takes in what the YAML library found.
func (e *ConfigError) add(err error) {
	if err == nil {
		return
	}
	texts := []string{err.Error()}
	var typed *yaml.TypeError
	if errors.As(err, &typed) {
		texts = typed.Errors
	}
	for _, text := range texts {
		m := Mistake{Text: text}
		if found := yamlMistake.FindStringSubmatch(text); found != nil {
			m.Line, _ = strconv.Atoi(found[1])
			m.Text = found[2]
		}
		m.Text = goType.ReplaceAllStringFunc(m.Text, plainWords)
		e.Mistakes = append(e.Mistakes, m)
	}
}

// plainWords says what the library says about Go types to a person.
func plainWords(words string) string {
	switch {
	case strings.HasPrefix(words, " not found"):
		return " is not a key here: see config.example.yaml"
	case strings.HasPrefix(words, " already"):
		return " is set twice"
	case strings.HasSuffix(words, "time.Duration"):
		return "as a duration such as 60s"
	case strings.HasSuffix(words, "int"):
		return "as a whole number"
	}
	return "here"
}

// addEnvironment takes in what is wrong with variables.
func (e *ConfigError) addEnvironment(err error) {
	var all env.AggregateError
	if !errors.As(err, &all) {
		e.Mistakes = append(e.Mistakes, Mistake{Text: err.Error()})
		return
	}
	for _, one := range all.Errors {
		e.Mistakes = append(e.Mistakes, Mistake{Text: "environment: " + one.Error()})
	}
}

// environment returns the variables with our prefix; SENSEGATE_X_FILE is
// replaced by SENSEGATE_X with the contents of that file.
func environment(environ []string) (map[string]string, error) {
	variables := map[string]string{}
	var failed error
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, EnvPrefix) {
			continue
		}
		if secret, isFile := strings.CutSuffix(name, "_FILE"); isFile {
			raw, err := os.ReadFile(value)
			if err != nil {
				failed = errors.Join(failed, fmt.Errorf("environment: %s: %w", name, err))
				continue
			}
			name, value = secret, strings.TrimSpace(string(raw))
		}
		variables[name] = value
	}
	return variables, failed
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
	for _, one := range joined.Unwrap() {
		all = append(all, leaves(one)...)
	}
	return all
}

// lineOf returns the line of the key at path, or of the nearest key above it; 0
// when the file does not mention it.
func lineOf(node *yaml.Node, path []string) int {
	if node.Kind == yaml.DocumentNode && len(node.Content) > 0 {
		node = node.Content[0]
	}
	if len(path) == 0 || node.Kind != yaml.MappingNode {
		return 0
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if key.Value != path[0] {
			continue
		}
		if line := lineOf(value, path[1:]); line > 0 {
			return line
		}
		if len(path) == 1 {
			return key.Line
		}
	}
	return 0
}
