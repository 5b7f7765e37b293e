package appliance

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestAdministratorsReadTheLogWithoutRequests: requests would tell when a household comes and goes.
func TestAdministratorsReadTheLogWithoutRequests(t *testing.T) {
	t.Parallel()
	r := serve(t, func(*Config) {})
	r.log.Info("request", "status", 200)
	r.log.Warn("request", "status", 500)
	lines, _, _ := r.box.LogLines(slog.LevelDebug, 0, 500)
	var all []string
	for _, line := range lines {
		all = append(all, line.Text)
	}
	if text := strings.Join(all, "\n"); !strings.Contains(text, "certificate authority made sha256=") || strings.Count(text, "request ") != 1 || !strings.Contains(text, "request status=500") {
		t.Errorf("kept:\n%s", text)
	}
}

// TestLogInAFileStaysSmall: former files go, nothing goes to standard error, and the level can be changed.
func TestLogInAFileStaysSmall(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := Defaults().Log
	c.File, c.FileSize, c.Files = filepath.Join(dir, "log"), mebibyte, 2
	log := c.Logger(io.Discard)
	log.Debug("unwanted")
	c.InForce.Set(slog.LevelDebug)
	log.Debug("wanted")
	if raw, err := os.ReadFile(c.File); err != nil || strings.Contains(string(raw), "unwanted") || !strings.Contains(string(raw), "msg=wanted") {
		t.Errorf("%v: %.200q", err, raw)
	}
	line := strings.Repeat("x", 10_000)
	for range 600 {
		log.Info(line)
	}
	sizes := func() (sizes []int64) {
		files, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if info, err := file.Info(); err == nil { // it may just have gone
				sizes = append(sizes, info.Size())
			}
		}
		return sizes
	}
	for end := time.Now().Add(time.Minute); len(sizes()) != 1+c.Files; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("files of %v bytes, want %d", sizes(), 1+c.Files)
		}
	}
	for _, size := range sizes() {
		if size > int64(c.FileSize) {
			t.Errorf("a file has %d bytes", size)
		}
	}
}
