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

// NewBridgeUser makes, on behalf of a home's owner, the MQTT user by which the bridge of its sensors
// connects to the appliance's broker, and returns it with its secret, which nothing shows again. It
// may use the bridge's topics and no others, and ends with the integration and with the ownership:
// a former owner knows the secret. With replace it takes the place of the user that the bridge has,
// whose session ends.
//
// NotFound: the home has no integration. Forbidden: by does not own the home. Conflict: the
// integration is not enabled, its provider has no bridge, or serves another household; with the
// code KnownUser: the bridge has a user and replace is false.
func (s *Service) NewBridgeUser(ctx context.Context, h home.ID, by home.UserID, replace bool) (user store.IntegrationUser, secret string, err error) {
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		topic, known, err := s.bridgeOf(tx, h)
		if err != nil {
			return err
		}
		// Asked for here too: the home may have been handed over since the caller looked.
		m, _, err := tx.MembershipOf(h, by)
		switch {
		case err != nil:
			return err
		case m.Role != home.OwnerRole:
			return fault.New(fault.Forbidden, "only the owner of the network may do this")
		case known != "" && !replace:
			return &fault.Error{Kind: fault.Conflict, Code: KnownUser, Message: "replace: the bridge has a user already; true makes another and ends that one"}
		}
		if known != "" {
			if err := s.engine.Devices.EndUser(tx, known); err != nil {
				return err
			}
		}
		user, secret, err = tx.CreateIntegrationUser(store.IntegrationUser{Name: topic, TopicPrefix: topic, Home: h})
		return err
	})
	if err != nil {
		return store.IntegrationUser{}, "", err
	}
	s.log.Info("bridge user made", "home", h, "user", user.Name)
	return user, secret, nil
}

// bridgeOf returns the topic of the bridge that serves a home, and the name of the user that has
// exactly that topic, "" for none.
func (s *Service) bridgeOf(tx *store.Tx, h home.ID) (topic, known string, err error) {
	i, ok, err := tx.IntegrationOf(h)
	switch {
	case err != nil:
		return "", "", err
	case !ok:
		return "", "", fault.New(fault.NotFound, "the home has no sensor integration: create it first")
	case !i.Enabled || i.Account.UserThingName == "":
		return "", "", fault.New(fault.Conflict, "the sensor integration is not enabled")
	}
	p, err := s.provider(i)
	if err != nil {
		return "", "", err
	}
	bridge, ok := p.(sensor.Bridged)
	if !ok {
		return "", "", fault.New(fault.Conflict, "provider: sensors of %s need no user here", i.Provider)
	}
	users, err := tx.IntegrationUsers()
	for _, u := range users {
		if u.TopicPrefix == bridge.Topic() {
			known = u.Name
		}
	}
	return bridge.Topic(), known, err
}
