package provision

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"sensegate/api/auth"
	"sensegate/store"
)

// Actor is who is named in the audit log.
var Actor = store.Actor{Kind: store.ByTerminal, Name: "provision.yaml"}

// ErrUsed is returned where somebody has used the appliance before: this is not its first start.
var ErrUsed = errors.New("this appliance was used before: it is provisioned at its first start alone")

// Applier makes what a document asks for.
type Applier struct {
	DB       *store.DB
	Accounts *auth.Accounts
	StateDir string
}

// Apply makes all that a document asks for, which Validate has let pass, in one transaction; sum is the
// SHA-256 of the file that it stands in. New secrets are written to their files before it ends: a power cut then
// leaves files whose secrets open nothing, and the next start writes them anew. Where one thing cannot be
// made nothing is, and the error has a line for each. ErrUsed: nothing is made.
func (a Applier) Apply(ctx context.Context, d *Document, sum [32]byte) error {
	hashes := make([]string, len(d.Accounts))
	for i, account := range d.Accounts {
		hashes[i] = account.PasswordHash
		if hashes[i] != "" {
			continue
		}
		var err error
		if hashes[i], err = a.Accounts.Hash(ctx, account.Password); err != nil {
			return err
		}
	}
	return a.DB.Update(ctx, func(tx *store.Tx) error {
		if known, err := tx.Provisioned(); err != nil || known.At != 0 || !tx.Unused() {
			return errors.Join(err, ErrUsed)
		}
		var wrong []error
		var secrets []written
		keep := func(list string, i int, path, secret string) {
			if path != "" {
				secrets = append(secrets, written{Path: path, key: fmt.Sprintf("%s.%d.file", list, i), text: []byte(secret + "\n")})
			}
		}
		note := func(list string, i int, err error) {
			if err != nil {
				wrong = append(wrong, fmt.Errorf("%s.%d.%w", list, i, err))
			}
		}
		for i, wanted := range d.Accounts {
			note("accounts", i, account(tx, wanted, hashes[i]))
		}
		for i, k := range d.APIKeys {
			secret, err := key(tx, k)
			note("api_keys", i, err)
			keep("api_keys", i, k.File, secret)
		}
		for i, u := range d.MQTTUsers {
			secret, err := user(tx, u)
			note("mqtt_users", i, err)
			keep("mqtt_users", i, u.File, secret)
		}
		for i, u := range d.Uplinks {
			raw, err := json.Marshal(u)
			note("uplinks", i, errors.Join(err, tx.PutUplink(store.Uplink{Name: u.Name, Config: raw}), line(tx, "uplink_added", u.Name, "host", u.Host())))
		}
		if len(wrong) > 0 {
			return errors.Join(wrong...)
		}
		if err := write(a.StateDir, secrets); err != nil {
			return err
		}
		return tx.SetProvisioned(sum)
	})
}

// line notes in the audit log what was made; details are keys and their values.
func line(tx *store.Tx, action, about string, details ...string) error {
	l := store.AuditLine{Action: action, About: about, Who: Actor, Details: map[string]string{}}
	for i := 0; i < len(details); i += 2 {
		l.Details[details[i]] = details[i+1]
	}
	return tx.AddAuditLine(l)
}

func account(tx *store.Tx, wanted Account, hash string) error {
	u, err := auth.CreateIn(tx, auth.Registration{Email: wanted.Email, FirstName: wanted.FirstName, LastName: wanted.LastName}, hash)
	if err != nil {
		return err
	}
	if err := line(tx, "account_made", wanted.Email); err != nil || !wanted.Administrator {
		return err
	}
	return errors.Join(tx.SetAdministrator(u.ID, true), line(tx, "administrator_made", wanted.Email))
}

func key(tx *store.Tx, wanted APIKey) (secret string, err error) {
	k := store.APIKey{Name: wanted.Name, Scopes: []string{auth.ScopeRead}}
	if wanted.Write {
		k.Scopes = append(k.Scopes, auth.ScopeWrite)
	}
	made := line(tx, "key_made", k.Name, "scopes", strings.Join(k.Scopes, " "), "network", "all")
	if wanted.File == "" {
		_, err = tx.KeepAPIKey(k, wanted.sum())
	} else {
		_, secret, err = tx.CreateAPIKey(k)
	}
	return secret, errors.Join(err, made)
}

func user(tx *store.Tx, wanted MQTTUser) (secret string, err error) {
	u := wanted.record()
	made := line(tx, "mqtt_user_made", u.Name, "topics", u.TopicPrefix+"/#")
	if wanted.File == "" {
		_, err = tx.KeepIntegrationUser(u, wanted.sum())
	} else {
		_, secret, err = tx.CreateIntegrationUser(u)
	}
	return secret, errors.Join(err, made)
}
