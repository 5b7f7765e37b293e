package household

import (
	"context"

	"sensegate/motion"
	"sensegate/motion/home"
	"sensegate/store"
)

// Tuned is how sensitive a home is.
type Tuned struct {
	Level    string
	Cooldown int32
	PetMode  bool
}

// TellTuned tells the household that an installer has changed how sensitive the home is: with very little
// of it nothing is noticed any more. Of what somebody changes who lives there it is not told.
func (h *Household) TellTuned(ctx context.Context, id home.ID, who Viewer, now Tuned) error {
	if who.Resident {
		return nil
	}
	return h.engine.Events.RecordChange(ctx, func(tx *store.Tx) ([]motion.Event, error) {
		event, err := installerEvent(tx, id, who.User, motion.InstallerTunedEvent)
		event.Detail = motion.Document{"sensitivity_level": now.Level, "cooldown": float64(now.Cooldown), "pet_mode": now.PetMode}
		return []motion.Event{event}, err
	})
}
