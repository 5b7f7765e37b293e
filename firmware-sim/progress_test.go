package main

import (
	"os"
	"strings"
	"testing"
)

func TestProgressIsWipedWhenItIsDone(t *testing.T) {
	t.Parallel()
	var screen strings.Builder
	show := showProgress(&screen)
	for done := 1; done <= 400; done++ {
		show(done, 400)
	}
	shown := screen.String()
	if strings.Count(shown, "\r50 %") != 1 || !strings.HasSuffix(shown, "\r99 %\r\x1b[K") {
		t.Errorf("shown: %q", shown)
	}
}

func TestNeitherAPipeNorAFileIsATerminal(t *testing.T) {
	t.Parallel()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	defer writer.Close()
	file, err := os.Create(t.TempDir() + "/file")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if isTerminal(writer) || isTerminal(file) {
		t.Errorf("pipe %v, file %v", isTerminal(writer), isTerminal(file))
	}
}
