package app

import (
	"context"

	"sensegate/api/auth"
)

// stepUp returns nil when the caller may change what matters to the account or the
// household: currentPassword is theirs, or it is "" and they have logged in at most ten
// minutes ago. Otherwise it is a Forbidden fault with the code step_up or wrong_password
// (payloads.md 6 no. 18).
func (a *App) stepUp(ctx context.Context, u auth.User, currentPassword string) error {
	return a.Accounts.StepUp(ctx, u, currentPassword)
}

// StepUpBody is the body of an operation that needs none but a proof of who calls. What
// else it holds is ignored, as existing clients send a body or none.
type StepUpBody struct {
	Body *struct {
		_               struct{} `additionalProperties:"true"`
		CurrentPassword string   `json:"current_password,omitempty" maxLength:"512" doc:"The caller's password: needed when the log-in is more than ten minutes ago" example:"correct horse battery"`
	}
}

// current returns the password that the body shows, "" when it shows none.
func (b StepUpBody) current() string {
	if b.Body == nil {
		return ""
	}
	return b.Body.CurrentPassword
}
