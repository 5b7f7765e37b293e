package sim

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"sensegate/firmware-sim/capture"
	"sensegate/motion"
)

// Take is one recording: a capture per receiver, all with times from the same
// moment.
type Take struct {
	Name     string
	Captures []*capture.Capture
}

// Duration returns the time of the last frame, in seconds from the start of the take.
func (t *Take) Duration() motion.Seconds {
	longest := 0.0
	for _, c := range t.Captures {
		if n := len(c.Frames); n > 0 {
			longest = max(longest, c.Frames[n-1].Time)
		}
	}
	return longest
}

// OpenTakes reads captures for Replay from files (*.csv.gz, *.csi.jsonl) and, at any
// depth, from directories. Labelled files of the same recording become one take, in
// the order of their parts and without the frames that their header skips. It
// returns an error if there are no captures.
func OpenTakes(paths ...string) ([]Take, error) {
	files, err := captureFiles(paths)
	if err != nil {
		return nil, err
	}
	recordings, err := groupRecordings(files)
	if err != nil {
		return nil, err
	}
	var takes []Take
	for _, r := range recordings {
		if err := r.Load(); err != nil {
			return nil, err
		}
		takes = append(takes, Take{Name: r.Name, Captures: []*capture.Capture{
			{Path: r.Paths[0], Header: r.Header, Frames: r.Frames},
		}})
	}
	for _, path := range files {
		if isLabelled(path) {
			continue
		}
		captures, err := capture.Read(path)
		if err != nil {
			return nil, err
		}
		takes = append(takes, Take{Name: filepath.Base(path), Captures: captures})
	}
	takes = slices.DeleteFunc(takes, func(t Take) bool { return len(t.Captures) == 0 })
	if len(takes) == 0 {
		return nil, fmt.Errorf("no captures (*.csv.gz, *.csi.jsonl) in %s", strings.Join(paths, ", "))
	}
	return takes, nil
}

func isLabelled(path string) bool { return strings.HasSuffix(path, ".csv.gz") }

// captureFiles returns the files that paths name or contain.
func captureFiles(paths []string) ([]string, error) {
	var files []string
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, fmt.Errorf("open capture: %w", err)
		}
		if !info.IsDir() {
			files = append(files, path)
			continue
		}
		err = filepath.WalkDir(path, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && (isLabelled(path) || strings.HasSuffix(path, ".csi.jsonl")) {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("search captures: %w", err)
		}
	}
	return files, nil
}

// groupRecordings groups the labelled files into recordings, in the order of their
// first files.
func groupRecordings(files []string) ([]*capture.Recording, error) {
	type key struct{ group, name string }
	type part struct {
		path   string
		number int
	}
	var order []*capture.Recording
	parts := map[key][]part{}
	var bad []error
	for _, path := range files {
		if !isLabelled(path) {
			continue
		}
		h, err := capture.ReadHeader(path)
		if err != nil {
			bad = append(bad, err)
			continue
		}
		k := key{h.Group, h.Recording}
		if parts[k] == nil {
			order = append(order, &capture.Recording{Group: k.group, Name: k.name})
		}
		parts[k] = append(parts[k], part{path, h.Part})
	}
	for _, r := range order {
		all := parts[key{r.Group, r.Name}]
		sort.SliceStable(all, func(i, j int) bool { return all[i].number < all[j].number })
		for _, p := range all {
			r.Paths = append(r.Paths, p.path)
		}
		header, err := capture.ReadHeader(r.Paths[0])
		if err != nil {
			bad = append(bad, err)
		}
		r.Header = header
	}
	return order, errors.Join(bad...)
}
