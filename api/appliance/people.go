package appliance

import (
	"context"
	"fmt"

	"sensegate/api/admin"
	"sensegate/api/app"
	"sensegate/api/auth"
	"sensegate/motion/household"
	"sensegate/store"
)

// assemblePeople makes the parts that know people: accounts, sessions, homes. What
// ends there is told to the HTTP server, so that live connections end too.
func (a *Appliance) assemblePeople() error {
	keys, err := auth.OpenKeyring(admin.SigningKeys(a.config.StateDir), a.engine.Now(), a.log)
	if err != nil {
		return err
	}
	sessions := auth.NewSessions(a.db, keys, a.recheck)
	accounts := auth.NewAccounts(a.db, sessions, auth.NewPasswords(a.config.Auth.Argon2), a.notify.Outbox.Mail)
	providers, err := auth.NewProviders(a.config.Auth.Providers, a.config.StateDir, accounts, a.log)
	if err != nil {
		return err
	}
	a.parts = app.Parts{
		DB: a.db, Engine: a.engine, Sessions: sessions, Accounts: accounts, Providers: providers,
		Household: household.New(a.db, a.engine, household.Options{Mail: a.notify.Outbox.Mail, Ended: a.recheck, Log: a.log}),
		Sensors:   a.sensors,
		Ready:     a.ready, LoadTestToken: a.config.Push.LoadTestToken,
	}
	return nil
}

// recheck looks again at what every live connection was opened with.
func (a *Appliance) recheck() {
	a.http.Recheck()
	if a.core != nil {
		a.core.Recheck()
	}
}

// SetupCode returns a new setup code while the appliance has no owner, "" when it has
// one.
func (a *Appliance) SetupCode(ctx context.Context) (string, error) {
	owned := false
	err := a.db.View(ctx, func(tx *store.Tx) error {
		homes, err := tx.Homes()
		for _, h := range homes {
			owned = owned || h.Claimed()
		}
		return err
	})
	if err != nil || owned {
		return "", err
	}
	code, err := auth.NewSetupCode(ctx, a.db)
	if err != nil {
		return "", fmt.Errorf("make setup code: %w", err)
	}
	return code, nil
}
