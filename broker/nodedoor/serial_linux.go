package nodedoor

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// openSerial opens a serial device at 921600 baud, 8 bits, without parity, as the firmwares of esp-csi write. What is
// no terminal, such as a pipe, is opened as it is.
func openSerial(path string) (*os.File, error) {
	device, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	raw, err := device.SyscallConn()
	if err == nil {
		err2 := raw.Control(func(fd uintptr) { err = setSerial(int(fd)) })
		if err == nil {
			err = err2
		}
	}
	if err != nil {
		_ = device.Close() // nothing was read yet
		return nil, fmt.Errorf("set up %s: %w", path, err)
	}
	return device, nil
}

// setSerial makes a terminal a plain line of bytes.
func setSerial(fd int) error {
	t, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return nil // no terminal
	}
	t.Iflag &^= unix.IGNBRK | unix.BRKINT | unix.PARMRK | unix.ISTRIP | unix.INLCR | unix.IGNCR | unix.ICRNL | unix.IXON
	t.Oflag &^= unix.OPOST
	t.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON | unix.ISIG | unix.IEXTEN
	t.Cflag &^= unix.CSIZE | unix.PARENB | unix.CSTOPB | unix.CRTSCTS | unix.CBAUD
	t.Cflag |= unix.CS8 | unix.CREAD | unix.CLOCAL | unix.B921600
	t.Cc[unix.VMIN], t.Cc[unix.VTIME] = 1, 0
	return unix.IoctlSetTermios(fd, unix.TCSETS, t)
}
