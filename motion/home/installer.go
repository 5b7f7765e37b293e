package home

import (
	"slices"

	"sensegate/motion"
	"sensegate/motion/fault"
)

// Limits of installers.
const (
	MaxInstallers    = 10 // of a home at a time
	MaxInstallerDays = 30 // for which one is let in
)

// SetupStep is what is to be done next to set a home up, so that another phone can go on where
// one stopped.
type SetupStep string

// The steps, in their order.
const (
	SetupDevices  SetupStep = "devices"
	SetupRooms    SetupStep = "rooms"
	SetupWalk     SetupStep = "walk"
	SetupHandOver SetupStep = "handover"
	SetupDone     SetupStep = ""
)

// Installer is a user who may look after the devices, links and tuning of a home for a time. They
// are no member: they see no history, no events and not who is at home (payloads.md 6 no. 20).
type Installer struct {
	User  UserID      `json:"user"`
	By    UserID      `json:"by"`    // the owner who let them in; themselves: they were the owner; 0: no longer a member
	Since motion.Time `json:"since"` // when they were let in
	Until motion.Time `json:"until"` // when that ends by itself
}

// InstallerOf returns the user as an installer of the home at now; ok is false for everybody else,
// and for one whose time is over. One from the future was let in by a clock that was set back since.
func (h Home) InstallerOf(user UserID, now motion.Time) (i Installer, ok bool) {
	at := slices.IndexFunc(h.Installers, func(i Installer) bool { return i.User == user && i.Since <= now && now < i.Until })
	if at < 0 {
		return Installer{}, false
	}
	return h.Installers[at], true
}

// AddInstaller lets a user in as an installer of the home; it replaces what they were let in for
// before, and removes those whose time is over at i.Since. Conflict: the home has as many as it
// may have.
func (h *Home) AddInstaller(i Installer) error {
	h.Installers = slices.DeleteFunc(slices.Clone(h.Installers), func(other Installer) bool {
		return other.User == i.User || other.Ended(i.Since)
	})
	if len(h.Installers) >= MaxInstallers {
		return fault.New(fault.Conflict, "the home has %d installers: remove one first", MaxInstallers)
	}
	h.Installers = append(h.Installers, i)
	return nil
}

// EndInstaller removes a user from the installers of the home, and returns what they were let in
// for; ok is false when they were none.
func (h *Home) EndInstaller(user UserID) (ended Installer, ok bool) {
	at := slices.IndexFunc(h.Installers, func(i Installer) bool { return i.User == user })
	if at < 0 {
		return Installer{}, false
	}
	ended = h.Installers[at]
	h.Installers = slices.Delete(slices.Clone(h.Installers), at, at+1)
	return ended, true
}

// Ended reports whether the time of an installer is over at now. One from the future is not: a
// box without a clock of its own begins in 1970 until it learns the time.
func (i Installer) Ended(now motion.Time) bool { return now >= i.Until }

// DoneBy returns the data of an event about what an installer has done: it names them. It stays without
// the name when their account is deleted, as the household has to know what was done.
func DoneBy(u User) motion.Document {
	return motion.Document{"first_name": u.FirstName, "last_name": u.LastName, "user": map[string]any{"id": int64(u.ID)}}
}
