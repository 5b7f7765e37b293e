package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// memory is what a process holds of the machine's, in bytes.
type memory struct {
	resident float64 // all of it
	own      float64 // anonymous: heap, stacks, what was written
	file     float64 // pages of files, such as the program's: the system can drop them
}

// memoryOf returns the memory of a process.
func memoryOf(pid int) (memory, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return memory{}, err
	}
	var m memory
	for name, into := range map[string]*float64{"VmRSS": &m.resident, "RssAnon": &m.own, "RssFile": &m.file} {
		_, after, _ := strings.Cut(string(raw), "\n"+name+":")
		if _, err := fmt.Sscan(after, into); err != nil {
			return memory{}, fmt.Errorf("read the memory of process %d: %w", pid, err)
		}
		*into *= 1024
	}
	return m, nil
}

// resident returns the resident memory of a process, in bytes.
func resident(pid int) (float64, error) {
	m, err := memoryOf(pid)
	return m.resident, err
}

// threadTime returns the CPU time of the threads that a process has, more precisely than
// cpuOf: for one that keeps its threads.
func threadTime(pid int) (time.Duration, error) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil {
		return 0, err
	}
	var sum time.Duration
	for _, path := range threads {
		raw, err := os.ReadFile(path)
		if err != nil {
			return 0, err
		}
		var ran int64
		if _, err := fmt.Sscan(string(raw), &ran); err != nil {
			return 0, fmt.Errorf("read %s: %w", path, err)
		}
		sum += time.Duration(ran)
	}
	return sum, nil
}

// written returns the bytes that a process has had written to disks.
func written(pid int) (float64, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	if err != nil {
		return 0, err
	}
	_, after, _ := strings.Cut(string(raw), "\nwrite_bytes:")
	var bytes float64
	if _, err := fmt.Sscan(after, &bytes); err != nil {
		return 0, fmt.Errorf("read what process %d wrote: %w", pid, err)
	}
	return bytes, nil
}

// userHertz is the unit of CPU times in /proc, the same on every Linux.
const userHertz = 100

// cpuOf returns the CPU time that processes have used.
func cpuOf(pids ...int) (time.Duration, error) {
	var sum time.Duration
	for _, pid := range pids {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return 0, err
		}
		_, after, _ := strings.Cut(string(raw), ") ") // the name may hold anything
		fields := strings.Fields(after)
		var user, system int64
		if len(fields) < 13 {
			return 0, fmt.Errorf("read the CPU time of process %d", pid)
		}
		if _, err := fmt.Sscan(fields[11]+" "+fields[12], &user, &system); err != nil {
			return 0, fmt.Errorf("read the CPU time of process %d: %w", pid, err)
		}
		sum += time.Duration(user+system) * time.Second / userHertz
	}
	return sum, nil
}
