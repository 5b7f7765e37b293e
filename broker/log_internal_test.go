package broker

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
)

func TestLinesOfTheLibraryAreBounded(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := slog.New(newQuiet(slog.NewTextHandler(&out, nil)))
	for range 5000 {
		log.With("client", "a").Error("publish packet", "error", errors.New("quota exceeded"))
	}
	if lines := strings.Count(out.String(), "quota exceeded"); lines < 1 || lines > 70 {
		t.Errorf("%d lines of 5,000", lines)
	}
}
