package store

import (
	"slices"
	"strings"

	"sensegate/motion/home"
)

// AddressProof is what is known of how a user came by their confirmed address. The zero
// proof is nothing.
type AddressProof struct {
	Vouched bool      `json:"vouched,omitempty"` // none but its holder, or the administrator, could have confirmed it
	By      []home.ID `json:"by,omitempty"`      // otherwise: the homes whose owners could hand over the mail that did
}

// KnownTo reports whether a home may take the address for the user's: nobody but its own
// owner could have confirmed it without being the holder.
func (p AddressProof) KnownTo(h home.ID) bool {
	return p.Vouched || len(p.By) == 1 && p.By[0] == h
}

// AddressProof returns how a user's address was confirmed; the zero proof is none.
func (tx *Tx) AddressProof(id home.UserID) (AddressProof, error) {
	r, err := users.must(tx, id)
	return r.Proof, err
}

// SetAddressProof stores how the present address of a user was confirmed.
func (tx *Tx) SetAddressProof(id home.UserID, p AddressProof) error {
	r, err := users.must(tx, id)
	if err != nil {
		return err
	}
	r.Proof = p
	return users.put(tx, id, r)
}

// ProofOf returns what following the link with the token, of a mail about a user, proves:
// nothing when the mail is gone.
func (tx *Tx) ProofOf(id home.UserID, token string) (AddressProof, error) {
	list, err := mails.allBy(tx, "mails_by_user", keyUser(id))
	if err != nil {
		return AddressProof{}, err
	}
	for _, m := range list {
		if !strings.HasSuffix(m.Link, "="+token) {
			continue
		}
		if m.SentAt != 0 && m.Entrusted() {
			return AddressProof{Vouched: true}, nil
		}
		by, err := tx.readersOf(m)
		return AddressProof{Vouched: len(by) == 0, By: by}, err
	}
	return AddressProof{}, nil
}

// readersOf returns the homes whose owners may read a mail about a user in the outbox:
// those the user belongs to, and those that have invited its address or the user's present
// one. Without any it came by a mail server or the administrator.
func (tx *Tx) readersOf(m Mail) (readers []home.ID, err error) {
	belongs, err := tx.MembershipsOfUser(m.UserID)
	if err != nil {
		return nil, err
	}
	for _, b := range belongs {
		readers = append(readers, b.Home)
	}
	u, err := tx.User(m.UserID)
	if err != nil {
		return nil, err
	}
	all, err := tx.Homes()
	if err != nil {
		return nil, err
	}
	for _, h := range all {
		for _, address := range []string{m.Address, u.Email} {
			i, invited, err := tx.InvitationTo(h.ID, address)
			if err != nil {
				return nil, err
			}
			if invited && i.Open(tx.now.Stamp()) && !slices.Contains(readers, h.ID) {
				readers = append(readers, h.ID)
			}
		}
	}
	return readers, nil
}
