package store

import (
	"strings"

	"sensegate/motion"
	"sensegate/motion/home"
)

// AddressProof is what is known of how a user came by their confirmed address.
type AddressProof struct {
	Vouched bool         `json:"vouched,omitempty"` // the confirmation went out as a mail, or an identity provider or the administrator knows that it is theirs
	Mailed  motion.Stamp `json:"mailed,omitempty"`  // when the mail was written that confirmed it, sent or handed over; 0: none did
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
		if strings.HasSuffix(m.Link, "="+token) {
			return AddressProof{Vouched: m.SentAt != 0 && m.Entrusted(), Mailed: m.CreatedAt}, nil
		}
	}
	return AddressProof{}, nil
}
