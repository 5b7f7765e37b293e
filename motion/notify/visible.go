package notify

import (
	"slices"

	"sensegate/motion"
	"sensegate/motion/home"
	"sensegate/store"
)

// Visible returns the mails that the owner of a home may read, the newest first: their
// own, those with which the home invites, those to its members, and the confirmation
// of whoever it has invited. A link of a mail opens the account that it is about;
// therefore the mails of a person who also belongs to another home, or whom an owner
// has added without their doing, and the new passwords of one who belongs to none yet,
// are not shown. Nor is the confirmation of an address that another home has invited,
// not even for the owner's own account: it would make them the guest.
// What tells of a change to an account is its own person's alone.
//
// Mails of others from before the owner was that are not shown. Nor is the link of any mail
// that a mail server has, or is to have: of those the owner sees what became of them. It is
// shown while a try to send it has failed.
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

// place is how a person stands to the reader's home.
type place int

const (
	elsewhere place = iota + 1 // belongs to another home, was added here, or belongs to none and is not invited
	invited                    // belongs to none, and is invited here
	here                       // belongs to this home alone
)

// reader decides what the owner of a home may read.
type reader struct {
	tx     *store.Tx
	owner  home.UserID
	home   home.ID
	since  motion.Stamp          // when they became its owner
	inside map[home.UserID]place // of those looked up so far
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

// placeOf looks up how a person stands to the reader's home.
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

// awaitedElsewhere reports whether a home that the reader does not own has an open
// invitation to an address.
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
