package web_test

import (
	"io/fs"
	"maps"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A part of a style sheet: rules without rules in them, their declarations of variables, their
// uses, and colours.
var (
	cssRule     = regexp.MustCompile(`([^{};]+)\{([^{}]*)\}`)
	cssVariable = regexp.MustCompile(`--([\w-]+)\s*:\s*([^;]+)`)
	cssUse      = regexp.MustCompile(`var\(--([\w-]+)`)
	cssColour   = regexp.MustCompile(`#[0-9a-fA-F]{3,8}\b|\b(?:rgb|hsl|oklch|oklab|lab|lch|color)a?\(`)
	cssComment  = regexp.MustCompile(`(?s)/\*.*?\*/`)
)

// themes returns the colours of each theme of css/tokens.css by the selector of its rule. The
// first rule is the light theme; each later one that sets colours changes it.
func themes(t *testing.T) map[string]map[string]string {
	t.Helper()
	raw, err := os.ReadFile("src/css/tokens.css")
	if err != nil {
		t.Fatal(err)
	}
	var base map[string]string
	all := map[string]map[string]string{}
	for _, rule := range cssRule.FindAllStringSubmatch(cssComment.ReplaceAllString(string(raw), ""), -1) {
		theme, changes := maps.Clone(base), false
		for _, v := range cssVariable.FindAllStringSubmatch(rule[2], -1) {
			if strings.HasPrefix(v[2], "#") {
				if theme == nil {
					theme = map[string]string{}
				}
				theme[v[1]], changes = strings.TrimSpace(v[2]), true
			}
		}
		if !changes {
			continue
		}
		if base == nil {
			base = theme
		}
		all[strconv.Itoa(len(all)+1)+" "+strings.TrimSpace(rule[1])] = theme
	}
	return all
}

// luminance is the relative luminance of a colour, #rgb or #rrggbb (WCAG 2.2, "relative luminance").
func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	digits := strings.TrimPrefix(colour, "#")
	if len(digits) == 3 {
		digits = string([]byte{digits[0], digits[0], digits[1], digits[1], digits[2], digits[2]})
	}
	value, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || len(digits) != 6 {
		t.Fatalf("%q: want a colour as #rrggbb", colour)
	}
	linear := func(shift int) float64 {
		c := float64(value>>shift&0xff) / 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(16) + 0.7152*linear(8) + 0.0722*linear(0)
}

// contrast is the contrast ratio of two luminances (WCAG 2.2, "contrast ratio").
func contrast(a, b float64) float64 { return (max(a, b) + 0.05) / (min(a, b) + 0.05) }

// TestColoursHaveContrast: text is read on each surface it stands on (4.5:1), lines and marks are
// seen (3:1), in every theme.
func TestColoursHaveContrast(t *testing.T) {
	t.Parallel()
	grounds := []string{"surface", "raised"}
	pairs := []struct {
		what, on []string
		want     float64
	}{
		{[]string{"text", "muted", "accent", "motion", "warn"}, grounds, 4.5},
		{[]string{"text", "warn"}, []string{"warn-surface"}, 4.5},
		{[]string{"on-accent"}, []string{"accent"}, 4.5},
		{[]string{"text", "accent"}, []string{"chosen"}, 4.5},
		{[]string{"edge", "hatch", "heat4", "heat5"}, grounds, 3},
	}
	found := themes(t)
	if len(found) < 2 {
		t.Fatalf("themes %v, want light and dark", slices.Collect(maps.Keys(found)))
	}
	for name, theme := range found {
		of := func(token string) float64 {
			if theme[token] == "" {
				t.Fatalf("theme %s: no colour --%s", name, token)
			}
			return luminance(t, theme[token])
		}
		for _, pair := range pairs {
			for _, what := range pair.what {
				for _, on := range pair.on {
					if got := contrast(of(what), of(on)); got < pair.want {
						t.Errorf("theme %s: --%s on --%s has %.2f:1, want %.1f:1", name, what, on, got, pair.want)
					}
				}
			}
		}
		for token := range theme { // lines of charts
			if regexp.MustCompile(`^(line|plot|series|chart)-?\d`).MatchString(token) {
				for _, on := range grounds {
					if got := contrast(of(token), of(on)); got < 3 {
						t.Errorf("theme %s: --%s on --%s has %.2f:1, want 3:1", name, token, on, got)
					}
				}
			}
		}
	}
}

// TestHeatIsOneScaleByLightness: each step is told from the next one without its hue, and all go
// one way, away from the surface.
func TestHeatIsOneScaleByLightness(t *testing.T) {
	t.Parallel()
	for name, theme := range themes(t) {
		away := 1.0
		if luminance(t, theme["surface"]) > luminance(t, theme["heat5"]) {
			away = -1
		}
		for step := range 5 {
			a, b := luminance(t, theme["heat"+strconv.Itoa(step)]), luminance(t, theme["heat"+strconv.Itoa(step+1)])
			if got := contrast(a, b); (b-a)*away <= 0 || got < 1.25 {
				t.Errorf("theme %s: heat %d and %d: %.2f:1, want 1.25:1 or more, away from the surface", name, step, step+1, got)
			}
		}
	}
}

// TestStylesTakeColoursFromTokens: no colour stands outside css/tokens.css, and each variable that
// is used is declared.
func TestStylesTakeColoursFromTokens(t *testing.T) {
	t.Parallel()
	declared, used := map[string]bool{}, map[string]string{}
	look := func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".css") && !strings.HasSuffix(name, ".tsx") {
			return err
		}
		raw, err := os.ReadFile(name)
		text := cssComment.ReplaceAllString(string(raw), "")
		for _, v := range cssVariable.FindAllStringSubmatch(text, -1) {
			declared[v[1]] = true
		}
		for _, v := range cssUse.FindAllStringSubmatch(text, -1) {
			used[v[1]] = name
		}
		if found := cssColour.FindAllString(text, -1); name != "src/css/tokens.css" && strings.HasSuffix(name, ".css") && found != nil {
			t.Errorf("%s: colours %v, want tokens", name, found)
		}
		return err
	}
	for _, folder := range []string{"src", "reference"} {
		if err := fs.WalkDir(os.DirFS("."), folder, look); err != nil {
			t.Fatal(err)
		}
	}
	for variable, name := range used {
		if !declared[variable] {
			t.Errorf("%s uses --%s, which is not declared", name, variable)
		}
	}
}
