//go:build tools

// Package tools names the programs that the checks run, so that their versions
// are pinned beside the project and not in its own module.
package tools

import (
	_ "golang.org/x/tools/cmd/deadcode"
	_ "honnef.co/go/tools/cmd/staticcheck"
)
