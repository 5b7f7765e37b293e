package household

import (
	"slices"
	"sync"
	"time"

	"sensegate/motion"
	"sensegate/motion/home"
)

// Bounds of the mails with which a home invites, so that nobody fills the mailboxes of
// others by inviting and withdrawing in a loop: three a day to one address, and as many an
// hour as a home may have invitations open.
const (
	invitesOfAddress = 3
	invitesOfHome    = home.MaxInvitations
)

// inviteLimit counts the mails with which homes invite. It lives in memory: a restart, which
// only the administrator can bring about, begins anew.
type inviteLimit struct {
	mu     sync.Mutex
	mailed map[home.ID][]invited // of the last day
}

// invited is a mail with which a home has invited.
type invited struct {
	address string // home.EmailKey
	at      motion.Stamp
}

// take counts a mail from a home to an address, or reports that there were enough.
func (l *inviteLimit) take(id home.ID, address string, now motion.Stamp) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mailed == nil {
		l.mailed = map[home.ID][]invited{}
	}
	key := home.EmailKey(address)
	recent := slices.DeleteFunc(l.mailed[id], func(i invited) bool { return now.Since(i.at) >= 24*time.Hour })
	l.mailed[id] = recent
	toAddress, lastHour := 0, 0
	for _, i := range recent {
		if i.address == key {
			toAddress++
		}
		if now.Since(i.at) < time.Hour {
			lastHour++
		}
	}
	if toAddress >= invitesOfAddress || lastHour >= invitesOfHome {
		return false
	}
	l.mailed[id] = append(recent, invited{key, now})
	return true
}
