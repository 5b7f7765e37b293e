package box

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store"
)

// NewKey says what a new API key is to open.
type NewKey struct {
	Name        string
	Scopes      []string
	NetworkID   motion.NetworkID // 0: the only one there is
	AllNetworks bool             // instead
	ExpiresIn   motion.Seconds   // 0: never
}

// Keys returns all API keys.
func (b *Box) Keys(ctx context.Context) ([]store.APIKey, error) {
	return store.Read(ctx, b.DB, (*store.Tx).APIKeys)
}

// CoreAddress returns the address of the Core interface, "" when the appliance does not run.
func (b *Box) CoreAddress() string {
	if b.Core == nil {
		return ""
	}
	return b.Core()
}

// CreateKey makes an API key and returns it with its secret, which nothing shows again. Conflict:
// the name is taken. Invalid: an unknown scope, or no single network is meant.
func (b *Box) CreateKey(ctx context.Context, by store.Actor, k NewKey) (key store.APIKey, secret string, err error) {
	for _, scope := range k.Scopes {
		if !slices.Contains(auth.Scopes(), scope) {
			return key, "", fault.New(fault.Invalid, "scope %q: want %s", scope, strings.Join(auth.Scopes(), " or "))
		}
	}
	err = b.change(ctx, by, "key_made", k.Name, func(ctx context.Context, note *store.AuditNote) error {
		return b.DB.Update(ctx, func(tx *store.Tx) (err error) {
			wanted := store.APIKey{Name: k.Name, Scopes: k.Scopes}
			if k.ExpiresIn > 0 {
				wanted.ExpiresAt = tx.Now().Add(k.ExpiresIn)
			}
			if wanted.NetworkID, err = networkOfKey(tx, k); err != nil {
				return err
			}
			key, secret, err = tx.CreateAPIKey(wanted)
			note.Add("scopes", strings.Join(k.Scopes, " "))
			note.Add("network", networkWord(key.NetworkID))
			return err
		})
	})
	if fault.KindOf(err) == fault.Conflict {
		err = fault.New(fault.Conflict, "there is a key named %q already: choose another name, or revoke it", k.Name)
	}
	return key, secret, err
}

// networkWord names the network of a key or a window in the audit log.
func networkWord(id motion.NetworkID) string {
	if id == 0 {
		return "all"
	}
	return fmt.Sprint(id)
}

// networkOfKey returns the network that a new key is bound to, 0 when it opens all, as every
// key does that is made before the first network.
func networkOfKey(tx *store.Tx, k NewKey) (motion.NetworkID, error) {
	if k.AllNetworks && k.NetworkID != 0 {
		return 0, fault.New(fault.Invalid, "name one network, or all of them, not both")
	}
	if k.AllNetworks {
		return 0, nil
	}
	if k.NetworkID != 0 {
		_, err := tx.Network(k.NetworkID)
		return k.NetworkID, err
	}
	all, err := tx.Networks()
	switch {
	case err != nil || len(all) == 0:
		return 0, err
	case len(all) > 1:
		return 0, fault.New(fault.Invalid, "there are %d networks: add -network ID for the one that the key is to open, or -all-networks", len(all))
	}
	return all[0].ID, nil
}

// RevokeKey revokes an API key and ends the connections that were opened with it. NotFound: there is
// none.
func (b *Box) RevokeKey(ctx context.Context, by store.Actor, id uint32) error {
	err := b.change(ctx, by, "key_revoked", "", func(ctx context.Context, note *store.AuditNote) error {
		return b.DB.Update(ctx, func(tx *store.Tx) error {
			keys, err := tx.APIKeys()
			if err != nil {
				return err
			}
			for _, k := range keys {
				if k.ID == id {
					note.About(k.Name)
				}
			}
			return tx.RevokeAPIKey(id)
		})
	})
	if err == nil && b.Revoked != nil {
		b.Revoked()
	}
	return err
}

// MQTTUsers returns the MQTT users that are no devices.
func (b *Box) MQTTUsers(ctx context.Context) ([]store.IntegrationUser, error) {
	return store.Read(ctx, b.DB, (*store.Tx).IntegrationUsers)
}

// CreateMQTTUser makes an MQTT user that may use the topics below a prefix, and returns it with its
// secret, which nothing shows again. Conflict: the name is taken, or topics below the prefix are another
// user's, or those of the entities of the appliance. Invalid: the name or the prefix is none.
func (b *Box) CreateMQTTUser(ctx context.Context, by store.Actor, name, prefix string) (user store.IntegrationUser, secret string, err error) {
	err = b.change(ctx, by, "mqtt_user_made", name, func(ctx context.Context, note *store.AuditNote) error {
		note.Add("topics", prefix+"/#")
		return b.DB.Update(ctx, func(tx *store.Tx) (err error) {
			if user, secret, err = tx.CreateIntegrationUser(store.IntegrationUser{Name: name, TopicPrefix: prefix}); err != nil || b.Uplinks == nil {
				return err
			}
			for _, u := range b.Uplinks.List() {
				topics := u.Config.Shows(u.Base)
				if u.Config.Own() && err == nil && user.SharesTopics(topics) {
					err = fault.New(fault.Conflict, "prefix: %.80q shares topics with those of uplink %.80q, %q and %q: choose another", prefix, u.Config.Name, topics.Prefix, topics.Discovery)
				}
			}
			return err
		})
	})
	return user, secret, err
}

// CreateHomeAssistantUser makes an MQTT user by which a Home Assistant connects: it reads the entities
// of the appliance and writes commands, and nothing else. Its faults are those of CreateMQTTUser.
func (b *Box) CreateHomeAssistantUser(ctx context.Context, by store.Actor, name string) (user store.IntegrationUser, secret string, err error) {
	if b.Entities == nil {
		return user, "", fault.New(fault.Unavailable, "the appliance does not run")
	}
	topics := b.Entities()
	err = b.change(ctx, by, "mqtt_user_made", name, func(ctx context.Context, note *store.AuditNote) error {
		note.Add("topics", topics.Discovery+"/#, "+topics.Prefix+"/#")
		return b.DB.Update(ctx, func(tx *store.Tx) (err error) {
			user, secret, err = tx.CreateIntegrationUser(store.IntegrationUser{Name: name, TopicPrefix: topics.Prefix, Discovery: topics.Discovery})
			return err
		})
	})
	return user, secret, err
}

// RemoveMQTTUser removes an MQTT user and ends its sessions. NotFound: there is none.
func (b *Box) RemoveMQTTUser(ctx context.Context, by store.Actor, name string) error {
	return b.change(ctx, by, "mqtt_user_removed", name, func(ctx context.Context, _ *store.AuditNote) error {
		return b.Engine.Devices.RemoveUser(ctx, name)
	})
}
