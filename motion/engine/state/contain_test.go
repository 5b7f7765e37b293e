package state

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
)

func TestPanicOfAStepIsCountedAndItsStackLoggedOnce(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	c := containment{log: slog.New(slog.NewTextHandler(&log, nil))}
	for range 3 {
		if err := c.Run("advance network 1", func() error { panic("met") }); err != nil {
			t.Error(err)
		}
	}
	trouble := errors.New("trouble")
	if err := c.Run("advance network 2", func() error { return trouble }); !errors.Is(err, trouble) {
		t.Errorf("error %v, want that of the step", err)
	}
	if stacks, lines := strings.Count(log.String(), "stack="), strings.Count(log.String(), "step panicked"); stacks != 1 || lines != 3 {
		t.Errorf("%d stacks in %d lines, want 1 in 3", stacks, lines)
	}
	if got := c.count.Load(); got != 3 {
		t.Errorf("counted %d, want 3", got)
	}
}
