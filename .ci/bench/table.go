package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// columns returns the headings of the table.
func columns() []string {
	return []string{"", "Figure", "Ours", "To reach", "Verdict", "Peer", "Peer's", "Ours ÷ peer's"}
}

// cells returns the row of a figure.
func (f figure) cells() []string {
	if f.Err != nil {
		return []string{f.Name, "not measured: " + strings.Join(strings.Fields(f.Err.Error()), " "), "", "", "", "", "", ""}
	}
	row := []string{f.Name, f.What, number(f.Ours) + " " + f.Unit, f.goal(), f.verdict(), f.Peer, "", ""}
	if f.Peer != "" {
		row[6], row[7] = number(f.Peers)+" "+f.Unit, number(f.ratio())
	}
	return row
}

// goal returns the goal as text.
func (f figure) goal() string {
	b := f.Reach
	if b.Limit == 0 {
		return ""
	}
	sign, of := "≤", f.Unit
	if b.AtLeast {
		sign = "≥"
	}
	if b.OfPeer {
		of = "× peer"
	}
	text := fmt.Sprintf("%s %s %s", sign, number(b.Limit), of)
	if b.Then > 0 {
		text += fmt.Sprintf(" (then %s)", number(b.Then))
	}
	if f.limit() > b.Limit {
		text += fmt.Sprintf(" where the peer takes %s; here %s", number(b.PeersThen), number(f.limit()))
	}
	return text
}

// number formats a figure with three significant digits.
func number(v float64) string {
	if v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	decimals := max(0, 2-int(math.Floor(math.Log10(math.Abs(v)))))
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

func printText(out io.Writer, about string, figures []figure) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s\n\n", about)
	fmt.Fprintln(w, strings.Join(columns(), "\t"))
	for _, f := range figures {
		fmt.Fprintln(w, strings.Join(f.cells(), "\t"))
	}
	return w.Flush()
}

func printMarkdown(out io.Writer, about string, figures []figure) error {
	rows := []string{about, "", "| " + strings.Join(columns(), " | ") + " |", strings.Repeat("|---", len(columns())) + "|"}
	for _, f := range figures {
		rows = append(rows, "| "+strings.Join(f.cells(), " | ")+" |")
	}
	_, err := fmt.Fprintln(out, strings.Join(rows, "\n"))
	return err
}

// commit returns the commit of the checkout.
func commit(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "git", "describe", "--always", "--dirty").Output()
	if err != nil {
		return "an unknown commit"
	}
	return "commit " + strings.TrimSpace(string(out))
}

// describe returns the date, commit, machine and command of a measurement.
func describe(commit, command string) string {
	return fmt.Sprintf("Measured on %s at %s, with %s on %d × %s (%s), load average of its last 15 minutes %s:\n\n    %s",
		time.Now().UTC().Format(time.DateOnly), commit, runtime.Version(), runtime.NumCPU(), processor(), runtime.GOARCH, load(), command)
}

// processor returns the name of the machine's processor.
func processor() string {
	info, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(info)) {
		if key, name, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(name)
		}
	}
	return "unknown processor"
}

// load returns the load average of the last 15 minutes.
func load() string {
	averages, _ := os.ReadFile("/proc/loadavg")
	if fields := strings.Fields(string(averages)); len(fields) > 2 {
		return fields[2]
	}
	return "unknown"
}
