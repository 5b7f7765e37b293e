package deflate

import (
	"bytes"
	"compress/gzip"
	"io"
	"math/rand/v2"
	"os"
	"testing"
)

// opened returns what a gzip file has, as the standard library reads it.
func opened(t *testing.T, file []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// TestGzipIsReadAgain: what is compressed comes out as it was.
func TestGzipIsReadAgain(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	letters := func(n, kinds int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(random.IntN(kinds))
		}
		return b
	}
	far := bytes.Repeat(letters(window, 256), 2)
	tooFar := bytes.Repeat(append(bytes.Clone(far[:window]), 'x'), 2)
	for name, content := range map[string][]byte{
		"nothing": nil, "a byte": {7}, "two": []byte("ab"), "three the same": []byte("aaa"), "one byte often": bytes.Repeat([]byte("a"), 70_000),
		"random": letters(5000, 256), "two kinds": letters(3000, 2), "every length": letters(20_000, 4), "as far as it goes": far[:window+600], "too far": tooFar[:window+600],
		"one kind, then another": append(bytes.Repeat([]byte("some words "), 500), letters(4000, 200)...),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := opened(t, Gzip(content)); !bytes.Equal(got, content) {
				t.Errorf("%d bytes came out of %d", len(got), len(content))
			}
		})
	}
}

// TestGzipIsSmaller: sources become smaller than with the best level of the standard library, and
// always the same.
func TestGzipIsSmaller(t *testing.T) {
	t.Parallel()
	var sources []byte
	for _, name := range []string{"deflate.go", "way.go", "block.go", "code.go"} {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, content...)
	}
	var usual bytes.Buffer
	w, err := gzip.NewWriterLevel(&usual, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = w.Write(sources)
	_ = w.Close()
	got := Gzip(sources)
	if !bytes.Equal(opened(t, got), sources) || !bytes.Equal(got, Gzip(sources)) {
		t.Error("the sources do not come out as they were, or not the same twice")
	}
	if len(got) > usual.Len()*98/100 {
		t.Errorf("%d bytes, want two percent less than %d", len(got), usual.Len())
	}
}
