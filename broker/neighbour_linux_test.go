package broker

import (
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"sensegate/motion"
)

// TestNeighbourTableOfTheKernelIsRead asks a real kernel, in a network namespace of its
// own with a veth pair.
func TestNeighbourTableOfTheKernelIsRead(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("a network namespace needs root")
	}
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("needs the ip command (iproute2)")
	}
	why, done := "", make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // never unlocked: the thread ends with its namespace
		if err := syscall.Unshare(syscall.CLONE_NEWNET); err != nil {
			why = err.Error()
			return
		}
		for _, command := range []string{
			"link add near type veth peer name far", "link set near up", "link set far up", "addr add 192.0.2.1/24 dev near",
			"neigh add 192.0.2.7 lladdr 02:aa:00:00:01:10 dev near nud reachable",
			"neigh add fe80::7 lladdr 02:aa:00:00:01:11 dev near nud reachable",
			"neigh add fe80::7 lladdr 02:aa:00:00:01:12 dev far nud reachable",
		} {
			if out, err := exec.Command("ip", strings.Fields(command)...).CombinedOutput(); err != nil {
				why = string(out)
				return
			}
		}
		for address, want := range map[string]motion.MAC{
			"192.0.2.7": {2, 0xaa, 0, 0, 1, 0x10}, "192.0.2.8": {}, "127.0.0.1": {},
			"fe80::7%near": {2, 0xaa, 0, 0, 1, 0x11}, "fe80::7%far": {2, 0xaa, 0, 0, 1, 0x12}, "fe80::7": {}, "fe80::7%none": {},
		} {
			if got := Neighbour(netip.MustParseAddr(address)); got != want {
				t.Errorf("%s: %q, want %q", address, got, want)
			}
		}
	}()
	<-done
	if why != "" {
		t.Skipf("no network namespace with a veth pair here: %s", why)
	}
}
