package auth

import (
	"context"
	"slices"
	"strconv"

	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/notify"
	"sensegate/store"
)

// maxIdentities bounds the accounts at identity providers that are linked with one user.
const maxIdentities = 8

// LinkedIdentity is an account at an identity provider with which a user logs in.
type LinkedIdentity struct {
	ID       string  `json:"id" doc:"Names it in the path" example:"7d1f0c6a4b9e2d835f60c1a7b8e94d20"`
	Provider *string `json:"provider" nullable:"true" doc:"Name of the identity provider; null: it is not configured any more" example:"idp_a"`
	Issuer   string  `json:"issuer" doc:"The provider's address" example:"https://id.example.com"`
}

// Linked returns the accounts at identity providers that are linked with a user.
func (p *Providers) Linked(ctx context.Context, id home.UserID) ([]LinkedIdentity, error) {
	return store.Read(ctx, p.db, func(tx *store.Tx) ([]LinkedIdentity, error) { return p.linked(tx, id) })
}

func (p *Providers) linked(tx *store.Tx, id home.UserID) ([]LinkedIdentity, error) {
	all, err := tx.Identities(id)
	list := make([]LinkedIdentity, len(all))
	for i, identity := range all {
		list[i] = LinkedIdentity{ID: identity.ID(), Issuer: identity.Issuer}
		for name, provider := range p.by {
			if provider.issuer == identity.Issuer {
				list[i].Provider = &name
			}
		}
	}
	return list, err
}

// Link links the account that a provider's token names with a user, who has proven who they
// are, and returns all accounts linked with them. Conflict with the code identity_taken: it is
// linked with another user. The other errors are those of Login.
func (p *Providers) Link(ctx context.Context, who User, name, token string) (list []LinkedIdentity, err error) {
	b, err := p.read(ctx, name, token)
	if err != nil {
		return nil, err
	}
	if _, wait := p.accounts.moves.take(strconv.FormatInt(int64(who.ID), 10)); wait > 0 {
		return nil, tooManyMails(wait)
	}
	err = p.db.Update(ctx, func(tx *store.Tx) error {
		u, err := tx.User(who.ID)
		if err != nil {
			return err
		}
		holder, known, err := tx.UserByIdentity(b.identity)
		switch {
		case err != nil:
			return err
		case known && holder.ID != u.ID:
			return &fault.Error{Kind: fault.Conflict, Code: "identity_taken", Message: "access_token: another account is linked with this one of the provider; unlink it there first"}
		case !known:
			if err := p.tie(tx, u, b.identity); err != nil {
				return err
			}
		}
		list, err = p.linked(tx, u.ID)
		return err
	})
	return list, err
}

// tie links an account at a provider, which is linked with nobody, with a user, and mails
// them.
func (p *Providers) tie(tx *store.Tx, u home.User, identity store.Identity) error {
	all, err := tx.Identities(u.ID)
	if err != nil {
		return err
	}
	if len(all) >= maxIdentities {
		return fault.New(fault.Conflict, "identities: at most %d; unlink one first", maxIdentities)
	}
	if err := tx.AddIdentity(u.ID, identity); err != nil {
		return err
	}
	return p.accounts.notice(tx, notify.IdentityLinked, u)
}

// Unlink removes the link of an account at a provider with a user, who has proven who they
// are, and ends their other sessions: whoever has that account may have logged in with it.
// NotFound: no linked account has the id. Conflict with the code last_login: without it the
// user could not log in any more.
func (p *Providers) Unlink(ctx context.Context, who User, id string) error {
	return p.db.Update(ctx, func(tx *store.Tx) error {
		all, err := tx.Identities(who.ID)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(all, func(i store.Identity) bool { return i.ID() == id })
		if at < 0 {
			return fault.New(fault.NotFound, "identity %.32q is not known", id)
		}
		password, err := tx.Password(who.ID)
		if err != nil {
			return err
		}
		if password == "" && len(all) == 1 {
			return &fault.Error{Kind: fault.Conflict, Code: "last_login", Message: "identity: is the only way to log in; POST /password_resets sets a password, and unlinks it"}
		}
		if err := tx.RemoveIdentity(who.ID, all[at]); err != nil {
			return err
		}
		return p.accounts.sessions.endOthers(tx, who.ID, who.Session)
	})
}
