package integration

import (
	"context"

	"sensegate/motion/fault"
	"sensegate/motion/sensor"
	"sensegate/store"
)

// maxTries is the number of tries to delete an account: for about a month.
const maxTries = 128

// deleteDueAccounts deletes the accounts that are due at their providers.
func (s *Service) deleteDueAccounts(ctx context.Context) error {
	var due []sensor.PendingDeletion
	err := s.db.View(ctx, func(tx *store.Tx) error {
		all, err := tx.PendingDeletions()
		for _, f := range all {
			if f.Due <= tx.Now() {
				due = append(due, f)
			}
		}
		return err
	})
	for _, f := range due {
		if err != nil || ctx.Err() != nil {
			break
		}
		err = s.deleteDueAccount(ctx, f)
	}
	return err
}

func (s *Service) deleteDueAccount(ctx context.Context, f sensor.PendingDeletion) error {
	err := s.deleteAccount(ctx, f)
	if err != nil {
		s.log.Warn("sensor account not deleted, will retry", "provider", f.Provider, "tries", f.Tries+1, "err", err)
	}
	return s.db.Update(ctx, func(tx *store.Tx) error {
		if err == nil || f.Tries >= maxTries {
			return tx.DeletePendingDeletion(f.Account.UserThingName)
		}
		return tx.PutPendingDeletion(f.Later(tx.Now()))
	})
}

// deleteAccount deletes an account at its provider, unless an integration uses it.
func (s *Service) deleteAccount(ctx context.Context, f sensor.PendingDeletion) error {
	inUse, err := store.Read(ctx, s.db, func(tx *store.Tx) (bool, error) {
		_, inUse, err := tx.IntegrationByAccount(f.Account.UserThingName)
		return inUse, err
	})
	if err != nil || inUse {
		return err
	}
	p := s.options.Providers[f.Provider]
	if p == nil {
		return fault.New(fault.Unavailable, "the provider is not configured")
	}
	return p.DeleteAccount(ctx, f.Account)
}
