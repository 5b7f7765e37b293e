package sensor

import (
	"context"
	"time"

	"sensegate/motion"
)

// Provider is the third-party side (payloads.md 5.7). Its methods may be called
// concurrently, each takes a few seconds at most, and they return a fault of kind
// Unavailable, with a time to try again after, when the third party cannot be
// reached.
type Provider interface {
	// CreateAccount makes an account of the given name and returns it. Making one that
	// exists already returns that one.
	CreateAccount(ctx context.Context, userThingName string) (Account, error)
	// DeleteAccount deletes an account with whatever is tied to it; one that does not
	// exist is no error.
	DeleteAccount(ctx context.Context, a Account) error
	// ListDevices returns every thing of an account.
	ListDevices(ctx context.Context, a Account) ([]Found, error)
	// Pair lets new sensors join a hub for that long from now, whether it was longer
	// or shorter before.
	Pair(ctx context.Context, a Account, hub string, d time.Duration) error
	// UpdateConfig tells of what was changed of a thing: before and after.
	UpdateConfig(ctx context.Context, a Account, before, after Device) error
	// Remove removes a thing; one that is gone already is no error.
	Remove(ctx context.Context, a Account, d Device) error
	// Single reports whether the provider serves one household only, and that of which
	// network; 0: of whichever network is the only one with a household.
	Single() (only motion.NetworkID, single bool)
	// Run delivers what things tell to host until ctx ends.
	Run(ctx context.Context, host Host) error
}

// Host is whom a provider delivers to. Its methods may be called concurrently.
type Host interface {
	// Accounts returns the accounts that are in use at the provider.
	Accounts(ctx context.Context) ([]Account, error)
	// Deliver takes what things have told, durably where it is to be kept. After an
	// error the provider delivers the batch again, if it can.
	Deliver(ctx context.Context, b Batch) error
	// BadInput counts a message that could not be used.
	BadInput(reason string, message []byte)
	// Cursor returns that of the last batch that is sure to be kept, "" at first.
	Cursor(ctx context.Context) (string, error)
}

// Batch is what a provider has heard.
type Batch struct {
	Readings []Reading // in order of time for each thing
	Changed  []string  // user thing names of accounts whose list of things has changed
	Cursor   string    // from where the provider goes on; "": it needs none
}

// Found is a thing that a provider lists.
type Found struct {
	Hub     string // thing name of its hub; "" for a hub
	Type    Type
	Name    string // what people call it at the provider, may be ""
	Reading Reading
}

// Reading is what a thing tells. What it does not mention is as before.
type Reading struct {
	Account      string // user thing name
	Thing        string
	TS           motion.Time // 0: now
	Online       *bool
	Status       string
	BatteryLevel *int     // percent
	Temperature  *float64 // °C
	Humidity     *float64 // percent
}

// HasValues reports whether the reading says more than whether the thing is online.
func (r Reading) HasValues() bool {
	return r.Status != "" || r.BatteryLevel != nil || r.Temperature != nil || r.Humidity != nil
}
