package integration

import (
	"slices"

	"sensegate/motion"
	"sensegate/motion/home"
	"sensegate/motion/sensor"
)

// pushFresh is how old a detection may be that is pushed: of later ones the scene of now
// says nothing.
const pushFresh motion.Seconds = 300

// tell pushes a detection as motion is pushed (interfaces.md 6 no. 3): while
// the home is away and its network armed, and of one sensor at most once in the cooldown of
// motion events. That a thing is at rest again, and what it measures, is not pushed.
func (b *batch) tell(one *thing, found sensor.Detection) error {
	if b.options.Push == nil || found.Value.Status == "" || slices.Index(found.Type.Statuses(), found.Value.Status) < 1 {
		return nil
	}
	now := b.tx.Now()
	if found.TS < now.Add(-pushFresh) {
		return nil
	}
	h, err := b.tx.Home(found.Home)
	if err != nil {
		return err
	}
	network, err := b.tx.Network(found.Network)
	if err != nil || !home.ArmedAway(h, network) {
		return err
	}
	cooldown := motion.Seconds(network.Guardian().MotionEvents.Cooldown)
	if since := now.Since(one.live.pushed); since >= 0 && since < cooldown {
		return nil
	}
	one.live.pushed = now
	return b.options.Push(b.tx, motion.Event{
		ID: found.ID, Category: motion.CategoryMotion, Event: found.Event, NetworkID: found.Network, GuardianID: network.GuardianID,
		TS: found.TS, LocName: found.Location,
	})
}
