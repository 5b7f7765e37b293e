package admin

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// configFile is the configuration in a YAML file. It is decoded value by value, because the
// library stops at the first value that a type of ours refuses, and names no line.
type configFile struct {
	root      yaml.Node
	malformed bool // not YAML: nothing was read
	mistakes  []Mistake
	broken    map[string]bool // keys whose value was not taken
}

// syntaxMistake matches the library's error for a file that is not YAML.
var syntaxMistake = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)

// read fills config from raw.
func (f *configFile) read(raw []byte, config reflect.Value) {
	f.broken = map[string]bool{}
	decoder := yaml.NewDecoder(bytes.NewReader(raw))
	if !f.next(decoder, &f.root) {
		return
	}
	var typed *yaml.TypeError // of keys set twice, for example: told below, with the key
	if err := f.root.Decode(new(any)); err != nil && !errors.As(err, &typed) {
		f.refuse(err) // an anchor that contains itself, for example
		return
	}
	f.fill(f.root.Content[0], "", config)
	var second yaml.Node
	if f.next(decoder, &second) && !isNull(second.Content[0]) {
		f.add(second.Content[0], "a second document: put all keys into one, without ---")
	}
}

// next reads a document; it returns false at the end and when the rest is not YAML.
func (f *configFile) next(decoder *yaml.Decoder, document *yaml.Node) bool {
	err := decoder.Decode(document)
	if err != nil && !errors.Is(err, io.EOF) {
		f.refuse(err)
	}
	return err == nil
}

// refuse notes that the file is not YAML.
func (f *configFile) refuse(err error) {
	m := Mistake{Line: 1, Text: err.Error()}
	if parts := syntaxMistake.FindStringSubmatch(m.Text); parts != nil {
		line, _ := strconv.Atoi(parts[1]) // 0 when the library names none
		m.Line, m.Text = max(line, 1), parts[2]
	}
	f.mistakes, f.malformed, f.root = append(f.mistakes, m), true, yaml.Node{}
}

func (f *configFile) add(at *yaml.Node, format string, parts ...any) {
	f.mistakes = append(f.mistakes, Mistake{Line: at.Line, Text: fmt.Sprintf(format, parts...)})
}

// fill sets a value, which is that of key, from the node.
func (f *configFile) fill(node *yaml.Node, key string, into reflect.Value) {
	node = resolve(node)
	switch kind := into.Kind(); {
	case kind == reflect.Struct && node.Kind == yaml.MappingNode:
		f.fillStruct(node, key, into)
	case kind == reflect.Map && node.Kind == yaml.MappingNode:
		f.fillMap(node, key, into)
	case kind == reflect.Slice && node.Kind == yaml.SequenceNode:
		into.Set(reflect.MakeSlice(into.Type(), len(node.Content), len(node.Content)))
		for i, item := range node.Content {
			f.fill(item, below(key, strconv.Itoa(i)), into.Index(i))
		}
	case node.Decode(into.Addr().Interface()) == nil:
	case key == "":
		f.add(node, "want keys such as state_dir, found %s", shown(node))
	default:
		f.broken[key] = true
		f.add(node, "%s: %s, found %s", key, wanted(into.Type()), shown(node))
	}
}

func (f *configFile) fillStruct(node *yaml.Node, key string, into reflect.Value) {
	fields, names := map[string]reflect.Value{}, []string(nil)
	eachField(into, func(_ reflect.StructField, name string, value reflect.Value) {
		fields[name] = value
		names = append(names, name)
	})
	for _, pair := range f.keys(node, key) {
		name, value := pair[0], pair[1]
		field, known := fields[name.Value]
		similar := nearest(name.Value, names)
		switch {
		case known:
			f.fill(value, below(key, name.Value), field)
		case similar != "":
			f.add(name, "%s: no such key; did you mean %s?", below(key, name.Value), below(key, similar))
		default:
			f.add(name, "%s: no such key: see config.example.yaml", below(key, name.Value))
		}
	}
}

func (f *configFile) fillMap(node *yaml.Node, key string, into reflect.Value) {
	if into.IsNil() {
		into.Set(reflect.MakeMap(into.Type()))
	}
	for _, pair := range f.keys(node, key) {
		element := reflect.New(into.Type().Elem()).Elem()
		f.fill(pair[1], below(key, pair[0].Value), element)
		into.SetMapIndex(reflect.ValueOf(pair[0].Value), element)
	}
}

// keys returns the keys of a mapping with their values; a repeated one is a mistake.
func (f *configFile) keys(node *yaml.Node, key string) [][2]*yaml.Node {
	all, repeated := pairs(node)
	for _, name := range repeated {
		f.add(name, "%s: set twice; keep one of them", below(key, name.Value))
	}
	return all
}

// mergeKey is the key whose value's keys count as keys beside it, unless they stand there
// themselves (YAML 1.1, "Merge Key Language-Independent Type").
const mergeKey = "<<"

// pairs returns the keys of a mapping with their values, and the keys that it repeats.
func pairs(node *yaml.Node) (all [][2]*yaml.Node, repeated []*yaml.Node) {
	seen, merged := map[string]bool{}, [][2]*yaml.Node(nil)
	for pair := range slices.Chunk(node.Content, 2) {
		name, value := resolve(pair[0]), resolve(pair[1])
		switch {
		case name.Value == mergeKey && value.Kind == yaml.MappingNode:
			more, _ := pairs(value)
			merged = append(merged, more...)
		case name.Value == mergeKey:
			for _, item := range value.Content {
				more, _ := pairs(resolve(item))
				merged = append(merged, more...)
			}
		case seen[name.Value]:
			repeated = append(repeated, name)
		default:
			seen[name.Value] = true
			all = append(all, [2]*yaml.Node{name, value})
		}
	}
	for _, pair := range merged {
		if name := pair[0].Value; !seen[name] {
			seen[name] = true
			all = append(all, pair)
		}
	}
	return all, repeated
}

// isBroken reports whether the value of key, or of one above or below it, was not taken.
func (f *configFile) isBroken(key string) bool {
	for broken := range f.broken {
		if strings.HasPrefix(key+".", broken+".") || strings.HasPrefix(broken, key+".") {
			return true
		}
	}
	return false
}

// lineOf returns the line of the key at path or, when the file does not mention it, of the
// nearest key above it, and how many parts of path that one has.
func lineOf(node *yaml.Node, path []string) (line, depth int) {
	node = resolve(node)
	switch {
	case node.Kind == yaml.DocumentNode:
		return lineOf(node.Content[0], path)
	case len(path) == 0:
		return 0, 0
	case node.Kind == yaml.SequenceNode:
		if i, err := strconv.Atoi(path[0]); err == nil && i < len(node.Content) {
			return lineBelow(node.Content[i], node.Content[i], path)
		}
	case node.Kind == yaml.MappingNode:
		all, _ := pairs(node)
		for _, pair := range all {
			if pair[0].Value == path[0] {
				return lineBelow(pair[0], pair[1], path)
			}
		}
	}
	return 0, 0
}

// lineBelow is lineOf below a key at a node, with its value.
func lineBelow(at, value *yaml.Node, path []string) (line, depth int) {
	line, depth = lineOf(value, path[1:])
	if depth == 0 {
		line = at.Line
	}
	return line, depth + 1
}

// resolve returns the node that an alias stands for, or the node itself.
func resolve(node *yaml.Node) *yaml.Node {
	if node.Kind == yaml.AliasNode {
		return node.Alias
	}
	return node
}

func isNull(node *yaml.Node) bool { return node.Kind == yaml.ScalarNode && node.ShortTag() == "!!null" }

// shown returns in words what a node is, with at most 40 bytes of its text.
func shown(node *yaml.Node) string {
	switch node.Kind {
	case yaml.MappingNode:
		return "keys"
	case yaml.SequenceNode:
		return "a list"
	}
	return fmt.Sprintf("%.40q", node.Value)
}

// below returns the name of a key below another one.
func below(key, name string) string { return strings.TrimPrefix(key+"."+name, ".") }
