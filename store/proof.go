package store

import (
	"strings"

	"sensegate/motion/home"
)

// AddressProof is what is known of how a user came by their confirmed address. The zero
// proof is nothing.
type AddressProof struct {
	Vouched bool      `json:"vouched,omitempty"` // by a mail that a mail server took, by the administrator, by the setup code or by an identity provider
	By      []home.ID `json:"by,omitempty"`      // otherwise: the homes whose owners alone could hand over the mail that did
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
	return users.change(tx, id, func(r *userRecord) { r.Proof = p })
}

// ProofOf returns what following the link with the token, of a mail that confirms the
// address of a user, proves: nothing when the mail is gone, or when others than its
// addressee may have read it at any time since it was written.
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
		by, err := tx.awaitedBy(m)
		return AddressProof{By: by}, err
	}
	return AddressProof{}, nil
}

// awaitedBy returns the homes whose invitations to the address of a mail have been open
// since before the mail was written. No outbox but that of their owners has shown it
// meanwhile (notify.Visible). An invitation of the same millisecond may be later.
func (tx *Tx) awaitedBy(m Mail) (awaiting []home.ID, err error) {
	all, err := tx.Homes()
	if err != nil {
		return nil, err
	}
	for _, h := range all {
		i, invited, err := tx.InvitationTo(h.ID, m.Address)
		if err != nil {
			return nil, err
		}
		if invited && i.Open(tx.now.Stamp()) && i.CreatedAt < m.CreatedAt {
			awaiting = append(awaiting, h.ID)
		}
	}
	return awaiting, nil
}
