package linktest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// house is a link: a bridge in a namespace of its own, to which others are connected.
type house struct {
	t      *testing.T
	prefix string // of the names of its namespaces
}

// houses numbers the houses of a run: names of namespaces are shared by the whole machine.
var houses atomic.Int32

// newHouse builds a link, which is torn down at the end of the test.
func newHouse(t *testing.T) *house {
	t.Helper()
	h := &house{t, fmt.Sprintf("sg%d-%d-", os.Getpid(), houses.Add(1))}
	h.add("bridge")
	h.ip("-n", h.space("bridge"), "link", "add", "br0", "type", "bridge", "mcast_snooping", "0")
	h.ip("-n", h.space("bridge"), "link", "set", "br0", "up")
	return h
}

// needed says what is missing to build a house, "" for nothing.
func needed() string {
	if os.Geteuid() != 0 {
		return "needs root, to make network namespaces"
	}
	for _, tool := range []string{"ip", "unshare"} {
		if _, err := exec.LookPath(tool); err != nil {
			return "needs " + tool
		}
	}
	name := fmt.Sprintf("sg%d-try", os.Getpid())
	if out, err := exec.Command("ip", "netns", "add", name).CombinedOutput(); err != nil {
		return "network namespaces cannot be made here: " + strings.TrimSpace(string(out))
	}
	if out, err := exec.Command("ip", "netns", "delete", name).CombinedOutput(); err != nil {
		return "network namespaces cannot be removed here: " + strings.TrimSpace(string(out))
	}
	return ""
}

// space returns the name of a namespace of the house.
func (h *house) space(member string) string { return h.prefix + member }

func (h *house) add(member string) {
	h.t.Helper()
	h.ip("netns", "add", h.space(member))
	h.t.Cleanup(func() { h.ip("netns", "delete", h.space(member)) })
	h.ip("-n", h.space(member), "link", "set", "lo", "up")
}

// ip runs a command of iproute2.
func (h *house) ip(words ...string) {
	h.t.Helper()
	if out, err := exec.Command("ip", words...).CombinedOutput(); err != nil {
		h.t.Fatalf("ip %s: %v\n%s", strings.Join(words, " "), err, out)
	}
}

// connect gives a member, who may be new, an interface on the link with the addresses
// 192.168.7.n and fd07::n.
func (h *house) connect(member, link string, n int) {
	h.t.Helper()
	port := fmt.Sprintf("p%d", n)
	h.ip("-n", h.space(member), "link", "add", link, "type", "veth", "peer", "name", port, "netns", h.space("bridge"))
	h.ip("-n", h.space("bridge"), "link", "set", port, "master", "br0", "up")
	h.ip("-n", h.space(member), "address", "add", fmt.Sprintf("192.168.7.%d/24", n), "dev", link)
	h.ip("-n", h.space(member), "address", "add", fmt.Sprintf("fd07::%d/64", n), "dev", link, "nodad")
	h.ip("-n", h.space(member), "link", "set", link, "up")
}

// within runs f in the namespace of a member: the sockets that f opens belong to it.
func (h *house) within(member string, f func()) {
	h.t.Helper()
	path := "/run/netns/" + h.space(member)
	entered := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		namespace, err := os.Open(path)
		if err == nil {
			err = unix.Setns(int(namespace.Fd()), unix.CLONE_NEWNET)
			_ = namespace.Close() // it was only read
		}
		if err == nil {
			f()
		}
		entered <- err
	}()
	if err := <-entered; err != nil {
		h.t.Fatalf("enter %s: %v", path, err)
	}
}

// dial connects from the namespace of a member. address is of an IP address, so that no other
// thread takes part.
func (h *house) dial(member, network, address string) (c net.Conn, err error) {
	h.within(member, func() { c, err = net.Dial(network, address) })
	return c, err
}
