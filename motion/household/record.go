package household

import (
	"context"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

// Recordable returns the home whose raw CSI a user may record: they live there, 0 stands for
// somebody at the appliance itself. Without a home of a household its ID is 0. NotFound: the
// network. Forbidden, code not_resident: they live elsewhere.
func Recordable(tx *store.Tx, network motion.NetworkID, user home.UserID) (home.Home, error) {
	if _, err := tx.Network(network); err != nil {
		return home.Home{}, err
	}
	house, _, err := tx.HomeOfNetwork(network)
	if err != nil {
		return house, err
	}
	if !house.Claimed() {
		house = home.Home{}
	}
	if user == 0 {
		return house, nil
	}
	if _, lives, err := tx.MembershipOf(house.ID, user); err != nil || lives {
		return house, err
	}
	return house, &fault.Error{Kind: fault.Forbidden, Code: "not_resident", Message: "network: only who lives there may have it recorded"}
}

// TellRecording tells a household that raw CSI of its home is recorded, for so many minutes at
// most: it says more of people than motion does. user 0 is somebody at the appliance itself.
func (h *Household) TellRecording(ctx context.Context, id home.ID, user home.UserID, minutes int) error {
	return h.engine.Events.RecordChange(ctx, func(tx *store.Tx) ([]motion.Event, error) {
		house, err := tx.Home(id)
		if err != nil {
			return nil, err
		}
		event, err := systemEvent(tx, house, motion.RecordingStartedEvent)
		if err != nil {
			return nil, err
		}
		if user != 0 {
			by, err := tx.User(user)
			if err != nil {
				return nil, err
			}
			event.Data = home.DoneBy(by)
		}
		event.Detail = motion.Document{"minutes": float64(minutes)}
		return []motion.Event{event}, nil
	})
}
