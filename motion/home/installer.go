package home

import (
	"slices"

	"sensegate/motion"
)

// Installer is a user who may look after the devices, links and tuning of a home for a time. They
// are no member: they see no history, no events and not who is at home.
type Installer struct {
	User  UserID      `json:"user"`
	By    UserID      `json:"by"`    // the owner who let them in
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
