package doortest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// boxMAC is the address of the box on the cable.
const boxMAC = "02:00:00:00:07:01"

// lan is a cable between a box and a node, each in a network namespace of its own.
type lan struct {
	t      *testing.T
	prefix string // of the names of its namespaces
}

// lans numbers those of a run: names of namespaces are shared by the whole machine.
var lans atomic.Int32

// needed says what is missing to build one, "" for nothing.
var needed = sync.OnceValue(func() string {
	if os.Geteuid() != 0 {
		return "needs root, to make network namespaces"
	}
	if _, err := exec.LookPath("ip"); err != nil {
		return "needs ip"
	}
	name := fmt.Sprintf("sgd%d-try", os.Getpid())
	if out, err := exec.Command("ip", "netns", "add", name).CombinedOutput(); err != nil {
		return "network namespaces cannot be made here: " + strings.TrimSpace(string(out))
	}
	if out, err := exec.Command("ip", "netns", "delete", name).CombinedOutput(); err != nil {
		return "network namespaces cannot be removed here: " + strings.TrimSpace(string(out))
	}
	return ""
})

// newLAN builds one with the box at 192.168.7.1, which is torn down at the end of the test.
func newLAN(t *testing.T) *lan {
	t.Helper()
	t.Parallel()
	if missing := needed(); missing != "" {
		if os.Getenv("CI") == "true" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	l := &lan{t, fmt.Sprintf("sgd%d-%d-", os.Getpid(), lans.Add(1))}
	for _, member := range []string{"box", "node"} {
		l.ip("netns", "add", l.space(member))
		t.Cleanup(func() { l.ip("netns", "delete", l.space(member)) })
		l.in(member, "link", "set", "lo", "up")
	}
	l.in("box", "link", "add", "eth0", "type", "veth", "peer", "name", "wlan0", "netns", l.space("node"))
	l.in("box", "link", "set", "eth0", "address", boxMAC)
	l.in("box", "address", "add", "192.168.7.1/24", "dev", "eth0")
	l.in("box", "link", "set", "eth0", "up")
	l.in("node", "link", "set", "wlan0", "up")
	return l
}

func (l *lan) space(member string) string { return l.prefix + member }

// in runs a command of iproute2 in the namespace of a member.
func (l *lan) in(member string, words ...string) {
	l.t.Helper()
	l.ip(append([]string{"-n", l.space(member)}, words...)...)
}

func (l *lan) ip(words ...string) {
	l.t.Helper()
	if out, err := exec.Command("ip", words...).CombinedOutput(); err != nil {
		l.t.Fatalf("ip %s: %v\n%s", strings.Join(words, " "), err, out)
	}
}

// at gives the node an address, such as 192.168.7.2/24, in place of those that it has, and a way to the box.
func (l *lan) at(address string) {
	l.t.Helper()
	l.in("node", "address", "flush", "dev", "wlan0")
	l.in("node", "address", "add", address, "dev", "wlan0")
	l.in("node", "route", "replace", "192.168.7.1", "dev", "wlan0")
}

// quietly lets the node know the way to the box, so that it does not ask for it, which would tell its own MAC.
func (l *lan) quietly() {
	l.t.Helper()
	l.in("node", "neigh", "replace", "192.168.7.1", "lladdr", boxMAC, "dev", "wlan0", "nud", "permanent")
}

// named gives the node a MAC address.
func (l *lan) named(mac string) {
	l.t.Helper()
	l.in("node", "link", "set", "wlan0", "address", mac)
}

// dial opens a UDP socket of the node to the box.
func (l *lan) dial(to string) (conn net.Conn) {
	l.t.Helper()
	entered := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		namespace, err := os.Open("/run/netns/" + l.space("node"))
		if err == nil {
			err = unix.Setns(int(namespace.Fd()), unix.CLONE_NEWNET)
			_ = namespace.Close() // it was only read
		}
		if err == nil {
			conn, err = net.Dial("udp", to)
		}
		entered <- err
	}()
	if err := <-entered; err != nil {
		l.t.Fatal(err)
	}
	return conn
}
