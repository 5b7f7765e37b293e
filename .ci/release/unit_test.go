package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

const unitFile = "files/sensegate.service"

// mostExposure is the exposure that systemd-analyze security may say, 0 to 10.
const mostExposure = 1.6

func TestTheUnitIsHardened(t *testing.T) {
	t.Parallel()
	need(t, "systemd-analyze")
	said, err := exec.Command("systemd-analyze", "security", "--offline=true", "--no-pager", unitFile).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	found := regexp.MustCompile(`Overall exposure level for sensegate.service: ([0-9.]+)`).FindSubmatch(said)
	if found == nil {
		t.Fatalf("no exposure in %s", said)
	}
	exposure, err := strconv.ParseFloat(string(found[1]), 64)
	if err != nil || exposure > mostExposure {
		t.Errorf("exposure %v (%v), want at most %v", exposure, err, mostExposure)
	}
	t.Logf("exposure %v", exposure)
}

// systemCalls returns the system calls of a set of systemd.
func systemCalls(t *testing.T, set string) (all []string) {
	t.Helper()
	said, err := exec.Command("systemd-analyze", "syscall-filter", "--no-pager", set).Output()
	if err != nil {
		t.Fatalf("%s: %v", set, err)
	}
	for _, word := range strings.Fields(regexp.MustCompile(`(?m)#.*$`).ReplaceAllString(string(said), ""))[1:] {
		if strings.HasPrefix(word, "@") {
			all = append(all, systemCalls(t, word)...)
		} else {
			all = append(all, word)
		}
	}
	return all
}

// TestTheUnitAllowsWhatTheProgramDoes watches the system calls of a whole life of the program, with a
// backup and a request, and looks for them in the filter of the unit.
func TestTheUnitAllowsWhatTheProgramDoes(t *testing.T) {
	t.Parallel()
	need(t, "strace", "systemd-analyze")
	r := built(t)
	raw, err := os.ReadFile(unitFile)
	if err != nil {
		t.Fatal(err)
	}
	var allowed []string
	for _, line := range regexp.MustCompile(`(?m)^SystemCallFilter=(.*)$`).FindAllStringSubmatch(string(raw), -1) {
		refused := strings.HasPrefix(line[1], "~")
		for _, set := range strings.Fields(strings.TrimPrefix(line[1], "~")) {
			calls := systemCalls(t, set)
			if refused {
				allowed = slices.DeleteFunc(allowed, func(call string) bool { return slices.Contains(calls, call) })
			} else {
				allowed = append(allowed, calls...)
			}
		}
	}
	dir := t.TempDir()
	trace, state := filepath.Join(dir, "trace"), filepath.Join(dir, "state")
	cmd := exec.Command("strace", "-f", "-qq", "-o", trace, r.binary("amd64"))
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "SENSEGATE_STATE_DIR=" + state, "NOTIFY_SOCKET=" + filepath.Join(dir, "notify"), "WATCHDOG_USEC=4000000",
		"SENSEGATE_HTTP_LISTEN=127.0.0.1:0", "SENSEGATE_HTTP_TLS_LISTEN=127.0.0.1:0", "SENSEGATE_MQTT_LISTEN=127.0.0.1:0", "SENSEGATE_MQTT_TLS_LISTEN=off"}
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	service := supervise(t, cmd, filepath.Join(dir, "notify"))
	address := regexp.MustCompile(`http://127\.0\.0\.1:\d+`).FindString(service.said.String())
	if answer, err := http.Get(address + "/healthz"); err != nil {
		t.Errorf("%v: %s", err, service.said.String())
	} else {
		answer.Body.Close()
	}
	if said, err := exec.Command(r.binary("amd64"), "backup", "-state-dir", state, "-o", filepath.Join(dir, "backup")).CombinedOutput(); err != nil {
		t.Errorf("backup: %v: %s", err, said)
	}
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", cmd.Process.Pid, cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	program, err := strconv.Atoi(strings.TrimSpace(string(children)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(program, syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if err := service.Wait(); err != nil {
		t.Errorf("%v: %s", err, service.said.String())
	}
	traced, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	var done []string
	for _, call := range regexp.MustCompile(`(?m)^\d+ +([a-z0-9_]+)\(`).FindAllStringSubmatch(string(traced), -1) {
		done = append(done, call[1])
	}
	slices.Sort(done)
	done = slices.Compact(done)
	if len(done) < 30 {
		t.Errorf("%d system calls seen, want at least 30: %v", len(done), done)
	}
	t.Logf("%d system calls: %v", len(done), done)
	for _, call := range done {
		if !slices.Contains(allowed, call) {
			t.Errorf("%s is not allowed by the unit", call)
		}
	}
}
