package admin

import (
	"os"
	"syscall"
	"unsafe"
)

// singleKeys lets a terminal pass on each key at once and not show it, until restore is called. What
// is no terminal stays as it is.
func singleKeys(in *os.File) (restore func()) {
	var before syscall.Termios
	if !terminal(in, syscall.TCGETS, &before) {
		return func() {}
	}
	single := before
	single.Lflag &^= syscall.ICANON | syscall.ECHO
	single.Cc[syscall.VMIN], single.Cc[syscall.VTIME] = 1, 0
	terminal(in, syscall.TCSETS, &single)
	return func() { terminal(in, syscall.TCSETS, &before) }
}

// terminal reads or sets the state of a terminal, and reports whether in is one.
func terminal(in *os.File, what uintptr, state *syscall.Termios) bool {
	_, _, err := syscall.Syscall(syscall.SYS_IOCTL, in.Fd(), what, uintptr(unsafe.Pointer(state)))
	return err == 0
}
