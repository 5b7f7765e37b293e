package app

import (
	"context"

	"sensegate/api/auth"
)

// stepUp returns nil when the caller may change what matters to the account or the
// household: currentPassword is theirs, or it is "" and they have logged in at most ten
// minutes ago. Otherwise it is a Forbidden fault with the code step_up or wrong_password
// (payloads.md section 6 no. 18).
func (a *App) stepUp(ctx context.Context, u auth.User, currentPassword string) error {
	return a.Accounts.StepUp(ctx, u, currentPassword)
}
