package household

import (
	"context"
	"time"

	"sensegate/motion"
	"sensegate/motion/alert"
	"sensegate/motion/engine/inventory"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

const (
	leaveEvery       = time.Second                  // interval of Leave
	lookEvery        = 10                           // of those, one Look
	longestDetection = motion.Seconds(48 * 60 * 60) // how far back a detection may begin
)

// Watch calls Leave every second and Look every ten until ctx ends. It returns early with an
// error when the database fails.
func (h *Household) Watch(ctx context.Context) error {
	ticker := time.NewTicker(leaveEvery)
	defer ticker.Stop()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		err := h.Leave(ctx)
		if err == nil && n%lookEvery == 0 {
			err = h.Look(ctx)
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case fault.KindOf(err) != 0:
			h.log.Warn("scene check failed, will retry", "err", err)
		case err != nil:
			return err
		}
	}
}

// watched is a home whose scene configuration enables motion events.
type watched struct {
	home.Home
	config home.SceneConfig
	zone   *time.Location
}

// Look calls TellOwners, EndInstallations and Depart. Then it raises ExcessiveMotionEvent once per detection
// that lasts for the excessive_motion_seconds of its home, and GuardianMotionEvent once per
// guardian window with motion. It reads from the history what was raised, so a restart repeats
// nothing. Watch calls it; it must not run concurrently with itself.
func (h *Household) Look(ctx context.Context) error {
	if err := h.TellOwners(ctx); err != nil {
		return err
	}
	if err := h.EndInstallations(ctx); err != nil {
		return err
	}
	if err := h.Depart(ctx); err != nil {
		return err
	}
	homes, err := store.Read(ctx, h.db, watchers)
	if err != nil {
		return err
	}
	for _, w := range homes {
		state, err := h.engine.Inventory.NetworkState(w.ExternalID)
		if fault.KindOf(err) == fault.NotFound { // disowned meanwhile
			continue
		}
		if err != nil {
			return err
		}
		for _, raise := range []func(context.Context, watched, inventory.NetworkState) error{h.excessiveMotion, h.guardianMotion} {
			if err := raise(ctx, w, state); err != nil && fault.KindOf(err) != fault.NotFound {
				return err
			}
		}
	}
	return nil
}

// watchers returns the claimed homes whose scene configuration enables motion events.
func watchers(tx *store.Tx) (list []watched, err error) {
	homes, err := tx.Homes()
	if err != nil {
		return nil, err
	}
	for _, house := range homes {
		config, err := tx.SceneConfig(house.SceneConfigID)
		if err != nil {
			return nil, err
		}
		if !house.Claimed() || !config.ExcessiveMotionEnabled && !config.GuardianEnabled {
			continue
		}
		settings, err := tx.ApplicationSettings(house.ExternalID)
		if err != nil && fault.KindOf(err) != fault.NotFound {
			return nil, err
		}
		zone, err := alert.LoadZone(settings.Timezone)
		if err != nil {
			zone = time.UTC
		}
		list = append(list, watched{house, config, zone})
	}
	return list, nil
}

// excessiveMotion raises ExcessiveMotionEvent if it is due.
func (h *Household) excessiveMotion(ctx context.Context, w watched, state inventory.NetworkState) error {
	if !w.config.ExcessiveMotionEnabled || state.MotionTripped == nil || *state.MotionTripped != 1 {
		return nil
	}
	since := max(w.ClaimedAt, h.engine.State.Now().Add(-longestDetection))
	return h.raise(ctx, w, motion.ExcessiveMotionEvent, since, func(event *motion.Event, newest motion.Event) bool {
		least := motion.Seconds(w.config.ExcessiveMotionSeconds)
		if newest.Event != motion.MotionDetectedEvent || state.LastMotion.Since(newest.TS) < least {
			return false
		}
		event.DetectedTS, event.Loc, event.LocName = newest.TS, newest.Loc, newest.LocName
		event.Detail = motion.Document{"seconds": least}
		return true
	}, motion.MotionDetectedEvent, motion.MotionStoppedEvent)
}

// guardianMotion raises GuardianMotionEvent if it is due.
func (h *Household) guardianMotion(ctx context.Context, w watched, state inventory.NetworkState) error {
	from, to, in := w.config.GuardianWindow(h.engine.State.Now().Std().In(w.zone))
	begin := max(motion.TimeOf(from), w.ClaimedAt)
	if !in || state.LastMotion < begin {
		return nil
	}
	return h.raise(ctx, w, motion.GuardianMotionEvent, begin, func(event *motion.Event, newest motion.Event) bool {
		event.Detail = motion.Document{"from": float64(motion.TimeOf(from)), "to": float64(motion.TimeOf(to))}
		return newest.Event == ""
	})
}

// raise stores an event of the kind, unless the newest event since a time of that kind or the
// others is of that kind itself. settle gets that newest event, which is empty if there is
// none; it completes the new event and reports whether it is due.
func (h *Household) raise(ctx context.Context, w watched, kind string, since motion.Time, settle func(event *motion.Event, newest motion.Event) bool, others ...string) error {
	due := func(tx *store.Tx) (event motion.Event, due bool, err error) {
		last, err := tx.Events(store.EventQuery{Network: w.ExternalID, NotBefore: since, Last: 1, Kinds: append(others, kind)})
		if err != nil {
			return event, false, err
		}
		var newest motion.Event
		if len(last) > 0 {
			newest = last[0]
		}
		if event, err = systemEvent(tx, w.Home, kind); err != nil || newest.Event == kind {
			return event, false, err
		}
		return event, settle(&event, newest), nil
	}
	wanted, err := store.Read(ctx, h.db, func(tx *store.Tx) (bool, error) {
		_, wanted, err := due(tx)
		return wanted, err
	})
	if err != nil || !wanted {
		return err
	}
	return h.engine.Events.RecordChange(ctx, func(tx *store.Tx) ([]motion.Event, error) {
		event, stillDue, err := due(tx)
		if err != nil || !stillDue {
			return nil, err
		}
		return []motion.Event{event}, nil
	})
}
