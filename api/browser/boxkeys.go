package browser

import (
	"cmp"
	"context"

	"sensegate/api/auth"
	"sensegate/api/box"
	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

type boxNetwork struct {
	ID   motion.NetworkID `json:"id" example:"17"`
	Name string           `json:"name" doc:"Of its home, else of its guardian" example:"Home"`
}

// networks returns the networks of the appliance by name.
func (b *Browser) networks(ctx context.Context) (list []boxNetwork, err error) {
	list = []boxNetwork{}
	err = b.DB.View(ctx, func(tx *store.Tx) error {
		all, err := tx.Networks()
		if err != nil {
			return err
		}
		for _, n := range all {
			house, _, err := tx.HomeOfNetwork(n.ID)
			if err != nil {
				return err
			}
			list = append(list, boxNetwork{n.ID, cmp.Or(house.Name, n.GuardianID)})
		}
		return nil
	})
	return list, err
}

type boxKey struct {
	ID        uint32            `json:"id" example:"3"`
	Name      string            `json:"name" example:"homeassistant"`
	Scopes    []string          `json:"scopes" nullable:"false" doc:"core:read, core:write"`
	NetworkID *motion.NetworkID `json:"network_id" nullable:"true" doc:"null: all networks" example:"17"`
	CreatedAt motion.Time       `json:"created_at" example:"1764000060"`
	ExpiresAt *motion.Time      `json:"expires_at" nullable:"true" doc:"null: never" example:"1771776060"`
	LastUsed  *motion.Time      `json:"last_used" nullable:"true" doc:"null: never" example:"1764000960"`
}

type boxKeysOut struct {
	Body struct {
		Keys     []boxKey     `json:"keys" nullable:"false"`
		Networks []boxNetwork `json:"networks" nullable:"false" doc:"That a key can be bound to"`
		Core     string       `json:"core" doc:"Address of the Core interface on the appliance itself" example:"http://127.0.0.1:8080/core"`
	}
}

func (b *Browser) boxKeys(ctx context.Context, _ auth.Administrator, _ *struct{}) (*boxKeysOut, error) {
	keys, err := b.Box.Keys(ctx)
	if err != nil {
		return nil, err
	}
	out := &boxKeysOut{}
	out.Body.Keys, out.Body.Core = []boxKey{}, b.Box.CoreAddress()
	for _, k := range keys {
		shown := boxKey{ID: k.ID, Name: k.Name, Scopes: k.Scopes, CreatedAt: k.CreatedAt, ExpiresAt: knownTime(k.ExpiresAt), LastUsed: knownTime(k.LastUsed)}
		if k.NetworkID != 0 {
			shown.NetworkID = &k.NetworkID
		}
		out.Body.Keys = append(out.Body.Keys, shown)
	}
	out.Body.Networks, err = b.networks(ctx)
	return out, err
}

type newKeyIn struct {
	Body struct {
		Name        string            `json:"name" minLength:"1" maxLength:"100" example:"homeassistant"`
		Write       bool              `json:"write,omitempty" doc:"Whether it may change things too"`
		NetworkID   *motion.NetworkID `json:"network_id,omitempty" nullable:"true" minimum:"1" doc:"The network that it opens; null: the only one there is" example:"17"`
		AllNetworks bool              `json:"all_networks,omitempty" doc:"Whether it opens all, also those to come, instead"`
		Days        *int              `json:"days,omitempty" nullable:"true" minimum:"1" maximum:"3650" doc:"How long it is valid; null: for ever" example:"90"`
	}
}

type newKeyOut struct {
	Body struct {
		ID     uint32 `json:"id" example:"3"`
		Name   string `json:"name" example:"homeassistant"`
		Secret string `json:"secret" doc:"Is not shown again" example:"sg_3f9k2mzd"`
		Core   string `json:"core" doc:"Address of the Core interface on the appliance itself" example:"http://127.0.0.1:8080/core"`
	}
}

func (b *Browser) newKey(ctx context.Context, who auth.Administrator, in *newKeyIn) (*newKeyOut, error) {
	wanted := box.NewKey{Name: in.Body.Name, Scopes: []string{auth.ScopeRead}, AllNetworks: in.Body.AllNetworks}
	if in.Body.Write {
		wanted.Scopes = append(wanted.Scopes, auth.ScopeWrite)
	}
	if in.Body.NetworkID != nil {
		wanted.NetworkID = *in.Body.NetworkID
	}
	if in.Body.Days != nil {
		wanted.ExpiresIn = motion.Seconds(*in.Body.Days) * 86400
	}
	key, secret, err := b.Box.CreateKey(ctx, who.Actor, wanted)
	out := &newKeyOut{}
	out.Body.ID, out.Body.Name, out.Body.Secret, out.Body.Core = key.ID, key.Name, secret, b.Box.CoreAddress()
	return out, err
}

type keyPath struct {
	ID uint32 `path:"id" minimum:"1" doc:"Of the key" example:"3"`
}

func (b *Browser) revokeKey(ctx context.Context, who auth.Administrator, in *keyPath) (*struct{}, error) {
	return nil, b.Box.RevokeKey(ctx, who.Actor, in.ID)
}

type boxMQTTUser struct {
	Name        string      `json:"name" example:"homeassistant"`
	TopicPrefix string      `json:"topic_prefix" doc:"It may use the topics below" example:"homeassistant"`
	Entities    bool        `json:"home_assistant" doc:"It reads the entities of the box, and writes commands alone"`
	CreatedAt   motion.Time `json:"created_at" example:"1764000060"`
	NetworkID   *home.ID    `json:"network_id" nullable:"true" doc:"The home whose owner has made it, and with which it ends; null: an administrator has" example:"1"`
}

type boxMQTTUsersOut struct {
	Body struct {
		Users  []boxMQTTUser `json:"users" nullable:"false"`
		Broker string        `json:"broker" doc:"Address of the broker for other devices; empty: it listens nowhere" example:"mqtt://192.168.1.20:1883"`
	}
}

func (b *Browser) boxMQTTUsers(ctx context.Context, _ auth.Administrator, _ *struct{}) (*boxMQTTUsersOut, error) {
	users, err := b.Box.MQTTUsers(ctx)
	out := &boxMQTTUsersOut{}
	out.Body.Users, out.Body.Broker = []boxMQTTUser{}, b.Broker()
	for _, u := range users {
		shown := boxMQTTUser{Name: u.Name, TopicPrefix: u.TopicPrefix, Entities: u.Discovery != "", CreatedAt: u.CreatedAt}
		if u.Home != 0 {
			shown.NetworkID = &u.Home
		}
		out.Body.Users = append(out.Body.Users, shown)
	}
	return out, err
}

type newMQTTUserIn struct {
	Body struct {
		Name        string `json:"name" minLength:"1" maxLength:"64" example:"homeassistant"`
		TopicPrefix string `json:"topic_prefix,omitempty" maxLength:"256" doc:"It may use the topics below; empty: the name" example:"homeassistant"`
		Entities    bool   `json:"home_assistant,omitempty" doc:"true: a Home Assistant connects by it, which reads the entities of the box and writes commands, and nothing else; topic_prefix says nothing then"`
	}
}

type newMQTTUserOut struct {
	Body struct {
		Name        string `json:"name" example:"homeassistant"`
		TopicPrefix string `json:"topic_prefix" example:"homeassistant"`
		Secret      string `json:"secret" doc:"The password; is not shown again" example:"q3ZlY2hzIGRydW5rZW4gc2FpbG9ycw"`
		Broker      string `json:"broker" example:"mqtt://192.168.1.20:1883"`
	}
}

func (b *Browser) newMQTTUser(ctx context.Context, who auth.Administrator, in *newMQTTUserIn) (*newMQTTUserOut, error) {
	out := &newMQTTUserOut{}
	user, secret, err := store.IntegrationUser{}, "", error(nil)
	if in.Body.Entities {
		user, secret, err = b.Box.CreateHomeAssistantUser(ctx, who.Actor, in.Body.Name)
	} else {
		user, secret, err = b.Box.CreateMQTTUser(ctx, who.Actor, in.Body.Name, cmp.Or(in.Body.TopicPrefix, in.Body.Name))
	}
	out.Body.Name, out.Body.TopicPrefix, out.Body.Secret, out.Body.Broker = user.Name, user.TopicPrefix, secret, b.Broker()
	return out, err
}

type mqttUserPath struct {
	Name string `path:"name" maxLength:"64" doc:"Of the user" example:"homeassistant"`
}

func (b *Browser) removeMQTTUser(ctx context.Context, who auth.Administrator, in *mqttUserPath) (*struct{}, error) {
	if in.Name == "" {
		return nil, fault.New(fault.NotFound, "name: is empty")
	}
	return nil, b.Box.RemoveMQTTUser(ctx, who.Actor, in.Name)
}
