package notify

import (
	"slices"

	"sensegate/motion"
	"sensegate/motion/home"
	"sensegate/store"
)

// Visible returns the mails that the owner of a home may read, newest first: their own, the
// home's invitations, mails to its members, and the confirmation mails of users it has
// invited. Because the link of a mail opens the account, Visible omits other mails of a person
// who also belongs to another home or whom an owner added, and the password mails of a person
// who belongs to none. It omits the confirmation of an address that another home has invited,
// also for the owner's own account: it would let them in there as the guest. Only the person
// themselves sees notices of changes to their account.
//
// Visible omits mails of others from before the owner became the owner. It removes the link of a
// mail that a mail server has or will get, so that only the state is visible; the link stays
// visible while a try to send the mail has failed.
func Visible(tx *store.Tx, owner home.UserID, id home.ID) ([]store.Mail, error) {
	all, err := tx.Mails()
	if err != nil {
		return nil, err
	}
	own, _, err := tx.MembershipOf(id, owner)
	if err != nil {
		return nil, err
	}
	reader := reader{tx: tx, owner: owner, home: id, since: max(own.CreatedAt, own.OwnerSince), inside: map[home.UserID]place{}}
	visible := []store.Mail{}
	for _, m := range all {
		ok, err := reader.mayRead(m)
		if err != nil {
			return nil, err
		}
		if ok {
			if m.SentAt != 0 || m.Entrusted() {
				m.Link = ""
			}
			visible = append(visible, m)
		}
	}
	slices.Reverse(visible)
	return visible, nil
}

// place is a person's relation to the reader's home.
type place int

const (
	elsewhere place = iota + 1 // belongs to another home, was added here, or belongs to none and is not invited
	invited                    // belongs to none and is invited here
	here                       // belongs to this home alone
)

// reader decides what the owner of a home may read.
type reader struct {
	tx     *store.Tx
	owner  home.UserID
	home   home.ID
	since  motion.Stamp          // when they became the owner
	inside map[home.UserID]place // results so far
}

func (r reader) mayRead(m store.Mail) (bool, error) {
	if m.UserID != r.owner && m.CreatedAt < r.since {
		return false, nil
	}
	if m.HomeID == r.home {
		return true, nil
	}
	if m.UserID == 0 {
		return false, nil
	}
	if Kind(m.Kind) == Confirm {
		if awaited, err := r.awaitedElsewhere(m.Address); err != nil || awaited {
			return false, err
		}
	}
	if m.UserID == r.owner {
		return true, nil
	}
	if Kind(m.Kind).notice() {
		return false, nil
	}
	p, known := r.inside[m.UserID]
	if !known {
		var err error
		if p, err = r.placeOf(m.UserID); err != nil {
			return false, err
		}
		r.inside[m.UserID] = p
	}
	return p == here || p == invited && Kind(m.Kind) == Confirm, nil
}

// placeOf looks up a person's relation to the reader's home.
func (r reader) placeOf(user home.UserID) (place, error) {
	memberships, err := r.tx.MembershipsOfUser(user)
	switch {
	case err != nil:
		return 0, err
	case len(memberships) == 1 && memberships[0].Home == r.home && !memberships[0].Added:
		return here, nil
	case len(memberships) > 0:
		return elsewhere, nil
	}
	u, err := r.tx.User(user)
	if err != nil {
		return 0, err
	}
	invitation, ok, err := r.tx.InvitationTo(r.home, u.Email)
	if ok && invitation.Open(r.tx.Now().Stamp()) {
		return invited, err
	}
	return elsewhere, err
}

// awaitedElsewhere reports whether a home that the reader does not own has an open invitation
// to an address.
func (r reader) awaitedElsewhere(address string) (bool, error) {
	homes, err := r.tx.Homes()
	if err != nil {
		return false, err
	}
	for _, h := range homes {
		invitation, ok, err := r.tx.InvitationTo(h.ID, address)
		if err != nil {
			return false, err
		}
		if !ok || !invitation.Open(r.tx.Now().Stamp()) {
			continue
		}
		m, _, err := r.tx.MembershipOf(h.ID, r.owner)
		if err != nil || m.Role != home.OwnerRole {
			return true, err
		}
	}
	return false, nil
}
