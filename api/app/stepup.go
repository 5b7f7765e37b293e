package app

// StepUpBody is the body of an operation that needs none but a proof of who calls
// (payloads.md 6 no. 18). What else it holds is ignored, as existing clients send a body or
// none.
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
