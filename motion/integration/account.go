package integration

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/sensor"
	"sensegate/store"
)

// Create creates the integration of a home on behalf of a user. If enabled, it then has an
// account at the provider, the existing one or a new one, and works. If not enabled, an
// existing integration stays as it is and a new one has no account. provider "" is the default
// provider.
//
// Conflict: no provider is configured, the integration has an account at another provider, or
// the provider serves only one household and it is not clear that it is this one. Unavailable:
// the provider cannot be reached; nothing is created.
func (s *Service) Create(ctx context.Context, h home.ID, user home.UserID, enabled bool, provider string) (sensor.Integration, error) {
	if enabled {
		return s.enable(ctx, h, user, provider)
	}
	var made sensor.Integration
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		existing, ok, err := tx.IntegrationOf(h)
		if err != nil || ok {
			made = existing
			return err
		}
		made, err = s.blank(tx, h, user, provider)
		if err != nil {
			return err
		}
		made, err = tx.PutIntegration(made)
		return err
	})
	return made, err
}

// blank returns a new integration without an account.
func (s *Service) blank(tx *store.Tx, h home.ID, user home.UserID, provider string) (sensor.Integration, error) {
	name, err := s.choose(provider)
	if err != nil {
		return sensor.Integration{}, err
	}
	house, err := tx.Home(h)
	return sensor.Integration{Home: h, Network: house.ExternalID, User: user, Provider: name}, err
}

// enable creates an account for the integration of a home, if it has none, and enables it.
// Before the request to the provider it stores the account as a pending deletion, so that a
// crash or a lost answer leaves no orphaned account.
func (s *Service) enable(ctx context.Context, h home.ID, user home.UserID, provider string) (sensor.Integration, error) {
	account := sensor.Account{UserThingName: "USER_" + strings.ReplaceAll(uuid.NewString(), "-", "")}
	var i sensor.Integration
	err := s.db.Update(ctx, func(tx *store.Tx) (err error) {
		if i, err = s.prepare(tx, h, user, provider); err != nil || i.Account.UserThingName != "" {
			return err
		}
		return tx.PutPendingDeletion(sensor.PendingDeletion{Provider: i.Provider, Account: account, Due: tx.Now().Add(sensor.Unfinished)})
	})
	if err != nil {
		return i, err
	}
	if i.Account.UserThingName == "" {
		p, err := s.provider(i)
		if err != nil {
			return i, err
		}
		if account, err = p.CreateAccount(ctx, account.UserThingName); err != nil {
			return i, err
		}
	}
	err = s.db.Update(ctx, func(tx *store.Tx) (err error) {
		if i, err = s.prepare(tx, h, user, i.Provider); err != nil {
			return err
		}
		if i.Account.UserThingName == "" {
			i.Account = account
			if err := tx.DeletePendingDeletion(account.UserThingName); err != nil {
				return err
			}
		}
		i.Enabled = true
		i, err = tx.PutIntegration(i)
		return err
	})
	if err != nil {
		return i, err
	}
	s.log.Info("sensor integration enabled", "home", h, "provider", i.Provider)
	s.refresh(ctx, i)
	return i, nil
}

// prepare returns the integration of a home, or a new one, if a provider can be enabled for it.
func (s *Service) prepare(tx *store.Tx, h home.ID, user home.UserID, provider string) (sensor.Integration, error) {
	i, ok, err := tx.IntegrationOf(h)
	if err != nil {
		return i, err
	}
	if ok && provider == "" {
		provider = i.Provider
	}
	fresh, err := s.blank(tx, h, user, provider)
	switch {
	case err != nil:
		return i, err
	case !ok:
		i = fresh
	case i.Account.UserThingName == "":
		i.Provider = fresh.Provider
	case i.Provider != fresh.Provider:
		return i, fault.New(fault.Conflict, "provider: the integration belongs to %s; delete it first", i.Provider)
	}
	return i, s.single(tx, i)
}

// single returns a Conflict fault if the provider of an integration serves only one household
// and not this one: the administrator has named another, another has an account, or nobody has
// named one of several. It takes the account from a household that the administrator has not
// named, and ends the MQTT user of its owner.
func (s *Service) single(tx *store.Tx, i sensor.Integration) error {
	p, err := s.provider(i)
	if err != nil {
		return err
	}
	only, single := p.Single()
	if !single {
		return nil
	}
	all, err := tx.Integrations()
	if err != nil {
		return err
	}
	for _, other := range all {
		switch {
		case other.Provider != i.Provider || other.Home == i.Home || other.Account.UserThingName == "":
		case only == 0:
			return servesAnother(i)
		default:
			other.Account, other.Enabled = sensor.Account{}, false
			if _, err := tx.PutIntegration(other); err != nil {
				return err
			}
			if err := s.engine.Devices.EndUsersOf(tx, other.Home); err != nil {
				return err
			}
		}
	}
	if only != 0 || i.Account.UserThingName != "" {
		return nil
	}
	return onlyHousehold(tx, i)
}

// onlyHousehold returns a Conflict fault if a home other than the integration's has or had an
// owner: a provider that serves one household must not go to the first home that asks.
func onlyHousehold(tx *store.Tx, i sensor.Integration) error {
	homes, err := tx.Homes()
	if slices.ContainsFunc(homes, func(h home.Home) bool { return h.ID != i.Home && h.OwnedBefore }) {
		return fault.New(fault.Conflict,
			"provider: %[1]s serves one network, and others here have had an owner: the administrator names the one in the configuration (sensors.%[1]s.network, or networks of the uplink)", i.Provider)
	}
	return err
}

// Change changes an integration; see sensor.Integration.Apply. It creates an account when the
// integration is first enabled, as Create does.
func (s *Service) Change(ctx context.Context, h home.ID, e sensor.Edit) (sensor.Integration, error) {
	i, err := s.Integration(ctx, h)
	if err != nil {
		return i, err
	}
	if _, err := i.Apply(e); err != nil {
		return i, err
	}
	if e.Enabled != nil && *e.Enabled {
		if i, err = s.enable(ctx, h, i.User, ""); err != nil || e.OOBPhase == nil {
			return i, err
		}
	}
	err = s.db.Update(ctx, func(tx *store.Tx) (err error) {
		if i, err = integrationOf(tx, h); err != nil {
			return err
		}
		if i, err = i.Apply(e); err != nil {
			return err
		}
		i, err = tx.PutIntegration(i)
		return err
	})
	return i, err
}

// Delete deletes the integration of a home with its devices and their detections and raises
// IntegrationDeletedEvent. The MQTT user that its owner has made for the bridge ends with it. It does not wait for the provider: the account there is deleted as
// soon as the provider can be reached.
func (s *Service) Delete(ctx context.Context, h home.ID) error {
	err := s.engine.Events.RecordChange(ctx, func(tx *store.Tx) ([]motion.Event, error) {
		i, err := integrationOf(tx, h)
		if err != nil {
			return nil, err
		}
		if err := cmp.Or(tx.DeleteIntegration(h), s.engine.Devices.EndUsersOf(tx, h)); err != nil {
			return nil, err
		}
		deleted, err := event(tx, i.Network, motion.IntegrationDeletedEvent, motion.Document{"userThingName": i.Account.UserThingName})
		return []motion.Event{deleted}, err
	})
	if err != nil {
		return err
	}
	s.forget(func(k key) bool { return k.home == h })
	s.log.Info("sensor integration deleted", "home", h)
	select {
	case s.leaving <- struct{}{}:
	default:
	}
	return nil
}

// forget drops the state of things from memory.
func (s *Service) forget(which func(key) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k := range s.live {
		if which(k) {
			delete(s.live, k)
		}
	}
}
