//go:build tools

// Package tools imports the programs that the checks run, so that their versions are
// pinned here and not in the project's own module.
package tools

import (
	_ "golang.org/x/tools/cmd/deadcode"
	_ "honnef.co/go/tools/cmd/staticcheck"
)
