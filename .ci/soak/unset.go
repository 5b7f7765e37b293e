package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"sensegate/api/appliance/box"
	"sensegate/motion"
)

// The home of the devices.
const (
	unsetHome   = "a41f00c2d97b4e5580136c2e"
	unsetMaster = `{"radar_status": {"deviceId": "csi-a-02aa00000110", "node_id": "GWA1000133", "location_id": "` + unsetHome + `", "root_mode": 2, "ap_bssid_2ghz": "02:aa:00:00:01:12"}, "location_id": "` + unsetHome + `"}`
	unsetLink   = "GWA1000133.02bb00000031"
)

// unsetRun is an appliance whose clock is not set, and a guardian that reports to it.
type unsetRun struct {
	*appliance
	clock    clock
	guardian *box.Device
	told     map[string]motion.Time // time of the reported events, by kind
}

// startUnset starts the appliance in 1970, sets the time later, and reports whether the
// history then holds all acknowledged events at their times.
func startUnset(ctx context.Context, o options) (bool, error) {
	dir, err := os.MkdirTemp("", "unset")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	clock, err := fastPrograms(ctx, dir, o.speed, o.unset, "sensegate")
	if err != nil {
		return false, err
	}
	began := clock.now()
	b, err := startAppliance(ctx, dir)
	if err != nil {
		return false, err
	}
	defer b.stop()
	u := &unsetRun{appliance: b, clock: clock, told: map[string]motion.Time{}}
	if err := u.connect(ctx); err != nil {
		return false, err
	}
	defer u.guardian.Close()
	for i := 0; clock.now().Sub(began) < o.unset+5*time.Minute; i++ {
		if err := u.tell(ctx, i); err != nil {
			return false, err
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(5 * time.Minute / time.Duration(o.speed)):
		}
	}
	return u.judge(ctx)
}

// connect adopts and connects the guardian.
func (u *unsetRun) connect(ctx context.Context) error {
	text, err := u.call(ctx, http.MethodPost, "/gatekeeper?access_token="+accessToken, unsetMaster)
	if err != nil {
		return err
	}
	var answer struct {
		Local struct {
			Guardian struct {
				Token string `json:"mqToken"`
			} `json:"guardian_mqtt"`
		} `json:"local_config"`
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return err
	}
	key := motion.DeviceKey{Kind: motion.Guardian, ID: unsetHome}
	u.guardian, err = box.Connect(ctx, u.mqtt, key, answer.Local.Guardian.Token, new(atomic.Uint32))
	return err
}

// tell reports an event with the right time, one without a time, and motion without.
func (u *unsetRun) tell(ctx context.Context, i int) error {
	now := motion.TimeOf(u.clock.now())
	for kind, ts := range map[string]motion.Time{fmt.Sprint("WithClock", i): now, fmt.Sprint("WithoutClock", i): 0} {
		u.told[kind] = now
		event := motion.Event{Category: motion.CategorySystem, Event: kind, TS: ts}
		if _, err := u.guardian.Publish(ctx, 1, motion.EventReport{Event: event}); err != nil {
			return fmt.Errorf("%s is not acknowledged: %w", kind, err)
		}
	}
	figure := [][]float64{{0.35}}
	_, err := u.guardian.Publish(ctx, 0, &motion.Matrix{
		Interval: 500, Count: 1, Links: []string{unsetLink}, MotionEnabled: 1,
		Values: motion.Figures{motion.MKAI: figure, motion.LRaw: figure, motion.Throughput: {{1}}},
	})
	return err
}

// judge prints the history and reports whether it holds all events, each to within a
// real second of its time, and one ClockSetEvent.
func (u *unsetRun) judge(ctx context.Context) (bool, error) {
	text, err := u.call(ctx, http.MethodGet, "/core/network/1/events/history?last=1000", "")
	if err != nil {
		return false, err
	}
	var history []motion.Event
	if err := json.Unmarshal(text, &history); err != nil {
		return false, err
	}
	fmt.Println("| event | told | stored | difference |\n|---|---|---|---|")
	slack := motion.Seconds(u.clock.speed) // a real second
	good, set := true, 0
	for _, e := range history {
		if e.Event == motion.ClockSetEvent {
			set++
		}
		at, ok := u.told[e.Event]
		if !ok {
			fmt.Printf("| %s | | %s | |\n", e.Event, e.TS.Std().Format(time.DateTime))
			continue
		}
		delete(u.told, e.Event)
		late := e.TS.Since(at)
		good = good && late > -slack && late < slack
		fmt.Printf("| %s | %s | %s | %.1f s |\n", e.Event, at.Std().Format(time.DateTime), e.TS.Std().Format(time.DateTime), late)
	}
	status, err := u.call(ctx, http.MethodGet, "/core/network/1/motion/history/state", "")
	if err != nil {
		return false, err
	}
	fmt.Printf("\nhidden: %d, clock set: %d times, motion: …%s\n", len(u.told), set, strings.TrimSpace(string(status[max(0, len(status)-100):])))
	return good && len(u.told) == 0 && set == 1, nil
}
