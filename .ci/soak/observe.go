package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	mebi      = 1 << 20
	tolerance = 0.05 // of memory: ±5 % is flat
	momentary = 0.02 // of goroutines and files: those of current requests
)

// row holds the appliance's figures at one moment. Memory is in bytes.
type row struct {
	own, mapped float64 // resident: anonymous memory, and pages of the database
	heap        float64 // in use
	goroutines  float64
	files       float64 // open descriptors
	database    float64 // size of the file
	written     float64 // to the disk, since the start
	messages    float64 // from devices, since the start
}

// observe prints a row at each interval until ctx ends, and returns all rows.
func observe(ctx context.Context, b *appliance, c clock, every time.Duration) ([]row, error) {
	fmt.Println("| simulated | own MB | mapped MB | heap MB | goroutines | files | database MB | written MB | messages |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|")
	tick := time.NewTicker(every)
	defer tick.Stop()
	var rows []row
	for {
		select {
		case <-ctx.Done():
			return rows, nil
		case <-tick.C:
		}
		r, err := b.row(ctx)
		if ctx.Err() != nil {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		rows = append(rows, r)
		fmt.Printf("| %s | %.1f | %.1f | %.1f | %.0f | %.0f | %.1f | %.1f | %.0f |\n", c.now().Sub(c.epoch).Round(time.Minute),
			r.own/mebi, r.mapped/mebi, r.heap/mebi, r.goroutines, r.files, r.database/mebi, r.written/mebi, r.messages)
	}
}

// row reads the figures of the process from /proc and the appliance's metrics.
func (b *appliance) row(ctx context.Context) (row, error) {
	proc := filepath.Join("/proc", strconv.Itoa(b.Process.Pid))
	status, err := os.ReadFile(filepath.Join(proc, "status"))
	if err != nil {
		return row{}, err
	}
	io, err := os.ReadFile(filepath.Join(proc, "io"))
	if err != nil {
		return row{}, err
	}
	files, err := os.ReadDir(filepath.Join(proc, "fd"))
	if err != nil {
		return row{}, err
	}
	database, err := os.Stat(filepath.Join(b.state, "sensegate.db"))
	if err != nil {
		return row{}, err
	}
	metrics, err := b.call(ctx, http.MethodGet, "/metrics", "")
	if err != nil {
		return row{}, err
	}
	return row{
		own: 1024 * figure(status, "RssAnon:"), mapped: 1024 * figure(status, "RssFile:"),
		heap: figure(metrics, "go_memstats_heap_inuse_bytes"), goroutines: figure(metrics, "go_goroutines"),
		files: float64(len(files)), database: float64(database.Size()), written: figure(io, "write_bytes:"),
		messages: figure(metrics, `sensegate_mqtt_messages_total{result="taken"}`),
	}, nil
}

// figure returns the number after a name at the start of a line, 0 without one.
func figure(text []byte, name string) float64 {
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == name {
			n, _ := strconv.ParseFloat(fields[1], 64) // 0 if it is not a number
			return n
		}
	}
	return 0
}

// judge reports whether the last quarter is flat against the second; the first is the
// warm-up. Fewer than 8 rows count as flat.
func judge(rows []row) bool {
	n := len(rows)
	if n < 8 {
		fmt.Println("\ntoo short to say whether it is flat: it takes 8 rows")
		return true
	}
	flat := true
	for _, of := range []struct {
		name    string
		figure  func(row) float64
		allowed float64 // growth
	}{
		{"own memory", func(r row) float64 { return r.own }, tolerance},
		{"heap in use", func(r row) float64 { return r.heap }, tolerance},
		{"goroutines", func(r row) float64 { return r.goroutines }, momentary},
		{"open files", func(r row) float64 { return r.files }, momentary},
	} {
		before, after := median(rows[n/4:n/2], of.figure), median(rows[3*n/4:], of.figure)
		held := after <= before*(1+of.allowed)
		flat = flat && held
		fmt.Printf("\n%s: median of the second quarter %.0f, of the last %.0f (%+.1f %%), flat: %t", of.name, before, after, 100*(after/before-1), held)
	}
	fmt.Println()
	return flat
}

func median(rows []row, of func(row) float64) float64 {
	figures := make([]float64, len(rows))
	for i, r := range rows {
		figures[i] = of(r)
	}
	slices.Sort(figures)
	return figures[len(figures)/2]
}
