package auth

import (
	"context"

	"github.com/google/uuid"

	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/notify"
	"sensegate/store"
)

// codeTaken is the code of the answer to a person whose address has an account that has not
// proven the address.
const codeTaken = "address_taken"

// Login begins a session for the person in a provider's token. At their first log-in their
// account is the one with their address, if the provider has verified the address and the
// account has proven it; without one an account is made. Of c it uses Multi, From, and the
// names where account and token have none.
//
// NotFound: no such provider. Unauthorized: the token is not valid. Invalid: it names no
// address. Forbidden: the provider has not verified the address, so it has to be confirmed
// first. Conflict: the address has an account that has not proven it.
func (p *Providers) Login(ctx context.Context, name, token string, c Credentials) (Tokens, error) {
	b, err := p.read(ctx, name, token)
	if err != nil {
		return Tokens{}, err
	}
	if !b.verified {
		if err := p.accounts.admitRequest(c.From); err != nil {
			return Tokens{}, err
		}
	}
	var g grant
	var refused error // the transaction commits its mail
	err = p.db.Update(ctx, func(tx *store.Tx) error {
		u, known, err := tx.UserByIdentity(b.identity)
		if err != nil {
			return err
		}
		if !known {
			if u, refused, err = p.register(tx, b); err != nil || refused != nil {
				return err
			}
		}
		if err := confirmVerified(tx, u, b); err != nil {
			return err
		}
		c.FirstName, c.LastName = first(b.first, c.FirstName), first(b.last, c.LastName)
		g, err = p.accounts.startSession(tx, u.ID, c)
		return err
	})
	switch {
	case err != nil:
		return Tokens{}, err
	case refused != nil:
		return Tokens{}, refused
	}
	return p.sessions.tokens(g)
}

// first returns the first text that is not empty, cut to the length of a name.
func first(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			runes := []rune(text)
			return string(runes[:min(len(runes), home.MaxName)])
		}
	}
	return ""
}

// register makes the account of a person at their first log-in. refused is the answer to a
// person who has to do something first.
func (p *Providers) register(tx *store.Tx, b bearer) (u home.User, refused, err error) {
	if home.CheckEmail(b.email) != nil {
		return u, nil, fault.New(fault.Invalid, "access_token: names no e-mail address; ask the provider for it (scope email)")
	}
	holder, taken, err := p.accounts.holderOf(tx, b.email)
	if err != nil {
		return u, nil, err
	}
	if taken && b.verified {
		return p.adopt(tx, b, holder)
	}
	if taken {
		err = p.accounts.mail(tx, notify.Mail{Kind: notify.KnownAddress, To: holder.Email, User: holder.ID})
		return u, refusedUnconfirmed(), err
	}
	if u, err = p.create(tx, b); err != nil || b.verified {
		return u, nil, err
	}
	return u, refusedUnconfirmed(), p.accounts.mailConfirmation(tx, u, u.Email)
}

// adopt returns the account with the verified address of a person, and links it with the
// provider. An account whose address was never confirmed, or by a link that an owner could
// read in the outbox, may be a stranger's, who registered first: the person does not get it
// (payloads.md 6 no. 7).
func (p *Providers) adopt(tx *store.Tx, b bearer, holder home.User) (u home.User, refused, err error) {
	proof, err := tx.AddressProof(holder.ID)
	if err != nil {
		return u, nil, err
	}
	if !holder.Confirmed() || !proof.Vouched {
		return u, &fault.Error{
			Kind: fault.Conflict, Code: codeTaken,
			Message: "access_token: its e-mail address has an account that has not proven it; confirm the account, log in with its password once, and link the provider with POST /users/{id}/identities",
		}, nil
	}
	return holder, nil, p.tie(tx, holder, b.identity)
}

// create stores a new account for a provider's person.
func (p *Providers) create(tx *store.Tx, b bearer) (home.User, error) {
	u, err := tx.CreateUser(home.User{
		Username: home.LocalPart(b.email), Email: b.email, Sub: uuid.NewString(), ValidFrom: tx.Now().Second(),
	})
	if err != nil {
		return u, err
	}
	return u, tx.AddIdentity(u.ID, b.identity)
}

// confirmVerified confirms an account whose address the provider vouches for.
func confirmVerified(tx *store.Tx, u home.User, b bearer) error {
	if u.Confirmed() || !b.verified || home.EmailKey(u.Email) != home.EmailKey(b.email) {
		return nil
	}
	now := tx.Now().Stamp()
	u.ConfirmedAt, u.UpdatedAt = &now, now
	if err := tx.PutUser(u); err != nil {
		return err
	}
	return tx.SetAddressProof(u.ID, vouched())
}
