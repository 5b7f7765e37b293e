package sensor

import (
	"context"
	"time"

	"sensegate/motion"
)

// Provider is the third party (payloads.md 5.7). Its methods may be called concurrently and
// take at most a few seconds. If the third party cannot be reached they return an Unavailable
// fault with a time to retry after.
type Provider interface {
	// CreateAccount creates an account with the given name, or returns the existing one.
	CreateAccount(ctx context.Context, userThingName string) (Account, error)
	// DeleteAccount deletes an account with everything that belongs to it; a missing one is
	// no error.
	DeleteAccount(ctx context.Context, a Account) error
	// ListDevices returns all things of an account.
	ListDevices(ctx context.Context, a Account) ([]Found, error)
	// Pair lets new sensors join a hub for d from now; it replaces an earlier duration.
	Pair(ctx context.Context, a Account, hub string, d time.Duration) error
	// UpdateConfig reports a change of a thing to the third party.
	UpdateConfig(ctx context.Context, a Account, before, after Device) error
	// Remove removes a thing; a missing one is no error.
	Remove(ctx context.Context, a Account, d Device) error
	// Single reports whether the provider serves only one household, and of which network;
	// 0: of the only network with a household.
	Single() (only motion.NetworkID, single bool)
	// Run delivers readings to host until ctx ends.
	Run(ctx context.Context, host Host) error
}

// Bridged is a Provider whose third party connects to the appliance's own broker.
type Bridged interface {
	Provider
	// Topic returns the topic below which the third party speaks.
	Topic() string
}

// Idler is a Provider that may have nothing to serve with for now.
type Idler interface {
	Provider
	// Idle reports whether nothing is configured that would bring sensors.
	Idle() bool
}

// Host receives the readings of a provider. Its methods may be called concurrently.
type Host interface {
	// Accounts returns the accounts that are in use at the provider.
	Accounts(ctx context.Context) ([]Account, error)
	// Deliver processes a batch and stores what must be kept. After an error the provider
	// delivers the batch again, if it can.
	Deliver(ctx context.Context, b Batch) error
	// BadInput counts a message that could not be used.
	BadInput(reason string, message []byte)
	// Cursor returns the cursor of the last stored batch, or "".
	Cursor(ctx context.Context) (string, error)
}

// Batch is a group of readings of a provider.
type Batch struct {
	Readings []Reading // in time order for each thing
	Changed  []string  // user thing names of accounts whose list of things changed
	Cursor   string    // where the provider continues; "": it needs none
}

// Found is a thing that a provider lists.
type Found struct {
	Hub     string // thing name of its hub; "" for a hub
	Type    Type
	Name    string // its name at the provider, may be ""
	Reading Reading
}

// Reading is a report of a thing. Absent values are unchanged.
type Reading struct {
	Account      string // user thing name
	Thing        string
	TS           motion.Time // 0: now
	Online       *bool
	Status       string
	BatteryLevel *int     // percent
	Temperature  *float64 // °C
	Humidity     *float64 // percent
	Retained     bool     // it tells what was so before: it sets the state and is no detection
}

// HasValues reports whether the reading has values besides the online state.
func (r Reading) HasValues() bool {
	return r.Status != "" || r.BatteryLevel != nil || r.Temperature != nil || r.Humidity != nil
}
