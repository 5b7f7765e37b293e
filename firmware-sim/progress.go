package main

import (
	"fmt"
	"io"
	"os"
)

// isTerminal reports whether people see what is written to f.
func isTerminal(f *os.File) bool {
	about, err := f.Stat()
	return err == nil && about.Mode()&os.ModeCharDevice != 0
}

// showProgress returns what writes to a terminal how far a calculation is, in percent, and wipes
// that when it is done.
func showProgress(terminal io.Writer) func(done, of int) {
	last := -1
	return func(done, of int) {
		switch now := 100 * done / max(of, 1); {
		case done >= of:
			fmt.Fprint(terminal, "\r\x1b[K")
		case now != last:
			last = now
			fmt.Fprintf(terminal, "\r%d %%", now)
		}
	}
}
