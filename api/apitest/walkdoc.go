package apitest

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

func mustRead(t testing.TB, b block) []value {
	t.Helper()
	values, err := readValues([]byte(b.text))
	if err != nil {
		t.Fatalf("line %d: %v", b.line, err)
	}
	return values
}

// compare checks what came against a block of the document, and notes the block as
// it is to be when they differ.
func (w *Walk) compare(b block, got []value) {
	w.T.Helper()
	documented, r := mustRead(w.T, b), rule{moment: strings.HasSuffix(b.info, "of the moment")}
	var wrong []string
	if len(documented) != len(got) {
		wrong = append(wrong, fmt.Sprintf("documented %d values, got %d", len(documented), len(got)))
		documented = make([]value, len(got))
	} else {
		for i := range got {
			wrong = append(wrong, r.differences("", documented[i], got[i])...)
		}
	}
	if len(wrong) == 0 {
		return
	}
	if !w.Update {
		w.T.Errorf("%s line %d is not what comes; look at the change and run go test . -run Walk -update beside this test:\n%s",
			w.File, b.line, strings.Join(wrong, "\n"))
		return
	}
	text := ""
	for i := range got {
		text += shorten(documented[i], got[i]).text("") + "\n"
	}
	w.texts[b.line] = block{text: text, line: strings.Count(b.text, "\n")}
}

// compareText checks what curl -w wrote.
func (w *Walk) compareText(b block) {
	w.T.Helper()
	got := strings.TrimRight(w.written, "\n") + "\n"
	switch {
	case got == b.text:
	case w.Update:
		w.texts[b.line] = block{text: got, line: strings.Count(b.text, "\n")}
	default:
		w.T.Errorf("%s line %d: got %s", w.File, b.line, got)
	}
}

// write puts the noted blocks into the document.
func (w *Walk) write(lines []string) {
	w.T.Helper()
	for i := len(lines); i > 0; i-- { // from the end, so that lines keep their numbers
		if b, ok := w.texts[i]; ok {
			lines = slices.Replace(lines, i-1, i-1+b.line, strings.TrimSuffix(b.text, "\n"))
		}
	}
	if err := os.WriteFile(w.File, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		w.T.Fatal(err)
	}
}
