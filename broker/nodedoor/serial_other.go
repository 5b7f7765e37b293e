//go:build !linux

package nodedoor

import "os"

// openSerial opens a serial device as it is set up.
func openSerial(path string) (*os.File, error) { return os.Open(path) }
