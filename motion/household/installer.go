package household

import (
	"context"
	"slices"
	"strings"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

// Why an installation ended, in the detail of InstallerLeftEvent; or handedOver, when somebody from
// outside took the home over.
const (
	installerEnded   = "ended"   // its time was over
	installerRemoved = "removed" // by the owner
	installerLeft    = "left"    // by the installer, also with their account
)

// Installer is an installer of a home, with the names of people.
type Installer struct {
	home.Installer
	Name   string
	ByName string // of who let them in; "": not known
}

// Installers returns who may look after a home now, the newest last.
func Installers(tx *store.Tx, house home.Home) (list []Installer, err error) {
	for _, i := range house.Installers {
		if _, in := house.InstallerOf(i.User, tx.Now()); !in {
			continue
		}
		shown := Installer{Installer: i}
		if shown.Name, err = nameOf(tx, i.User); err != nil {
			return nil, err
		}
		if shown.ByName, err = nameOf(tx, i.By); err != nil {
			return nil, err
		}
		list = append(list, shown)
	}
	return list, nil
}

// nameOf returns the name of a user to people who may not know their address: without a name
// what stands in it before the @. "": there is no such user.
func nameOf(tx *store.Tx, id home.UserID) (string, error) {
	person, err := tx.User(id)
	if fault.KindOf(err) == fault.NotFound {
		return "", nil
	}
	name := strings.TrimSpace(person.FirstName + " " + person.LastName)
	if name == "" {
		name = home.LocalPart(person.Email)
	}
	return name, err
}

// RemoveInstaller ends the installation of a user in a home: its owner may remove everybody, an
// installer themselves. Forbidden: by is somebody else. NotFound: the user is no installer of it.
func (h *Household) RemoveInstaller(ctx context.Context, id home.ID, user, by home.UserID) error {
	err := h.engine.Events.RecordChange(ctx, func(tx *store.Tx) ([]motion.Event, error) {
		house, err := tx.Home(id)
		if err != nil {
			return nil, err
		}
		reason := installerLeft
		if user != by {
			reason = installerRemoved
			if _, err := ownershipOf(tx, id, by); err != nil {
				return nil, err
			}
		}
		if _, known := house.EndInstaller(user); !known {
			return nil, fault.New(fault.NotFound, "user %d is no installer of the network", user)
		}
		if err := tx.PutHome(house); err != nil {
			return nil, err
		}
		left, err := installerGone(tx, house, user, reason)
		return []motion.Event{left}, err
	})
	if err != nil {
		return err
	}
	h.ended()
	h.log.Info("installer removed", "home", id, "user", user)
	return nil
}

// EndInstallations removes the installers whose time is over, and raises InstallerLeftEvent for
// each. They are refused before that, too: see home.Home.InstallerOf.
func (h *Household) EndInstallations(ctx context.Context) error {
	over := false
	err := h.db.View(ctx, func(tx *store.Tx) error {
		homes, err := tx.Homes()
		over = slices.ContainsFunc(homes, func(house home.Home) bool { return len(endedIn(tx, house)) > 0 })
		return err
	})
	if err != nil || !over {
		return err
	}
	err = h.engine.Events.RecordChange(ctx, func(tx *store.Tx) (events []motion.Event, err error) {
		homes, err := tx.Homes()
		if err != nil {
			return nil, err
		}
		for _, house := range homes {
			left, err := endInstallers(tx, house, endedIn(tx, house), installerEnded)
			if err != nil {
				return nil, err
			}
			events = append(events, left...)
		}
		return events, nil
	})
	if err == nil {
		h.ended()
	}
	return err
}

// endedIn returns the installers of a home whose time is over.
func endedIn(tx *store.Tx, house home.Home) (users []home.UserID) {
	if tx.Here(house.ExternalID) != nil {
		return nil // it has gone to another box
	}
	for _, i := range house.Installers {
		if i.Ended(tx.Now()) {
			users = append(users, i.User)
		}
	}
	return users
}

// endInstallers removes installers from a home and returns the events.
func endInstallers(tx *store.Tx, house home.Home, users []home.UserID, reason string) (events []motion.Event, err error) {
	for _, user := range users {
		house.EndInstaller(user)
		left, err := installerGone(tx, house, user, reason)
		if err != nil {
			return nil, err
		}
		events = append(events, left)
	}
	if len(users) == 0 {
		return nil, nil
	}
	return events, tx.PutHome(house)
}

// letIn makes a user an installer of a home for some days, and returns the events.
func letIn(tx *store.Tx, id home.ID, user, by home.UserID, days int) ([]motion.Event, error) {
	house, err := tx.Home(id)
	if err != nil {
		return nil, err
	}
	person, err := tx.User(user)
	if err != nil {
		return nil, err
	}
	until := tx.Now().Add(motion.Seconds(days) * 24 * 3600)
	if err := house.AddInstaller(home.Installer{User: user, By: by, Since: tx.Now(), Until: until}); err != nil {
		return nil, err
	}
	if err := tx.PutHome(house); err != nil {
		return nil, err
	}
	joined, err := systemEvent(tx, house, motion.InstallerJoinedEvent)
	joined.Data, joined.Detail = memberData(person), motion.Document{"until": float64(until)}
	return []motion.Event{joined}, err
}

// installerGone returns the event of an installation that ended. That of a user whose account is
// gone names nobody.
func installerGone(tx *store.Tx, house home.Home, user home.UserID, reason string) (motion.Event, error) {
	left, err := systemEvent(tx, house, motion.InstallerLeftEvent)
	if err != nil {
		return left, err
	}
	if err := closeWindowOf(tx, house.ExternalID, user); err != nil {
		return left, err
	}
	left.Data, left.Detail = motion.Document{"user": map[string]any{}}, motion.Document{"reason": reason}
	person, err := tx.User(user)
	switch {
	case fault.KindOf(err) == fault.NotFound:
		err = nil
	case err == nil:
		left.Data = memberData(person)
	}
	return left, err
}

// closeWindowOf closes the window by which an installer lets new devices in.
func closeWindowOf(tx *store.Tx, network motion.NetworkID, user home.UserID) error {
	by, err := tx.AdoptionBy(network)
	if err != nil || by != user {
		return err
	}
	return tx.SetAdoptionUntil(network, tx.Now())
}

// leaveInstallations ends what a person who deletes their account has installed, and returns the
// events, which do not name them.
func leaveInstallations(tx *store.Tx, user home.UserID) (events []motion.Event, err error) {
	homes, err := tx.HomesInstalledBy(user)
	if err != nil {
		return nil, err
	}
	for _, house := range homes {
		left, err := endInstallers(tx, house, []home.UserID{user}, installerLeft)
		if err != nil {
			return nil, err
		}
		for i := range left {
			left[i].Data = motion.Document{"user": map[string]any{}}
		}
		events = append(events, left...)
	}
	return events, nil
}
