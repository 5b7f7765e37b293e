package household

import (
	"context"
	"slices"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/setting"
	"sensegate/store"
)

// ChangeScene changes the scene of a home and reports whether it differs. A change raises the
// event of interfaces.md 6 no. 4. If the home enables it, the devices are armed or disarmed
// (payloads.md 6 no. 5). by is the user who caused the change, reason is home.ByUser,
// home.ByGeofence or home.ByUplink. Invalid: no such scene. NotFound: no such home. If arming fails the scene
// stays changed; another call with the same scene arms again.
func (h *Household) ChangeScene(ctx context.Context, id home.ID, by home.UserID, to home.Scene, reason string) (changed bool, err error) {
	if !slices.Contains(home.Scenes(), to) {
		return false, fault.New(fault.Invalid, "scene_id: want 1 (away) or 4 (home)")
	}
	err = h.engine.Events.RecordChange(ctx, func(tx *store.Tx) ([]motion.Event, error) {
		house, err := tx.Home(id)
		if err != nil {
			return nil, err
		}
		events, err := setScene(tx, house, by, to, reason)
		changed = len(events) > 0
		return events, err
	})
	if err != nil {
		return false, err
	}
	return changed, h.arm(ctx, id)
}

// setScene stores the scene of a home and returns the event of the change, or none if the
// scene is the same (payloads.md 5.3). by 0: the event names nobody.
func setScene(tx *store.Tx, house home.Home, by home.UserID, to home.Scene, reason string) ([]motion.Event, error) {
	before := house.Scene
	if before == to {
		return nil, stay(tx, house)
	}
	house.Scene, house.UpdatedAt, house.SceneAt, house.SceneBy = to, tx.Now().Stamp(), tx.Now(), by
	house.AwayAt, house.AwayBy = 0, 0
	if err := tx.PutHome(house); err != nil {
		return nil, err
	}
	event, err := systemEvent(tx, house, to.Event())
	event.Data = motion.Document{"id": int(to), "title": to.String(), "user": map[string]any{}}
	if by != 0 {
		event.Data["user"] = map[string]any{"id": int64(by)}
	}
	event.Detail = motion.Document{"scene_id": int(to), "previous_scene_id": int(before), "reason": reason}
	return []motion.Event{event}, err
}

// systemEvent returns an event of a home with the current time.
func systemEvent(tx *store.Tx, house home.Home, kind string) (motion.Event, error) {
	network, err := tx.Network(house.ExternalID)
	return motion.Event{
		Event:     kind,
		NetworkID: network.ID, GuardianID: network.GuardianID, TS: tx.Now(),
	}, err
}

// ChangeSceneConfig changes the scene configuration of a home and returns the stored one. If
// arming follows the scene it is applied at once.
func memberEvent(tx *store.Tx, house home.Home, kind string, u home.User, m home.Membership) (motion.Event, error) {
	event, err := systemEvent(tx, house, kind)
	event.Data = memberData(u)
	if m.Unasked {
		event.Data = motion.Document{"user": map[string]any{}}
	}
	return event, err
}

// ChangeSceneConfig changes the scene configuration of a home and returns it as
// stored. Where arming follows the scene from now on, it does so at once.
func (h *Household) ChangeSceneConfig(ctx context.Context, id home.ID, change func(*home.SceneConfig)) (config home.SceneConfig, err error) {
	err = h.db.Update(ctx, func(tx *store.Tx) error {
		house, err := tx.Home(id)
		if err != nil {
			return err
		}
		before, err := tx.SceneConfig(house.SceneConfigID)
		if err != nil {
			return err
		}
		config = before
		change(&config)
		config.ID, config.HomeID, config.CreatedAt = before.ID, before.HomeID, before.CreatedAt
		config.UpdatedAt = tx.Now().Stamp()
		return tx.PutSceneConfig(config)
	})
	if err != nil {
		return home.SceneConfig{}, err
	}
	return config, h.arm(ctx, id)
}

// arm arms or disarms the network of a home according to its scene, if arming follows it, also
// while motion is paused, so that the state is right after the pause. A network whose motion
// events are disabled stays as it is.
func (h *Household) arm(ctx context.Context, id home.ID) error {
	var network motion.Network
	var armed int
	var follows bool
	err := h.db.View(ctx, func(tx *store.Tx) (err error) {
		if network.ID, armed, follows, err = wantedArming(tx, id); err != nil || !follows {
			return err
		}
		network, err = tx.Network(network.ID)
		return err
	})
	if err != nil || !follows || !armable(network, armed) {
		return err
	}
	_, err = h.engine.Inventory.ChangeConfig(ctx, network.ID, true, func(tx *store.Tx, n *motion.Network) error {
		_, armed, follows, err := wantedArming(tx, id) // the scene may have changed again
		if err != nil || !follows || !armable(*n, armed) {
			return err
		}
		*n, err = setting.Guardian(*n, setting.Edit{Key: "motion_events", Body: motion.Document{"motion_events": map[string]any{"armed": float64(armed)}}})
		return err
	})
	return err
}

// wantedArming returns the network of a home, the value of motion_events.armed for its scene,
// and whether arming follows the scene.
func wantedArming(tx *store.Tx, id home.ID) (network motion.NetworkID, armed int, follows bool, err error) {
	house, err := tx.Home(id)
	if err != nil {
		return 0, 0, false, err
	}
	config, err := tx.SceneConfig(house.SceneConfigID)
	return house.ExternalID, house.Scene.Armed(), config.AutoArm, err
}

// armable reports whether motion_events.armed can and must change to armed.
func armable(n motion.Network, armed int) bool {
	events := n.Guardian().MotionEvents
	return events.Enabled == 1 && events.Armed != armed
}
