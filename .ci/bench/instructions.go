package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
)

// counted is a benchmark whose instructions are counted.
type counted struct {
	what, pack, name string
	times            int // of a shorter run; a longer one has three times as many
	of               int // what a turn of the benchmark does so often
}

// countings returns what is counted: the work of a box that goes on all the time, and answers.
func countings() []counted {
	return []counted{
		{"a frame of 64 subcarriers at 50 a second, sensed", "motion/detect", "BenchmarkLink/50Hz", 4000, 1},
		{"a frame of 64 subcarriers at 100 a second, sensed", "motion/detect", "BenchmarkLink/100Hz", 4000, 1},
		{"a motion-matrix of 2 links, decoded", "broker/wire", "BenchmarkDecodeMatrix", 4000, 1},
		{"a motion-matrix of 6 links and 2 steps, made and sensed", "motion/engine", "BenchmarkMatrix", 100, 50},
		{"a minute of a home of 7 series, made, added and coded for the disk", "motion/series", "BenchmarkIncrement/sparse", 400, 1},
		{"answer: a network", "api/core", "BenchmarkReadOne/network", 2000, 1},
		{"answer: the topology of a network", "api/core", "BenchmarkReadOne/topology", 2000, 1},
		{"answer: 24 h at 1 s, of blocks in memory", "motion/series", "BenchmarkDay/answer/sparse", 20, 1},
	}
}

// processors are those that are counted for, by the name that QEMU has for them.
var processors = []struct{ arch, qemu string }{{"arm64", "qemu-aarch64"}, {"amd64", "qemu-x86_64"}}

// instructions counts instructions under qemu-user, which are the same on each machine, and writes a table.
func (b *bench) instructions(ctx context.Context, out io.Writer, head string) (err error) {
	dir, err := b.temp("instructions")
	if err != nil {
		return err
	}
	plugin := filepath.Join(dir, "count.so")
	if err := command(filepath.Join(b.root, ".ci/bench/qemu"), nil, "gcc", "-O2", "-shared", "-fPIC", "-o", plugin, "count.c"); err != nil {
		return err
	}
	fmt.Fprintf(out, "%s\n\n", head)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	defer func() { err = errors.Join(err, table.Flush()) }()
	fmt.Fprintln(table, "instructions of\tarm64\tamd64\tarm64 ÷ amd64\t")
	for _, c := range countings() {
		var each [2]float64
		for i, p := range processors {
			qemu, err := lookFor(p.qemu, "/usr/bin/"+p.qemu)
			if err != nil {
				return fmt.Errorf("%w (the package is qemu-user)", err)
			}
			binary := filepath.Join(dir, strings.ReplaceAll(c.pack, "/", "-")+"."+p.arch)
			if _, err := os.Stat(binary); errors.Is(err, os.ErrNotExist) {
				err = command(b.root, []string{"CGO_ENABLED=0", "GOARCH=" + p.arch}, "go", "test", "-c", "-o", binary, "./"+c.pack)
				if err != nil {
					return err
				}
			}
			var counts [2]int64
			for k, times := range []int{c.times, 3 * c.times} {
				if counts[k], err = b.count(ctx, c, qemu, plugin, binary, times); err != nil {
					return fmt.Errorf("%s: %w", c.what, err)
				}
			}
			each[i] = float64(counts[1]-counts[0]) / float64(2*c.times*c.of)
		}
		b.say("%s: %.0f", c.what, each[0])
		fmt.Fprintf(table, "%s\t%s\t%s\t%.2f\t\n", c.what, thousands(each[0]), thousands(each[1]), each[0]/each[1])
	}
	return nil
}

// count runs a benchmark so many times and returns the instructions of the whole process.
func (b *bench) count(ctx context.Context, c counted, qemu, plugin, binary string, times int) (int64, error) {
	var patterns []string
	for _, part := range strings.Split(c.name, "/") {
		patterns = append(patterns, "^"+part+"$")
	}
	cmd := exec.CommandContext(ctx, qemu, "-plugin", plugin, binary, "-test.run", "^$", "-test.cpu", "1",
		"-test.bench", strings.Join(patterns, "/"), "-test.benchtime", strconv.Itoa(times)+"x")
	cmd.Dir = filepath.Join(b.root, c.pack)
	said, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(said, []byte(" ns/op")) {
		return 0, errors.Join(err, fmt.Errorf("%s", said))
	}
	_, text, _ := bytes.Cut(said, []byte("\ninstructions "))
	return strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64)
}

// thousands writes a number with a comma before each three of its digits.
func thousands(v float64) string {
	text := strconv.FormatFloat(v, 'f', 0, 64)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}
