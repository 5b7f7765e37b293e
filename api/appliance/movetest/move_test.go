package movetest

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sensegate/api/appliance/box"
	"sensegate/firmware-sim/sim"
	"sensegate/motion"
)

var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "movetest")
	if err == nil {
		binary, err = box.BuildIn(dir)
	}
	code := 1
	if err == nil {
		code = m.Run()
	} else {
		fmt.Fprintln(os.Stderr, err)
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

// receiptOf returns the receipt that network import has shown.
func receiptOf(t *testing.T, said []byte) string {
	t.Helper()
	_, after, found := strings.Cut(string(said), "Receipt: ")
	receipt, _, _ := strings.Cut(after, "\n")
	if !found || receipt == "" {
		t.Fatalf("no receipt in %s", said)
	}
	return receipt
}

// passphraseOf returns a file with the passphrase that network export has shown.
func passphraseOf(t *testing.T, said string) (path string) {
	t.Helper()
	_, words, found := strings.Cut(said, "once: ")
	path = filepath.Join(t.TempDir(), "passphrase")
	if err := os.WriteFile(path, []byte(words), 0o600); err != nil || !found {
		t.Fatalf("no passphrase in %s: %v", said, err)
	}
	return path
}

// TestHomeMovesWhileItsDevicesAreOn moves a simulated home and the network of a device that counts.
func TestHomeMovesWhileItsDevicesAreOn(t *testing.T) {
	from := open(t, binary, t.TempDir())
	to := open(t, binary, t.TempDir(), "SENSEGATE_GATEKEEPER_FIRST_WINDOW=0s")
	from.makeKey()
	to.makeKey()
	device := newCounter(t, from)
	ctx, stop := context.WithCancel(t.Context())
	finished := make(chan struct{})
	go func() { defer close(finished); device.run(ctx) }()
	eventually(t, "the device sends", func() bool { n, _ := device.count(""); return n > 50 })
	_, counted := device.count("")
	house := home(t, from, sim.CSI)
	lived := house.Network()
	from.claim(house.Home().GuardianID)
	begun := motion.TimeOf(time.Now())
	time.Sleep(5 * time.Second) // of motion

	for _, network := range []motion.NetworkID{counted, lived} {
		file, said := from.must(nil, "network", "export", "-move", fmt.Sprint(network))
		n, _ := device.count("")
		if strings.Contains(said, "left out") {
			t.Errorf("said %s", said)
		}
		if out, said, err := to.run(file, "network", "import"); err == nil || !strings.Contains(said, "name a file with its passphrase") {
			t.Errorf("without its passphrase the file is read: %s%s", out, said)
		}
		told, _ := to.must(file, "network", "import", "-passphrase-file", passphraseOf(t, said))
		if out, said, err := from.run(nil, "network", "hand-over", fmt.Sprint(network), "http://"+to.HTTP, "WRONG"); err == nil {
			t.Errorf("handed over without the receipt: %s%s", out, said)
		}
		if network == counted {
			if now, _ := device.count(""); now != n {
				t.Errorf("%d events were acknowledged after the copy was made", now-n)
			}
		}
		from.must(nil, "network", "hand-over", fmt.Sprint(network), "http://"+to.HTTP, receiptOf(t, told))
	}
	handed := time.Now()
	eventually(t, "the device has gone over", func() bool { n, _ := device.count(to.MQTT); return n > 20 })
	t.Logf("the device sends to the new box %s after the hand-over at the latest", time.Since(handed).Round(time.Millisecond))
	eventually(t, "all devices are sent over", func() bool {
		list, _ := from.must(nil, "network", "list")
		return strings.Count(string(list), "every device was sent over") == 2
	})
	if status, _ := from.must(nil, "status"); strings.Count(string(status), "moved to http://"+to.HTTP+"/gatekeeper, closed here since") != 2 {
		t.Errorf("the old box says nothing of where its networks are:\n%s", status)
	}
	time.Sleep(5 * time.Second)
	stop()
	<-finished

	_, arrived := device.count("")
	lost, doubles := device.lost(to, arrived)
	old, _ := device.count(from.MQTT)
	all, _ := device.count("")
	t.Logf("%d events acknowledged by the old box, %d by the new one: %d lost, %d doubled", old, all-old, len(lost), doubles)
	if len(lost) > 0 || doubles > 0 {
		t.Errorf("lost %v, doubles %d", lost, doubles)
	}
	to.wantMotion(t, house.Network(), begun, motion.TimeOf(handed))
	if to.signIn() == "" {
		t.Error("the owner cannot sign in with the password of the old box")
	}
	if session := from.signIn(); session != "" {
		var told struct{ Message, Detail string }
		if status := from.call("GET", "/api/v1/networks/1", session, "", &told); status != http.StatusNotFound {
			t.Errorf("the old box answers with %d about what has moved", status)
		}
	}
	from.wantDeleted(t, counted, lived)
	for name, p := range map[string]*product{"old": from, "new": to} {
		if log := p.Log(); strings.Contains(log, `"level":"ERROR"`) || strings.Contains(log, "will retry") {
			t.Errorf("the %s box is in trouble:\n%s", name, log)
		}
	}
}

// wantMotion fails unless the history of a network has motion since a time, from before and after it moved
// at until.
func (p *product) wantMotion(t *testing.T, network motion.NetworkID, since, until motion.Time) {
	t.Helper()
	var series [][2]*float64
	path := fmt.Sprintf("/core/network/%d/motion/history/intensity?from=%d&to=%d&bucket=1", network, int64(since), time.Now().Unix())
	if status := p.call("GET", path, p.key, "", &series); status != http.StatusOK {
		t.Fatalf("history is answered with %d", status)
	}
	first, last, gap, longest := -1, -1, 0, 0
	for i, point := range series {
		if point[0] == nil {
			gap++
			continue
		}
		if first < 0 {
			first, gap = i, 0
		}
		longest, gap, last = max(longest, gap), 0, i
	}
	t.Logf("motion of %d seconds, with a gap of %d", last-first+1, longest)
	if first < 0 || *series[first][1] >= float64(until) || *series[last][1] <= float64(until) {
		t.Errorf("motion from %v to %v, want some from before and some from after the move at %v", series[first][1], series[last][1], until)
	}
}

// wantDeleted deletes networks and fails unless nothing of them is left.
func (p *product) wantDeleted(t *testing.T, networks ...motion.NetworkID) {
	t.Helper()
	for _, n := range networks {
		p.must(nil, "network", "delete", "-yes", fmt.Sprint(n))
	}
	if list, _ := p.must(nil, "network", "list"); strings.Count(string(list), " deleted ") != 2 || strings.Contains(string(list), "moved") {
		t.Errorf("after the deletion there is %s", list)
	}
}
