package browser_test

import (
	"fmt"
	"net/http"
	"testing"

	"sensegate/motion"
)

const extender = "csi-a-02aa00000310"

// lateWindow closes the window of the first home, as after its first day.
func (b *box) lateWindow() {
	b.T.Helper()
	b.owner.done(http.MethodDelete, "/devices/adoption", "")
}

// TestHouseholdIsToldWhoLetADeviceIn: by the window that an installer has opened, or by hand. Of what its
// owner lets in it is not.
func TestHouseholdIsToldWhoLetADeviceIn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		who    func(*box) *tab
		byHand bool
		member string
		opened int
	}{
		"an installer by the window": {func(b *box) *tab { return b.nobody }, false, "passer", 1},
		"an installer by hand":       {func(b *box) *tab { return b.nobody }, true, "passer", 0},
		"the owner by the window":    {func(b *box) *tab { return b.owner }, false, "", 0},
		"the owner by hand":          {func(b *box) *tab { return b.owner }, true, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			b.install(b.nobody, 3600)
			b.lateWindow()
			who := c.who(b)
			if c.byHand {
				b.askToJoin(extender)
				entry := b.owner.setupDevices().of(extender).Entry
				who.setUp(http.MethodPost, "/devices/"+entry+"/adopt", `{"network_id":1}`)
			} else if a := who.setUp(http.MethodPost, "/devices/adoption", `{"network_id":1}`); a.Status != 200 {
				t.Fatalf("open: %d %s", a.Status, a.Body)
			}
			if n, values := b.member.notified(motion.InstallerOpenedAdoptionEvent); n != c.opened || n > 0 && values["member"] != "passer" {
				t.Errorf("of the window the household is told %d times: %v", n, values)
			}
			b.askToJoin(extender)
			newest := b.member.inbox("?last=1").Notices[0]
			if newest.Kind != motion.DeviceAdoptedEvent || newest.Values["deviceId"] != extender || newest.Values["installer"] != c.member {
				t.Errorf("of the device %+v", newest)
			}
		})
	}
}

// TestWindowOfAnInstallerEndsWithThem: one that the owner opened goes on.
func TestWindowOfAnInstallerEndsWithThem(t *testing.T) {
	t.Parallel()
	for name, opens := range map[string]bool{"their own": true, "the owner's": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBox(t)
			b.install(b.nobody, 3600)
			b.lateWindow()
			who := b.owner
			if opens {
				who = b.nobody
			}
			who.setUp(http.MethodPost, "/devices/adoption", `{"network_id":1}`)
			b.owner.done(http.MethodDelete, fmt.Sprintf("/installers/%d?network_id=1", b.nobody.ID), "")
			if open := b.owner.setupDevices().WindowUntil != nil; open == opens {
				t.Errorf("the window is open: %t", open)
			}
		})
	}
}

// TestWhatAnInstallerDidIsToldAfterTheirAccount: without their name.
func TestWhatAnInstallerDidIsToldAfterTheirAccount(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.install(b.nobody, 3600)
	b.lateWindow()
	b.nobody.setUp(http.MethodPost, "/devices/adoption", `{"network_id":1}`)
	b.askToJoin(extender)
	if a := b.nobody.askApp(http.MethodDelete, fmt.Sprintf("/users/%d", b.nobody.ID), ""); a.Status >= 300 {
		t.Fatalf("delete the account: %d %s", a.Status, a.Body)
	}
	for _, kind := range []string{motion.InstallerOpenedAdoptionEvent, motion.DeviceAdoptedEvent} {
		if n, values := b.member.notified(kind); n == 0 || values["member"] != "" || values["installer"] != "" {
			t.Errorf("%s: %d, %v", kind, n, values)
		}
	}
}

// TestHouseholdIsToldOfAnInstallersTuning: once for each change.
func TestHouseholdIsToldOfAnInstallersTuning(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.install(b.nobody, 3600)
	tune := func(who *tab) {
		if a := who.setUp(http.MethodPut, "/tuning", `{"network_id":1,"sensitivity_level":"very_low"}`); a.Status != 200 {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
	}
	tune(b.nobody)
	tune(b.nobody) // nothing is different
	if n, values := b.member.notified(motion.InstallerTunedEvent); n != 1 || values["member"] != "passer" {
		t.Errorf("told %d times: %v", n, values)
	}
	b.owner.setUp(http.MethodPut, "/tuning", `{"network_id":1,"sensitivity_level":"high"}`)
	if n, _ := b.member.notified(motion.InstallerTunedEvent); n != 1 {
		t.Errorf("of the owner's change too: %d", n)
	}
}
