package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"text/tabwriter"
)

// test names a test. Without a name it is the package, which failed to build, ran out
// of time or ended outside a test.
type test struct{ pkg, name string }

func (t test) String() string { return t.pkg + "\x00" + t.name }

// failures are the failed tests, each with the descriptions of the runs it failed in.
type failures map[test][]string

// event is a line of go test -json.
type event struct{ Action, Package, ImportPath, Test, Output string }

// run runs a command of go test, prints the failed tests and returns their number.
func (f failures) run(cmd *exec.Cmd, how string) (failed int, err error) {
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	said, blamed := map[test]*strings.Builder{}, map[string]bool{}
	for lines := json.NewDecoder(out); ; {
		var e event
		if err := lines.Decode(&e); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return failed, errors.Join(err, cmd.Cancel(), cmd.Wait())
		}
		t := test{e.Package, e.Test}
		if said[t] == nil {
			said[t] = &strings.Builder{}
		}
		said[t].WriteString(e.Output)
		if e.Action != "fail" || e.Test == "" && blamed[e.Package] {
			continue
		}
		blamed[e.Package] = true
		failed++
		f[t] = append(f[t], how)
		fmt.Printf("\n%s %s\n%s\n", t.pkg, t.name, tail(said[t].String()))
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1 && failed > 0) {
		return failed, err
	}
	return failed, nil
}

// tail returns the last 4000 bytes of a test's output.
func tail(output string) string {
	const most = 4000
	return output[max(0, len(output)-most):]
}

// print writes a table of the failed tests: how often, and in which runs.
func (f failures) print(to io.Writer, runs int) {
	if len(f) == 0 {
		fmt.Fprintln(to, "nothing failed")
		return
	}
	table := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "package\ttest\tfailed\twith")
	tests := slices.SortedFunc(maps.Keys(f), func(a, b test) int { return strings.Compare(a.String(), b.String()) })
	for _, t := range tests {
		fmt.Fprintf(table, "%s\t%s\t%d of %d\t%s\n", t.pkg, t.name, len(f[t]), runs, strings.Join(f[t], "; "))
	}
	_ = table.Flush()
}
