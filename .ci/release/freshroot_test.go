package main

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// minbase makes the smallest Debian system, once for all runs of the tests on a machine.
var minbase = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(os.TempDir(), "sensegate-test-debian-bookworm")
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	making := filepath.Join(scratch, "debian")
	if said, err := exec.Command("debootstrap", "--variant=minbase", "bookworm", making).CombinedOutput(); err != nil {
		return "", fmt.Errorf("debootstrap: %w: %s", err, said)
	}
	return dir, os.Rename(making, dir)
})

// freshRoot returns the directory of a Debian system that nothing was done with.
func freshRoot(t *testing.T) string {
	t.Helper()
	needRoot(t)
	need(t, "debootstrap", "unshare", "chroot", "ip", "cp")
	system, err := minbase()
	if err != nil { // such as without a network
		t.Skip("no fresh Debian system can be made here:", err)
	}
	root := filepath.Join(t.TempDir(), "root")
	if said, err := exec.Command("cp", "-a", system, root).CombinedOutput(); err != nil {
		t.Fatalf("copy the system: %v: %s", err, said)
	}
	return root
}

// in runs a command in a root and returns what it says.
func in(t *testing.T, root string, args ...string) string {
	t.Helper()
	cmd := exec.Command("chroot", append([]string{root}, args...)...)
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C"}
	said, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v: %s", args, err, said)
	}
	return string(said)
}

// put copies a file into a root.
func put(t *testing.T, from, root, to string) {
	t.Helper()
	content, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root, to), string(content), 0o644)
}

func write(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

// supervised is a service under the stub of a supervisor.
type supervised struct {
	*exec.Cmd
	said bytes.Buffer
}

// supervise starts a command and waits until it tells the socket at notify, whose name
// the command has as NOTIFY_SOCKET, that it is ready.
func supervise(t *testing.T, cmd *exec.Cmd, notify string) *supervised {
	t.Helper()
	if err := os.RemoveAll(notify); err != nil {
		t.Fatal(err)
	}
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: notify, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := os.Chmod(notify, 0o777); err != nil {
		t.Fatal(err)
	}
	s := &supervised{Cmd: cmd}
	cmd.Stdout, cmd.Stderr = &s.said, &s.said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.stop(t, syscall.SIGKILL) })
	if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	for message := make([]byte, 4096); ; {
		n, err := conn.Read(message)
		if err != nil {
			s.stop(t, syscall.SIGKILL)
			t.Fatalf("not ready after a minute (%v): %s", err, s.said.String())
		}
		if strings.Contains(string(message[:n]), "READY=1") {
			return s
		}
	}
}

// stop ends the service, if it still runs, and returns what it said.
func (s *supervised) stop(t *testing.T, signal syscall.Signal) string {
	t.Helper()
	if s.ProcessState == nil {
		if err := s.Process.Signal(signal); err != nil {
			t.Errorf("it does not run: %v", err)
		}
		if err := s.Wait(); err != nil && signal != syscall.SIGKILL {
			t.Errorf("it ends with %v: %s", err, s.said.String())
		}
	}
	return s.said.String()
}

// setting returns a setting of a unit file.
func setting(t *testing.T, unit, key string) string {
	t.Helper()
	found := regexp.MustCompile(`(?m)^` + key + `=(.*)$`).FindStringSubmatch(unit)
	if found == nil {
		t.Fatalf("the unit has no %s", key)
	}
	return found[1]
}

// startUnit runs ExecStart of the unit in a root as systemd would: its user, its environment, its
// working directory, no capabilities, in a network of its own.
func startUnit(t *testing.T, root string) *supervised {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(root, "usr/lib/systemd/system/sensegate.service")) // of a package
	if err == nil && len(found) == 0 {
		found, err = filepath.Glob(filepath.Join(root, "etc/systemd/system/sensegate.service")) // or by hand
	}
	if err != nil || len(found) != 1 {
		t.Fatalf("units: %v, %v; want one", found, err)
	}
	raw, err := os.ReadFile(found[0])
	if err != nil {
		t.Fatal(err)
	}
	unit := string(raw)
	script := `ip link set lo up && mount -t proc proc "$1/proc" && root="$1" && shift && exec chroot "$root" "$@"`
	args := []string{"--net", "--mount", "sh", "-ec", script, "sh", root,
		"setpriv", "--reuid", setting(t, unit, "User"), "--regid", setting(t, unit, "Group"), "--init-groups",
		"--no-new-privs", "--bounding-set", "-all", "--inh-caps", "-all",
		"env", "-i", "-C", setting(t, unit, "WorkingDirectory"), "NOTIFY_SOCKET=/run/notify", setting(t, unit, "Environment")}
	return supervise(t, exec.Command("unshare", append(args, strings.Fields(setting(t, unit, "ExecStart"))...)...), filepath.Join(root, "run/notify"))
}
