package store

import (
	"sensegate/motion/home"
)

// invitationPrefix is what the tokens of invitations begin with.
const invitationPrefix = "inv_"

// invitationRecord is an invitation with what is never shown.
type invitationRecord struct {
	home.Invitation
	Token digest `json:"token"` // of its link
}

// invitations is the table of invitations, at most one of an address to a home.
var invitations = table[home.InvitationID, invitationRecord]{
	name: "invitations", noun: "invitation", key: key32[home.InvitationID],
	indexes: []index[invitationRecord]{{
		name: "invitations_by_home", noun: "network and address", unique: true,
		keys: func(i invitationRecord) [][]byte { return [][]byte{invitationKey(i.Home, i.Email)} },
	}},
}

// invitationKey is where the invitation of an address, in any case, to a home stands.
func invitationKey(h home.ID, address string) []byte {
	return join(key32(h), keyText(home.EmailKey(address)))
}

// PutInvitation stores an invitation to an existing home and returns it, with
// CreatedAt set to now. One of the same address is replaced under its id; its token, if
// it had one, is void.
func (tx *Tx) PutInvitation(i home.Invitation) (home.Invitation, error) {
	if _, err := tx.Home(i.Home); err != nil {
		return i, err
	}
	before, ok, err := invitations.by(tx, "invitations_by_home", invitationKey(i.Home, i.Email))
	if err != nil {
		return i, err
	}
	i.ID, i.CreatedAt = before.ID, tx.now.Stamp()
	if !ok {
		sequence, err := tx.bucket(invitations.name).NextSequence()
		if err != nil {
			return i, err
		}
		i.ID = home.InvitationID(sequence)
	}
	return i, invitations.put(tx, i.ID, invitationRecord{Invitation: i})
}

// IssueInvitationToken returns a new random token of 256 bits for an invitation; one that
// was issued before is void.
func (tx *Tx) IssueInvitationToken(id home.InvitationID) (string, error) {
	r, err := invitations.must(tx, id)
	if err != nil {
		return "", err
	}
	token, sum := newSecret(invitationPrefix)
	r.Token = sum
	return token, invitations.put(tx, id, r)
}

// Invitation returns the invitation with the id, open or not.
func (tx *Tx) Invitation(id home.InvitationID) (home.Invitation, error) {
	r, err := invitations.must(tx, id)
	return r.Invitation, err
}

// InvitationTo returns the invitation of an address to a home, open or not, and
// whether there is one.
func (tx *Tx) InvitationTo(h home.ID, address string) (home.Invitation, bool, error) {
	r, ok, err := invitations.by(tx, "invitations_by_home", invitationKey(h, address))
	return r.Invitation, ok, err
}

// MatchInvitation reports whether an open invitation of an address to a home has the token.
func (tx *Tx) MatchInvitation(h home.ID, address, token string) (bool, error) {
	r, ok, err := invitations.by(tx, "invitations_by_home", invitationKey(h, address))
	return ok && r.Open(tx.now.Stamp()) && r.Token.matches(digestOf(token)), err
}

// InvitationsOfHome returns the invitations to a home, open or not, by address.
func (tx *Tx) InvitationsOfHome(h home.ID) ([]home.Invitation, error) {
	records, err := invitations.allBy(tx, "invitations_by_home", key32(h))
	return mapped(records, err, func(r invitationRecord) (home.Invitation, error) { return r.Invitation, nil })
}

// DeleteInvitation removes an invitation and its mails.
func (tx *Tx) DeleteInvitation(id home.InvitationID) error {
	i, err := tx.Invitation(id)
	if err != nil {
		return err
	}
	if err := tx.DeleteMailsOfInvitation(i.Home, i.Email); err != nil {
		return err
	}
	return invitations.delete(tx, id)
}

// DropInvitations removes the invitations to a home: those that are not open any more,
// or all.
func (tx *Tx) DropInvitations(h home.ID, all bool) error {
	list, err := tx.InvitationsOfHome(h)
	return each(list, err, func(i home.Invitation) error {
		if !all && i.Open(tx.now.Stamp()) {
			return nil
		}
		return tx.DeleteInvitation(i.ID)
	})
}

// deleteInvitationsTo removes the invitations of an address to any home.
func (tx *Tx) deleteInvitationsTo(address string) error {
	list, err := invitations.all(tx, nil)
	return each(list, err, func(i invitationRecord) error {
		if home.EmailKey(i.Email) != home.EmailKey(address) {
			return nil
		}
		return tx.DeleteInvitation(i.ID)
	})
}
