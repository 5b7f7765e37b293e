package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// clock is the time of programs that are built with its overlay.
type clock struct {
	overlay string    // file for go build -overlay
	epoch   time.Time // when real and simulated time were equal
	speed   int
}

// now returns the simulated time.
func (c clock) now() time.Time {
	return c.epoch.Add(time.Since(c.epoch) * time.Duration(c.speed))
}

// fastTime is the added file of the time package.
const fastTime = `package time

const (
	fastSpeed = %d
	fastEpoch = %d // Unix time in nanoseconds
	fastUnset = %d // nanoseconds after the start for which the clock shows 1970
)

var fastStart = runtimeNano()

func fastNano() int64 { return fastStart + (runtimeNano()-fastStart)*fastSpeed }

func fastNow() (sec int64, nsec int32, mono int64) {
	sec, nsec, _ = runtimeNow()
	wall := fastEpoch + (sec*1e9+int64(nsec)-fastEpoch)*fastSpeed
	if fastNano()-fastStart < fastUnset {
		wall -= fastEpoch
	}
	return wall / 1e9, int32(wall %% 1e9), fastNano()
}
`

// fastPrograms builds programs with a clock of fastClock into dir.
func fastPrograms(ctx context.Context, dir string, speed int, unset time.Duration, programs ...string) (clock, error) {
	c, err := fastClock(ctx, dir, speed, unset)
	for _, name := range programs {
		if err == nil {
			err = run(ctx, "go", "build", "-overlay", c.overlay, "-o", filepath.Join(dir, name), map[string]string{"sensegate": ".", "firmware-sim": "./firmware-sim"}[name])
		}
	}
	return c, err
}

// fastClock writes the overlay of the time package, whose clock shows 1970 for unset. It
// fails if the package differs from that of Go 1.26 where it is edited.
func fastClock(ctx context.Context, dir string, speed int, unset time.Duration) (clock, error) {
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return clock{}, fmt.Errorf("find the time package: %w", err)
	}
	c := clock{overlay: filepath.Join(dir, "overlay.json"), epoch: time.Now(), speed: speed}
	source := filepath.Join(strings.TrimSpace(string(root)), "src", "time")
	replaced := map[string]string{}
	for name, edits := range map[string][]string{
		"time.go": {
			"runtimeNano()-startNano", "fastNano()-startNano",
			"= runtimeNano() - 1", "= fastNano() - 1",
			":= runtimeNow()", ":= fastNow()",
		},
		"sleep.go": {"runtimeNano() + int64(d)", "runtimeNano() + int64(d)/fastSpeed"},
		"tick.go":  {"when(d), int64(d)", "when(d), max(1, int64(d)/fastSpeed)"},
	} {
		text, err := os.ReadFile(filepath.Join(source, name))
		if err != nil {
			return clock{}, err
		}
		edited := string(text)
		for i := 0; i < len(edits); i += 2 {
			if !strings.Contains(edited, edits[i]) {
				return clock{}, fmt.Errorf("%s of %s has no %q: this program does not know that version", name, runtime.Version(), edits[i])
			}
			edited = strings.ReplaceAll(edited, edits[i], edits[i+1])
		}
		if name == "time.go" {
			replaced[filepath.Join(source, "fast.go")] = filepath.Join(dir, "fast.go")
		}
		replaced[filepath.Join(source, name)] = filepath.Join(dir, name)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(edited), 0o600); err != nil {
			return clock{}, err
		}
	}
	text := fmt.Sprintf(fastTime, speed, c.epoch.UnixNano(), unset.Nanoseconds())
	if err := os.WriteFile(filepath.Join(dir, "fast.go"), []byte(text), 0o600); err != nil {
		return clock{}, err
	}
	list, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return clock{}, err
	}
	return c, os.WriteFile(c.overlay, list, 0o600)
}
