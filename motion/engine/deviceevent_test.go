package engine_test

import (
	"testing"
	"time"

	"sensegate/motion"
)

// follow switches device events on for the kitchen leaf.
func follow(n *motion.Network) {
	n.GuardianConfig = motion.Document{"device_events": map[string]any{"enabled": 1.0}}
	n.RadarConfig = motion.Document{"sounding": map[string]any{
		"mode": "deny", "clients": map[string]any{kitchen.String(): map[string]any{"mode": "allow"}},
	}}
}

// deviceEvents returns the stored device events as "kind node", oldest first.
func (b *box) deviceEvents() []string {
	b.t.Helper()
	list := []string{}
	for _, e := range b.events(motion.DeviceConnectedEvent, motion.DeviceDisconnectedEvent, motion.DeviceTimedOutEvent) {
		list = append(list, e.Event+" "+e.NodeName)
		if e.Category != motion.CategorySystem || e.DeviceID != kitchen.String() || e.Armed != nil || e.NodeID == 0 ||
			e.Detail["category"] != "Device" || e.Detail["mac"] != kitchen.String() || e.Detail["location"] != "Kitchen" {
			b.t.Errorf("event %+v", e)
		}
	}
	return list
}

// attached is a status report with the kitchen leaf at these nodes.
func attached(nodes ...string) motion.StatusReport {
	r := status()
	m, p := r.Radars[masterName], r.Radars[peerName]
	link := m.Links[0]
	m.Links = m.Links[1:]
	for _, node := range nodes {
		if node == masterName {
			m.Links = append(m.Links, link)
		} else {
			p.Links = append(p.Links, link)
		}
	}
	r.Radars[masterName], r.Radars[peerName] = m, p
	return r
}

func TestFollowedDeviceComesMovesAndGoes(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		b.configure(follow)
		for _, report := range []func() motion.StatusReport{
			func() motion.StatusReport { return attached() },
			func() motion.StatusReport { return attached(masterName) },
			func() motion.StatusReport { return attached(peerName) }, // roams
			func() motion.StatusReport { return attached(peerName, masterName) },
			func() motion.StatusReport { return attached(masterName) },
			func() motion.StatusReport { return attached() },
			func() motion.StatusReport { return attached(peerName) },
		} {
			time.Sleep(time.Minute)
			b.report(guardianKey, report())
		}
		equal(t, "events", b.deviceEvents(), []string{
			"DeviceConnectedEvent " + masterName, "DeviceDisconnectedEvent " + masterName, "DeviceConnectedEvent " + peerName,
		})
	})
}

func TestDeviceThatFallsSilentTimesOut(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		b.configure(follow)
		b.report(masterKey, batch(kitchen, masterAP, now(), nil))
		time.Sleep(2 * time.Minute)
		equal(t, "events", b.deviceEvents(), []string{"DeviceConnectedEvent " + masterName, "DeviceTimedOutEvent " + masterName})
	})
}

func TestDeviceEventsNeedBothSwitchesAndTheDevice(t *testing.T) {
	for name, change := range map[string]func(*motion.Network){
		"by default":       func(*motion.Network) {},
		"not enabled":      func(n *motion.Network) { follow(n); n.GuardianConfig = nil },
		"sounding allowed": func(n *motion.Network) { follow(n); n.RadarConfig["sounding"].(map[string]any)["mode"] = "allow" },
		"device not allowed": func(n *motion.Network) {
			follow(n)
			n.RadarConfig = motion.Document{"sounding": map[string]any{"mode": "deny"}}
		},
		"device itself denied": func(n *motion.Network) {
			follow(n)
			n.RadarConfig["sounding"].(map[string]any)["clients"] = map[string]any{kitchen.String(): map[string]any{"mode": "deny"}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, b *box) {
				b.home()
				b.configure(change)
				b.report(guardianKey, status())
				b.report(guardianKey, attached())
				equal(t, "events", b.deviceEvents(), nil)
			})
		})
	}
}

func TestLinksOfANodeThatIsGoneAreGone(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		b.report(guardianKey, status())
		before := len(b.linkEvents())
		without := func() motion.StatusReport {
			r := status()
			delete(r.Radars, peerName)
			m := r.Radars[masterName]
			m.Links = m.Links[:1]
			r.Radars[masterName] = m
			return r
		}
		time.Sleep(time.Minute)
		starting := without()
		starting.Startup = true
		b.report(guardianKey, starting)
		equal(t, "while the guardian starts", b.linkEvents()[before:], []string{"LinkDisconnectedEvent GWA1000133.EXA1000134"})
		time.Sleep(time.Minute)
		b.report(guardianKey, without())
		equal(t, "later", b.linkEvents()[before+1:], []string{"LinkDisconnectedEvent EXA1000134.02bb00000032"})
		time.Sleep(time.Minute)
		b.report(guardianKey, status())
		equal(t, "when it is back", b.linkEvents()[before+2:], []string{
			"LinkConnectedEvent EXA1000134.02bb00000032", "LinkConnectedEvent GWA1000133.EXA1000134",
		})
	})
}

func TestReportDoesNotEndLinksThatAreSensedHere(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		sensed := motion.MAC{2, 0xbb, 0, 0, 0, 0x77} // no client of the access point
		b.report(masterKey, batch(sensed, masterAP, now(), nil))
		before := len(b.linkEvents())
		b.report(guardianKey, attached())
		b.report(masterKey, batch(sensed, masterAP, now(), nil))
		for _, e := range b.linkEvents()[before:] {
			if e == "LinkDisconnectedEvent "+masterName+"."+sensed.Name() || e == "LinkConnectedEvent "+masterName+"."+sensed.Name() {
				t.Errorf("%s", e)
			}
		}
	})
}
