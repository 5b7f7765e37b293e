package home

import "sensegate/motion"

// Role is what a member of a home may do (interface document section 5).
type Role string

// The roles. A home has at most one owner.
const (
	OwnerRole  Role = "owner"
	MemberRole Role = "member"
)

// MembershipID identifies a membership. Ids are positive and fit 32 bits.
type MembershipID uint32

// Membership ties a user to a home (payloads.md 5.2).
type Membership struct {
	ID         MembershipID `json:"id"`
	Role       Role         `json:"role"`
	User       UserID       `json:"user"`
	Home       ID           `json:"network"`
	Added      bool         `json:"added"` // by the owner, without the person's doing
	IsPresent  bool         `json:"is_present"`
	PresenceAt motion.Time  `json:"presence_at"` // of the newest geofencing report; 0: none
	CreatedAt  motion.Stamp `json:"created_at"`
	UpdatedAt  motion.Stamp `json:"updated_at"`
}
