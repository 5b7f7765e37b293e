package passphrase

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Affordable returns the highest work factor whose key takes at most half of the memory that
// is free now, 14 to MostWork: a box with little memory must not be ended for a backup. Where
// the system does not say what is free it is 16.
func Affordable() int { return affordable(freeMemory("/")) }

// affordable is Affordable with so many bytes free, 0: not known.
func affordable(free int64) int {
	if free == 0 {
		return usualWork
	}
	work := leastWork
	for work < MostWork && int64(1024)<<(work+1) <= free/2 {
		work++
	}
	return work
}

// freeMemory returns how many bytes the process can still take, by what Linux says below
// root: of the machine, and of its group (a container or a unit with a limit). 0: not known.
func freeMemory(root string) int64 {
	free := sizeAt(filepath.Join(root, "proc/meminfo"), "MemAvailable:") * 1024
	_, group, ok := strings.Cut(firstLine(filepath.Join(root, "proc/self/cgroup")), "0::")
	if !ok {
		return free
	}
	directory := filepath.Join(root, "sys/fs/cgroup", group)
	limit, err := strconv.ParseInt(firstLine(filepath.Join(directory, "memory.max")), 10, 64)
	if err != nil {
		return free // "max", or there is none
	}
	left := max(1, limit-sizeAt(filepath.Join(directory, "memory.stat"), "anon"))
	if free == 0 {
		return left
	}
	return min(free, left)
}

// sizeAt returns the number behind a word that begins a line of a file, 0 when there is none.
func sizeAt(path, word string) int64 {
	data, _ := os.ReadFile(path)
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); len(fields) > 1 && fields[0] == word {
			size, _ := strconv.ParseInt(fields[1], 10, 64)
			return size
		}
	}
	return 0
}

// firstLine returns the first line of a file, "" when it cannot be read.
func firstLine(path string) string {
	data, _ := os.ReadFile(path)
	line, _, _ := strings.Cut(string(data), "\n")
	return line
}
