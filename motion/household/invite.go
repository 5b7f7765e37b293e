package household

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"sensegate/motion"
	"sensegate/motion/home"
	"sensegate/motion/notify"
	"sensegate/store"
)

// inviteAgain is the least time between two mails of an open invitation.
const inviteAgain = time.Minute

// Invite invites addresses to a home on behalf of its owner and returns those that failed:
// malformed addresses, addresses of members, those beyond home.MaxInvitations open ones, and
// those that reached the mail limit. Each invited address gets a mail and has seven days; so
// does a repeated invitation, unless the last one is less than a minute old.
func (h *Household) Invite(ctx context.Context, id home.ID, by home.UserID, addresses []string) (failed []string, err error) {
	err = h.db.Update(ctx, func(tx *store.Tx) error {
		failed = []string{}
		if err := tx.DropInvitations(id, false); err != nil {
			return err
		}
		taken, err := addressesOf(tx, id)
		if err != nil {
			return err
		}
		seen := map[string]bool{}
		for _, address := range addresses {
			address = strings.TrimSpace(address)
			key := home.EmailKey(address)
			if seen[key] {
				continue
			}
			seen[key] = true
			if home.CheckEmail(address) != nil || taken[key] {
				failed = append(failed, address)
				continue
			}
			invited, err := h.invite(tx, id, by, address)
			if err != nil {
				return err
			}
			if !invited {
				failed = append(failed, address)
			}
		}
		return nil
	})
	return failed, err
}

// addressesOf returns the addresses of the members of a home.
func addressesOf(tx *store.Tx, id home.ID) (map[string]bool, error) {
	members, err := tx.MembershipsOfHome(id)
	if err != nil {
		return nil, err
	}
	taken := map[string]bool{}
	for _, m := range members {
		person, err := tx.User(m.User)
		if err != nil {
			return nil, err
		}
		taken[home.EmailKey(person.Email)] = true
	}
	return taken, nil
}

// invite invites one address. It returns false when the home has too many open invitations or
// a mail limit is reached.
func (h *Household) invite(tx *store.Tx, id home.ID, by home.UserID, address string) (bool, error) {
	now := tx.Now().Stamp()
	open, err := tx.InvitationsOfHome(id)
	if err != nil {
		return false, err
	}
	before, again, err := tx.InvitationTo(id, address)
	if err != nil || !again && len(open) >= home.MaxInvitations {
		return false, err
	}
	if again && now.Since(before.CreatedAt) < inviteAgain {
		return true, nil // a repeated request sends no second mail
	}
	if !h.limit.take(id, address, now) {
		return false, nil
	}
	if err := tx.DeleteMailsOfInvitation(id, address); err != nil {
		return false, err // the links of earlier mails stop working
	}
	invitation, err := tx.PutInvitation(home.Invitation{
		Email: address, Home: id, Role: home.MemberRole, ExpiresAt: now.Add(home.InvitationTime),
	})
	if err != nil {
		return false, err
	}
	return true, h.mailInvitation(tx, invitation, by)
}

// mailInvitation queues the mail of an invitation, with a new token.
func (h *Household) mailInvitation(tx *store.Tx, i home.Invitation, by home.UserID) error {
	token, err := tx.IssueInvitationToken(i.ID)
	if err != nil {
		return err
	}
	house, err := tx.Home(i.Home)
	if err != nil {
		return err
	}
	inviter, err := tx.User(by)
	if err != nil {
		return err
	}
	return h.mail(tx, notify.Mail{
		Kind: notify.Invite, To: i.Email, Expires: i.ExpiresAt, Home: i.Home, Token: token,
		Network: house.Name, Inviter: strings.TrimSpace(inviter.FirstName + " " + inviter.LastName),
	})
}

// Invitations returns the open invitations to a home, ordered by address.
func (h *Household) Invitations(ctx context.Context, id home.ID) (open []home.Invitation, err error) {
	open = []home.Invitation{}
	err = h.db.View(ctx, func(tx *store.Tx) error {
		list, err := tx.InvitationsOfHome(id)
		for _, i := range list {
			if i.Open(tx.Now().Stamp()) {
				open = append(open, i)
			}
		}
		return err
	})
	return open, err
}

// Withdraw deletes an invitation, open or not.
func (h *Household) Withdraw(ctx context.Context, id home.InvitationID) error {
	return h.db.Update(ctx, func(tx *store.Tx) error { return tx.DeleteInvitation(id) })
}

// Limits on a home's invitation mails, so that inviting and withdrawing in a loop does not
// fill mailboxes.
const (
	invitesOfAddress = 3                   // per day to one address
	invitesOfHome    = home.MaxInvitations // per hour
)

// inviteLimit counts the invitation mails of homes in memory. A restart, which only the
// administrator can cause, resets it.
type inviteLimit struct {
	mu     sync.Mutex
	mailed map[home.ID][]invited // of the last day
}

// invited is an invitation mail that a home sent.
type invited struct {
	address string // home.EmailKey
	at      motion.Stamp
}

// take counts a mail from a home to an address. It returns false when a limit is reached.
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
