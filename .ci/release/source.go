package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// source is what is built: a clone at a commit.
type source struct {
	root    string    // absolute path of the clone
	version string    // semantic version without "v"
	commit  string    // 40 hex digits
	date    time.Time // of the commit, UTC: the time of everything that is written
}

// semantic are the versions that packages of all kinds order alike.
var semantic = regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?$`)

// readSource reads the commit of a clone. Without a version it takes the commit's tag, else
// 0.0.0-TIME.COMMIT, which grows with time and is lower than any release.
func readSource(root, version string) (s source, err error) {
	s.root = root
	if s.commit, err = git(root, "rev-parse", "HEAD"); err != nil {
		return s, err
	}
	date, err := git(root, "log", "-1", "--format=%cI")
	if err != nil {
		return s, err
	}
	if s.date, err = time.Parse(time.RFC3339, date); err != nil {
		return s, err
	}
	s.date = s.date.UTC()
	if version == "" {
		version, err = git(root, "describe", "--tags", "--exact-match", "--match", "v[0-9]*")
	}
	if err != nil {
		version = "0.0.0-" + s.date.Format("20060102150405") + "." + s.commit[:12]
	}
	changed, err := git(root, "status", "--porcelain", "--untracked-files=no")
	if err != nil {
		return s, err
	}
	s.version = strings.TrimPrefix(version, "v")
	if changed != "" {
		fmt.Fprintln(os.Stderr, "files differ from the commit: the build cannot be repeated and is marked as dirty")
		s.commit += "-dirty"
	}
	if !semantic.MatchString(s.version) {
		return s, fmt.Errorf("version %q: want 1.2.3 or 1.2.3-rc.1", s.version)
	}
	return s, nil
}

// file returns the path of a file of the clone.
func (s source) file(name string) string { return filepath.Join(s.root, name) }

// packaged returns the path of a file that packages alone have.
func (s source) packaged(name string) string { return s.file(filepath.Join(".ci/release/files", name)) }

func git(root string, args ...string) (string, error) {
	out, err := exec.Command("git", append([]string{"-C", root}, args...)...).Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}
