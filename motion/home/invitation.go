package home

import (
	"time"

	"sensegate/motion"
)

// InvitationID identifies an invitation. Ids are positive and fit 32 bits.
type InvitationID uint32

// InvitationTime is how long an invitation is open.
const InvitationTime = 7 * 24 * time.Hour

// MaxInvitations bounds the invitations of one home that are open at a time, and the
// addresses of one request.
const MaxInvitations = 50

// Invitation lets the holder of an address join a home (payloads.md 5.2), once, as long as
// it is open: with an account of that address, confirmed, and with the token of the link
// that was mailed, unless the address is known to be theirs without it.
type Invitation struct {
	ID        InvitationID `json:"id" example:"5"`
	Email     string       `json:"email" doc:"The address that may join" example:"a@example.com"`
	Home      ID           `json:"network_id" doc:"App Cloud network id" example:"17"`
	Role      Role         `json:"role" enum:"member" doc:"What the address joins as"`
	CreatedAt motion.Stamp `json:"created_at"`
	ExpiresAt motion.Stamp `json:"expires_at" doc:"Seven days after it was last sent"`
}

// Open reports whether the invitation can be accepted at now.
func (i Invitation) Open(now motion.Stamp) bool { return now < i.ExpiresAt }
