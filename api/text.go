package api

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
)

// text is what a document says of a row beyond its summary.
type text struct {
	description       string
	request, response json.RawMessage // examples; nil = none
}

// Marks of the two examples of a section.
const (
	requestFence  = "```json request\n"
	responseFence = "```json response\n"
	fenceEnd      = "\n```\n"
)

// readTexts reads the sections of Markdown files by what their rows are: a section
// is headed "## METHOD /path" as in the table; its fenced blocks "json request"
// and "json response" are the row's examples, the rest is its description. What
// stands before the first section of a file is for its reader alone.
func readTexts(files fs.FS) (map[string]text, error) {
	texts := map[string]text{}
	names, err := fs.Glob(files, "*.md")
	if err != nil {
		return nil, fmt.Errorf("list texts: %w", err)
	}
	for _, name := range names {
		file, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, fmt.Errorf("read texts: %w", err)
		}
		for _, section := range strings.Split("\n"+string(file), "\n## ")[1:] {
			heading, body, _ := strings.Cut(section, "\n")
			if _, twice := texts[heading]; twice {
				return nil, fmt.Errorf("%s: %s has two sections", name, heading)
			}
			if texts[heading], err = readText(body + "\n"); err != nil {
				return nil, fmt.Errorf("%s: %s: %w", name, heading, err)
			}
		}
	}
	return texts, nil
}

// readText reads one section.
func readText(section string) (t text, err error) {
	if section, t.request, err = example(section, requestFence); err != nil {
		return text{}, err
	}
	if section, t.response, err = example(section, responseFence); err != nil {
		return text{}, err
	}
	t.description = strings.TrimSpace(section)
	return t, nil
}

// example takes the block with a fence out of a section.
func example(section, fence string) (rest string, value json.RawMessage, err error) {
	before, after, found := strings.Cut(section, fence)
	if !found {
		return section, nil, nil
	}
	block, after, closed := strings.Cut(after, fenceEnd)
	kind := strings.TrimSpace(strings.TrimPrefix(fence, "```json"))
	switch {
	case !closed:
		return "", nil, fmt.Errorf("the example of the %s has no end", kind)
	case strings.Contains(after, fence):
		return "", nil, fmt.Errorf("two examples of the %s", kind)
	case !json.Valid([]byte(block)):
		return "", nil, fmt.Errorf("the example of the %s is not JSON", kind)
	}
	return strings.TrimSpace(before) + "\n\n" + strings.TrimSpace(after) + "\n", json.RawMessage(block), nil
}
