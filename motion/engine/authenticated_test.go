package engine_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"sensegate/motion"
)

// mixed is a home with a device of ours and a node of another maker, each with two links.
type mixed struct {
	*box
	id       motion.NetworkID
	node     motion.DeviceKey
	receiver motion.MAC
}

func newMixed(b *box) mixed {
	b.t.Helper()
	m := mixed{box: b, id: b.home()}
	var why string
	if m.node, m.receiver, why = b.heard(otherNode, otherMAC, address); why != "" {
		b.t.Fatal(why)
	}
	return m
}

// send reports so many seconds of figures of both, nothing for NaN.
func (m mixed) send(length, own, others float64) {
	m.t.Helper()
	report := func(key motion.DeviceKey, dst motion.MAC, figure float64, sources ...motion.MAC) {
		if math.IsNaN(figure) {
			return
		}
		r := motion.LinkMotions{TS: now(), Interval: 500}
		for _, src := range sources {
			r.Links = append(r.Links, motion.LinkMotion{Src: src, Dst: dst, MKAI: figure, LRaw: figure, Throughput: 1, RSSI: -59})
		}
		m.box.report(key, r)
	}
	for range int(2 * length) {
		time.Sleep(time.Second / 2)
		report(masterKey, masterAP, own, kitchen, hallway)
		report(m.node, m.receiver, others, routerOfOther, motion.MAC{2, 7})
	}
}

func TestLinksOfNodesThatShowNoSecretAreMarked(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		m := newMixed(b)
		m.send(2, 0, 0)
		node := "ruview-7c2c6742bbac-2."
		want := map[string]bool{
			kitchenLink: false, masterName + "." + hallway.Name(): false,
			node + routerOfOther.Name(): true, node + motion.MAC{2, 7}.Name(): true,
		}
		got := map[string]bool{}
		for name, l := range b.explain() {
			got[name] = l.Unauthenticated
		}
		if !maps.Equal(got, want) {
			t.Errorf("unauthenticated links %v, want %v", got, want)
		}
		glances, err := b.Sensing.Glances(m.id)
		if err != nil || len(glances) != 4 {
			t.Fatalf("%+v, %v", glances, err)
		}
		for _, l := range glances {
			if l.Unauthenticated != want[l.Link] {
				t.Errorf("an installer sees %s unauthenticated %v", l.Link, l.Unauthenticated)
			}
		}
	})
}

// Two alerts look at the ten minutes before one o'clock, in which one kind of links sees motion; the second one,
// with the exclamation marks, counts authenticated links alone.
func TestAlertCountsAuthenticatedLinksAlone(t *testing.T) {
	const inactivity = `{"monitor_mode":"INACTIVITY","duration_minutes":10,"inactive_minutes":8}`
	for name, c := range map[string]struct {
		own, others float64
		monitor     string
		meta        string
		gone        bool // the node is removed afterwards
		want        []string
	}{
		"a node sees it, at once":       {others: 0.9, monitor: simple, meta: `"at_once":true,`, want: []string{"moved 00:55"}},
		"our device sees it, at once":   {own: 0.9, monitor: simple, meta: `"at_once":true,`, want: []string{"moved 00:55", "moved! 00:55"}},
		"a node sees it":                {others: 0.9, monitor: simple, want: []string{"moved 01:00", "still! 01:00"}},
		"our device sees it":            {own: 0.9, monitor: simple, want: []string{"moved 01:00", "moved! 01:00"}},
		"a node that is gone since":     {others: 0.9, monitor: simple, gone: true, want: []string{"moved 01:00", "still! 01:00"}},
		"a node alone has data":         {own: math.NaN(), others: 0.9, monitor: simple, want: []string{"moved 01:00", "unknown! 01:00"}},
		"a node hides that it is still": {others: 0.9, monitor: inactivity, want: []string{"moved 01:00", "still! 00:58"}},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, b *box) {
				m := newMixed(b)
				rules := []string{c.meta + `"authenticated":false`, c.meta + `"authenticated":true`}
				for i, mark := range []string{"", "!"} {
					edit := b.edit(fmt.Sprintf(`{"rrule":%q,"monitor":%s,"meta":{"sensegate":{%s}},
						"motion_actions":[{"action":"event","payload":{"_consumer":"moved%[4]s"}}],"no_motion_actions":[{"action":"event","payload":{"_consumer":"still%[4]s"}}],
						"no_history_actions":[{"action":"event","payload":{"_consumer":"unknown%[4]s"}}]}`, daily, c.monitor, rules[i], mark))
					if _, err := b.Alerts.CreateAlert(context.Background(), m.id, edit); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(48 * time.Minute)
				m.send(7*60, 0*c.own, 0)
				m.send(30, c.own, c.others)
				m.send(5*60, 0*c.own, 0)
				if c.gone {
					if err := b.Devices.RemoveDevice(context.Background(), otherNode); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(5 * time.Minute)
				got := b.fired()
				slices.Sort(got)
				equal(t, "fired", got, c.want)
			})
		})
	}
}

func TestPreviewCountsAuthenticatedLinksAlone(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		m := newMixed(b)
		begin := motion.TimeOf(time.Now())
		time.Sleep(48 * time.Minute)
		m.send(7*60, 0, 0)
		m.send(30, 0, 0.9)
		m.send(6*60, 0, 0)
		for authenticated, want := range map[bool]int{false: 1, true: 0} {
			edit := b.edit(fmt.Sprintf(`{"rrule":%q,"monitor":%s,"meta":{"sensegate":{"authenticated":%v}},"motion_actions":[{"action":"event","payload":{}}]}`, daily, simple, authenticated))
			p, err := b.Alerts.Preview(context.Background(), m.id, begin, edit)
			if err != nil || !p.Computed || len(p.Told) != want || p.Unknown != 0 {
				t.Errorf("authenticated %v: %+v, %v, want %d", authenticated, p, err, want)
			}
		}
	})
}

// What a guardian reports afterwards names no link, but it logs in.
func TestGuardianCountsAsAuthenticated(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		edit := b.edit(fmt.Sprintf(`{"rrule":%q,"monitor":%s,"meta":{"sensegate":{"authenticated":true}},"motion_actions":[{"action":"event","payload":{"_consumer":"moved"}}],
			"no_motion_actions":[{"action":"event","payload":{"_consumer":"still"}}],"no_history_actions":[{"action":"event","payload":{"_consumer":"unknown"}}]}`, daily, simple))
		if _, err := b.Alerts.CreateAlert(context.Background(), id, edit); err != nil {
			t.Fatal(err)
		}
		time.Sleep(49 * time.Minute)
		b.send(30, 0, 0)
		time.Sleep(10 * time.Minute)
		b.report(guardianKey, history(now().Add(-600), slices.Repeat([]float64{0, 0, 0.4, 0}, 30)...))
		b.send(120, 0, 0)
		time.Sleep(time.Minute)
		equal(t, "fired", b.fired(), []string{"moved 01:00"})
	})
}
