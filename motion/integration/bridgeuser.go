package integration

import (
	"context"

	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/sensor"
	"sensegate/store"
)

// KnownUser is the code of a refusal: the bridge has a user already.
const KnownUser = "bridge_user"

// NewBridgeUser makes the MQTT user by which the bridge of a home's sensors connects to the
// appliance's broker, and returns it with its secret, which nothing shows again. It may use the
// bridge's topics and no others. With replace it takes the place of the user that the bridge has,
// whose session ends.
//
// NotFound: the home has no integration. Conflict: it is not enabled, its provider has no bridge, or
// serves another household; with the code KnownUser: the bridge has a user and replace is false.
func (s *Service) NewBridgeUser(ctx context.Context, h home.ID, replace bool) (store.IntegrationUser, string, error) {
	topic, known, err := s.bridgeOf(ctx, h)
	if err != nil {
		return store.IntegrationUser{}, "", err
	}
	if known != "" {
		if !replace {
			return store.IntegrationUser{}, "", &fault.Error{Kind: fault.Conflict, Code: KnownUser, Message: "replace: the bridge has a user already; true makes another and ends that one"}
		}
		if err := s.engine.Devices.RemoveUser(ctx, known); err != nil && fault.KindOf(err) != fault.NotFound {
			return store.IntegrationUser{}, "", err
		}
	}
	var user store.IntegrationUser
	var secret string
	err = s.db.Update(ctx, func(tx *store.Tx) (err error) {
		user, secret, err = tx.CreateIntegrationUser(store.IntegrationUser{Name: topic, TopicPrefix: topic})
		return err
	})
	if err == nil {
		s.log.Info("bridge user made", "home", h, "user", user.Name)
	}
	return user, secret, err
}

// bridgeOf returns the topic of the bridge that serves a home, and the name of the user that has
// exactly that topic, "" for none.
func (s *Service) bridgeOf(ctx context.Context, h home.ID) (topic, known string, err error) {
	err = s.db.View(ctx, func(tx *store.Tx) error {
		i, ok, err := tx.IntegrationOf(h)
		switch {
		case err != nil:
			return err
		case !ok:
			return fault.New(fault.NotFound, "the home has no sensor integration: create it first")
		case !i.Enabled || i.Account.UserThingName == "":
			return fault.New(fault.Conflict, "the sensor integration is not enabled")
		}
		p, err := s.provider(i)
		if err != nil {
			return err
		}
		bridge, ok := p.(sensor.Bridged)
		if !ok {
			return fault.New(fault.Conflict, "provider: sensors of %s need no user here", i.Provider)
		}
		topic = bridge.Topic()
		users, err := tx.IntegrationUsers()
		for _, u := range users {
			if u.TopicPrefix == topic {
				known = u.Name
			}
		}
		return err
	})
	return topic, known, err
}
