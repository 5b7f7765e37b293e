package preflight

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// needs returns what any machine that runs tests has.
func needs(t *testing.T) Needs {
	dir := filepath.Join(t.TempDir(), "state")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return Needs{StateDir: dir, Database: "database", MinFree: 1, Files: 1, Built: time.Unix(1_700_000_000, 0), Memory: 1 << 30}
}

func TestWhatIsWrongIsToldWithWhatToDo(t *testing.T) {
	t.Parallel()
	set := time.Unix(1_800_000_000, 0)
	for name, c := range map[string]struct {
		change func(*testing.T, *Needs)
		now    time.Time
		grade  Grade
		what   string
		says   string
	}{
		"nothing":           {func(*testing.T, *Needs) {}, set, Fine, "", ""},
		"no directory yet":  {func(t *testing.T, n *Needs) { n.StateDir += "/a/b" }, set, Fine, "state_dir", "is made at the start"},
		"clock not set":     {func(*testing.T, *Needs) {}, time.Unix(0, 0), Warning, "clock", "1970-01-01"},
		"clock years ahead": {func(t *testing.T, n *Needs) { written(t, n, 1_700_000_000) }, set, Warning, "clock", "more than a year after the database was last written (2023-11-14)"},
		"box off for weeks": {func(t *testing.T, n *Needs) { written(t, n, 1_795_000_000) }, set, Fine, "clock", "UTC"},
		"few files":         {func(t *testing.T, n *Needs) { n.Files = 1 << 40 }, set, Warning, "open files", "fewer are let in"},
		"little memory":     {func(t *testing.T, n *Needs) { n.Memory = 32 << 20 }, set, Warning, "memory", "32 MiB"},
		"little room":       {func(t *testing.T, n *Needs) { n.MinFree = 1 << 60 }, set, Wrong, "disk", "less than store.min_free"},
		"directory is open": {func(t *testing.T, n *Needs) { chmod(t, n.StateDir, 0o755) }, set, Warning, "state_dir", "can be read by others (0755)"},
		"no directory": {func(t *testing.T, n *Needs) {
			n.StateDir = filepath.Join(n.StateDir, "file")
			write(t, n.StateDir, 0)
		}, set, Wrong, "state_dir", "is no directory"},
		"little room for an old database": {func(t *testing.T, n *Needs) {
			write(t, filepath.Join(n.StateDir, n.Database), 1)
			n.MinFree = 1 << 60
		}, set, Warning, "disk", "nothing can be stored"},
		"no room for a backup": {func(t *testing.T, n *Needs) { write(t, filepath.Join(n.StateDir, n.Database), 2*free(t, n.StateDir)) }, set, Warning, "disk", "too little for a backup"},
		"log":                  {func(t *testing.T, n *Needs) { n.LogFile = filepath.Join(n.StateDir, "log") }, set, Fine, "log.file", "can be written"},
		"no place for the log": {func(t *testing.T, n *Needs) { n.LogFile = filepath.Join(n.StateDir, "no", "log") }, set, Wrong, "log.file",
			"no such file or directory"},
		"no such address": {func(t *testing.T, n *Needs) { n.Ports = []Port{{"http.listen", "tcp", "192.0.2.1:8080"}} }, set, Wrong, "http.listen",
			"is no address of this machine"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := needs(t)
			c.change(t, &n)
			found := Look(n, c.now)
			if got := Worst(found); got != c.grade {
				t.Fatalf("%v, want %v: %v", got, c.grade, found)
			}
			for _, f := range found {
				if f.What == c.what && (f.Grade != c.grade || !strings.Contains(f.Says, c.says) || (f.Fix == "") != (f.Grade == Fine)) {
					t.Errorf("%v %q", f.Grade, f)
				}
			}
			if entries, err := os.ReadDir(n.StateDir); err == nil && len(entries) > 1 {
				t.Errorf("it leaves %v", entries)
			}
		})
	}
}

func TestWhoHasAPortIsNamed(t *testing.T) {
	t.Parallel()
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	n := needs(t)
	n.Ports = []Port{{"http.listen", "tcp", tcp.Addr().String()}, {"nodes.nexmon.listen", "udp", udp.LocalAddr().String()}, {"mqtt.listen", "tcp", "127.0.0.1:0"}}
	told := func() string {
		var shown strings.Builder
		Show(&shown, Look(n, time.Unix(1_800_000_000, 0)), Wrong)
		return shown.String()
	}
	lines := strings.Split(strings.TrimSpace(told()), "\n")
	if len(lines) != 2 {
		t.Fatalf("told: %q", lines)
	}
	for i, key := range []string{"http.listen", "nodes.nexmon.listen"} {
		if want := fmt.Sprintf("(process %d). End that program, or set %s", os.Getpid(), key); !strings.Contains(lines[i], want) {
			t.Errorf("%q, want %q", lines[i], want)
		}
	}
	if n.Running = os.Getpid(); told() != "" {
		t.Errorf("of the appliance itself: %q", told())
	}
}

// An appliance that runs on the state directory and has none of the ports has another configuration.
func TestSecondApplianceOnAStateDirectoryIsTold(t *testing.T) {
	t.Parallel()
	held, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	free := strings.Replace(held.Addr().String(), "127.0.0.1", "127.0.0.2", 1) // nobody can have it on every address
	n := needs(t)
	n.Ports = []Port{{"http.listen", "tcp", held.Addr().String()}, {"mqtt.listen", "tcp", "127.0.0.1:0"}}
	for _, c := range []struct {
		running int
		more    []Port
		told    bool
	}{{os.Getpid(), nil, false}, {os.Getpid(), []Port{{"core.listen", "tcp", free}}, true}, {0, []Port{{"core.listen", "tcp", free}}, false}} {
		n := n
		n.Running, n.Ports = c.running, append(n.Ports[:2:2], c.more...)
		var shown strings.Builder
		Show(&shown, Look(n, time.Unix(1_800_000_000, 0)), Warning)
		if told := strings.Contains(shown.String(), fmt.Sprintf("(process %d) with another configuration: it does not listen as core.listen says. Restart", os.Getpid())); told != c.told {
			t.Errorf("%+v: %s", c, &shown)
		}
	}
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// write makes a file of a size, which takes no room.
func write(t *testing.T, path string, size int64) {
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
}

// written makes a database that was last written at a time, in s.
func written(t *testing.T, n *Needs, at int64) {
	path := filepath.Join(n.StateDir, n.Database)
	write(t, path, 1)
	if err := os.Chtimes(path, time.Unix(at, 0), time.Unix(at, 0)); err != nil {
		t.Fatal(err)
	}
}

// free returns the bytes that are free on a disk.
func free(t *testing.T, dir string) int64 {
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		t.Fatal(err)
	}
	return int64(stat.Bavail) * int64(stat.Bsize)
}

// Where a link leads nothing is made, and the link stays: another user may have put it there for root.
func TestLookAtTheLogFollowsNoLinkToNowhere(t *testing.T) {
	t.Parallel()
	n := needs(t)
	n.LogFile = filepath.Join(n.StateDir, "log")
	target := filepath.Join(t.TempDir(), "target")
	if err := os.Symlink(target, n.LogFile); err != nil {
		t.Fatal(err)
	}
	if f := n.logFile(); f.Grade != Fine || !strings.Contains(f.Says, "is a link to a file that is not there yet") {
		t.Errorf("it says %s", f)
	}
	if _, err := os.Lstat(n.LogFile); err != nil {
		t.Errorf("the link: %v", err)
	}
	if _, err := os.Lstat(target); !os.IsNotExist(err) {
		t.Errorf("where it leads: %v", err)
	}
}

// Root can write every log, the user of the service not.
func TestRootLooksWhetherTheServiceCanWriteItsLog(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root looks for another user")
	}
	n, elsewhere := needs(t), t.TempDir()
	n.LogFile = filepath.Join(elsewhere, "log")
	for above := elsewhere; above != filepath.Clean(os.TempDir()); above = filepath.Dir(above) {
		chmod(t, above, 0o755)
	}
	if err := os.Chown(n.StateDir, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	if f := n.logFile(); f.Grade != Warning || !strings.Contains(f.Says, "cannot make a file in "+elsewhere) {
		t.Errorf("of the directory it says %s", f)
	}
	write(t, n.LogFile, 0)
	chmod(t, elsewhere, 0o777)
	if f := n.logFile(); f.Grade != Warning || !strings.Contains(f.Says, "cannot write "+n.LogFile) {
		t.Errorf("of the file it says %s", f)
	}
	chmod(t, n.LogFile, 0o666)
	if f := n.logFile(); f.Grade != Fine {
		t.Errorf("of one that all may write it says %s", f)
	}
}
