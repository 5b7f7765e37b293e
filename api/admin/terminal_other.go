//go:build !linux

package admin

import "os"

// singleKeys does nothing: each key is followed by Enter.
func singleKeys(*os.File) (restore func()) { return func() {} }
