package appliance

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"sensegate/motion"
)

// serveOnSmallDisk serves an appliance whose state is on a disk of 32 MiB, and wants a
// reserve of 4 MiB there. It returns that disk and a key to everything too.
func serveOnSmallDisk(t *testing.T) (r running, disk, key string) {
	t.Helper()
	disk = smallDisk(t)
	r = serve(t, func(c *Config) { c.StateDir, c.Store.MinFree = filepath.Join(disk, "state"), 4*mebibyte })
	key, err := r.Key(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r, disk, key
}

// smallDisk mounts a file system of 32 MiB.
func smallDisk(t *testing.T) string {
	t.Helper()
	directory := t.TempDir()
	if err := syscall.Mount("sensegate-test", directory, "tmpfs", 0, "size=32m"); err != nil {
		t.Skipf("a small file system cannot be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(directory, 0); err != nil {
			t.Error(err)
		}
	})
	return directory
}

// fill takes all room of a directory but some bytes.
func fill(t *testing.T, directory string, left int64) (balloon string) {
	t.Helper()
	balloon = filepath.Join(directory, "balloon")
	var system syscall.Statfs_t
	err := syscall.Statfs(directory, &system)
	free := int64(system.Bavail) * int64(system.Bsize)
	if err := errors.Join(err, os.WriteFile(balloon, make([]byte, free-left), 0o600)); err != nil {
		t.Fatal(err)
	}
	return balloon
}

// answer is what a caller without patience sees.
func (r running) answer(method, path, key, body string) (status int, header http.Header, text string) {
	r.t.Helper()
	request, err := http.NewRequestWithContext(r.t.Context(), method, "http://"+r.HTTP().String()+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return response.StatusCode, response.Header, string(raw)
}

// becomes waits for a status of /readyz, and returns how long that took.
func (r running) becomes(status int) time.Duration {
	r.t.Helper()
	began := time.Now()
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	for range look.C {
		got, _, text := r.answer(http.MethodGet, "/readyz", "", "")
		if got == status {
			break
		}
		if time.Since(began) > time.Minute {
			r.t.Fatalf("/readyz is %d after a minute, want %d: %s", got, status, text)
		}
	}
	return time.Since(began)
}

// TestFullDiskIsReadOnlyUntilThereIsRoom fills the disk under a running appliance, to
// below the reserve and to the last byte, and makes room again.
func TestFullDiskIsReadOnlyUntilThereIsRoom(t *testing.T) {
	t.Parallel()
	r, disk, key := serveOnSmallDisk(t)
	radar := motion.Radar{
		DeviceID: "csi-a-02aa00000110", NodeName: "GWA1000133", LocationID: "a41f00c2d97b4e5580136c2e", RootMode: motion.RootModeMaster,
		APBSSID2GHz: motion.MAC{2, 0xaa, 0, 0, 1, 0x12},
	}
	admission, err := r.engine.Devices.Admit(t.Context(), motion.Bootstrap{Radar: radar, LocationID: radar.LocationID}, motion.Credentials{Address: netip.MustParseAddr("127.0.0.1")})
	if err != nil {
		t.Fatal(err)
	}
	network := fmt.Sprintf("/core/network/%d", admission.Network)
	create := func() (int, http.Header, string) {
		return r.answer(http.MethodPost, network+"/events/create", key, fmt.Sprintf(
			`{"ts": %d, "network_id": %d, "category": "System", "event": "MemberArrivedEvent"}`, time.Now().Unix(), admission.Network))
	}
	stored := 0
	write := func() {
		t.Helper()
		if status, _, text := create(); status != http.StatusOK {
			t.Fatalf("write: %d %s", status, text)
		}
		stored++
	}
	write()
	for _, left := range []int64{int64(2 * mebibyte), 0} {
		balloon := fill(t, disk, left)
		r.becomes(http.StatusServiceUnavailable)
		status, header, text := create()
		if wait, err := strconv.Atoi(header.Get("Retry-After")); status != http.StatusServiceUnavailable || err != nil || wait < 1 || !strings.Contains(text, "read_only") {
			t.Errorf("write with %d bytes left: %d, Retry-After %q, %s", left, status, header.Get("Retry-After"), text)
		}
		if status, _, text := r.answer(http.MethodGet, network+"/events/history", key, ""); status != http.StatusOK {
			t.Errorf("read with %d bytes left: %d %s", left, status, text)
		}
		if text := r.command("status"); !strings.Contains(text, "read-only") {
			t.Errorf("status does not say it:\n%s", text)
		}
		if err := os.Remove(balloon); err != nil {
			t.Fatal(err)
		}
		t.Logf("ready again after %v", r.becomes(http.StatusOK))
		write()
	}
	_, _, text := r.answer(http.MethodGet, network+"/events/history", key, "")
	var history []motion.Event
	if err := json.Unmarshal([]byte(text), &history); err != nil || len(history) < stored {
		t.Errorf("%d events, %v, want the %d that were acknowledged: %s", len(history), err, stored, text)
	}
}
