package sensor

import (
	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
)

// ID identifies an integration. Ids are positive and fit 32 bits.
type ID uint32

// Account is the account of one household at a provider.
type Account struct {
	UserThingName string `json:"user_thing_name"` // "": none yet
}

// Integration is the household's side of a third-party account (payloads.md 5.7). A home has
// at most one.
type Integration struct {
	ID        ID               `json:"id"`
	Home      home.ID          `json:"network_id"`
	Network   motion.NetworkID `json:"external_id"`
	User      home.UserID      `json:"user_id"` // who created it
	Provider  string           `json:"provider"`
	Account   Account          `json:"account"`
	Enabled   bool             `json:"integrations_enabled"`
	OOBPhase  string           `json:"oob_phase"`         // of the out-of-band set-up of a hub, as reported by the app
	Dropped   []string         `json:"dropped,omitempty"` // things that were removed here but that the provider still lists
	CreatedAt motion.Stamp     `json:"created_at"`
	UpdatedAt motion.Stamp     `json:"updated_at"`
}

// Edit changes an integration; nil fields stay.
type Edit struct {
	Enabled  *bool
	OOBPhase *string
}

// MaxOOBPhase is the greatest length of oob_phase, in characters.
const MaxOOBPhase = 64

// Apply returns the integration after the edit. A new phase of the out-of-band set-up makes
// removed things reappear: by that set-up a hub that was reset gets its account again
// (interfaces.md 4.2 no. 8).
func (i Integration) Apply(e Edit) (Integration, error) {
	if e.Enabled == nil && e.OOBPhase == nil {
		return i, fault.New(fault.Invalid, "body: name integrations_enabled, oob_phase or both")
	}
	if e.Enabled != nil {
		i.Enabled = *e.Enabled
	}
	if e.OOBPhase != nil {
		if !plain(*e.OOBPhase, MaxOOBPhase) {
			return i, fault.New(fault.Invalid, "oob_phase: want at most %d characters, none of them a control", MaxOOBPhase)
		}
		i.OOBPhase, i.Dropped = *e.OOBPhase, nil
	}
	return i, nil
}

// Working returns a Conflict fault unless the integration has an account and is enabled.
func (i Integration) Working() error {
	if !i.Enabled || i.Account.UserThingName == "" {
		return fault.New(fault.Conflict, "integrations_enabled: is false; enable the integration first")
	}
	return nil
}

// PendingDeletion is an account to delete at its provider, from a time on, because its
// integration was deleted or never completed.
type PendingDeletion struct {
	Provider string      `json:"provider"`
	Account  Account     `json:"account"`
	Due      motion.Time `json:"due"`
	Tries    int         `json:"tries"`
}

// Times of repeated tries.
const (
	// Unfinished is how long the creation of an account may take before the account counts as
	// orphaned.
	Unfinished motion.Seconds = 600

	firstRetry, longestRetry motion.Seconds = 30, 6 * 3600
)

// Later returns the pending deletion after a failed try at now: the next try is after 30 s,
// then after twice as long each time, at most 6 hours.
func (f PendingDeletion) Later(now motion.Time) PendingDeletion {
	wait := firstRetry
	for range min(f.Tries, 16) {
		wait = min(2*wait, longestRetry)
	}
	f.Tries++
	f.Due = now.Add(wait)
	return f
}
