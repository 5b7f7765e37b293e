package admin

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestProgressIsShownOnATerminalAlone: what is read is counted, what takes time is told, and a pipe gets neither.
func TestProgressIsShownOnATerminalAlone(t *testing.T) {
	t.Parallel()
	screen, terminal := pty(t)
	c := command{said: terminal}
	counted := c.counting(strings.NewReader(strings.Repeat("x", 3<<20)), "read", 3<<20)
	if n, err := io.Copy(io.Discard, counted); n != 3<<20 || err != nil {
		t.Fatal(n, err)
	}
	counted.done()
	done := c.waiting("checking")
	var shown strings.Builder
	heard := make([]byte, 1024)
	for !strings.Contains(shown.String(), "checking, 1s") {
		if err := screen.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		n, err := screen.Read(heard)
		if err != nil {
			t.Fatalf("shown: %q, %v", shown.String(), err)
		}
		shown.Write(heard[:n])
	}
	done()
	for _, want := range []string{"read 0.0 MB of 3.1 MB", "read 3.1 MB."} {
		if !strings.Contains(shown.String(), want) {
			t.Errorf("no %q in %q", want, shown.String())
		}
	}

	reader, pipe, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c = command{said: pipe}
	counted = c.counting(strings.NewReader("xyz"), "read", 3)
	_, err = io.Copy(io.Discard, counted)
	counted.done()
	c.waiting("checking")()
	if err != nil || pipe.Close() != nil {
		t.Fatal(err)
	}
	if told, err := io.ReadAll(reader); err != nil || len(told) > 0 {
		t.Errorf("the pipe got %q, %v", told, err)
	}
}

// pty returns both ends of a terminal: what a person sees, and what a program writes to.
func pty(t *testing.T) (screen, terminal *os.File) {
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Skip("no terminals here:", err)
	}
	t.Cleanup(func() { _ = screen.Close() })
	raw, err := screen.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	number := 0
	err = raw.Control(func(fd uintptr) {
		if err = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); err == nil {
			number, err = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no terminals here:", err)
	}
	t.Cleanup(func() { _ = terminal.Close() })
	return screen, terminal
}
