package home

import (
	"cmp"
	"slices"

	"sensegate/motion"
)

// Role is what a member of a home may do (interfaces.md 5 no. 5).
type Role string

// The roles. A home has one owner, or neither an owner nor members.
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
	Added      bool         `json:"added"`             // by the owner, without the person's doing
	Unasked    bool         `json:"unasked,omitempty"` // added, and no doing of theirs since: the others see no name, and requests that name no home are about others
	Muted      bool         `json:"muted,omitempty"`   // unasked: no push of the home reaches them
	IsPresent  bool         `json:"is_present"`        // one of Devices is
	Left       bool         `json:"left,omitempty"`    // they are absent since the device by which they were present was removed; no event says so yet
	PresenceAt motion.Time  `json:"presence_at"`       // of the newest geofencing report; 0: none
	CreatedAt  motion.Stamp `json:"created_at"`
	UpdatedAt  motion.Stamp `json:"updated_at"`
	OwnerSince motion.Stamp `json:"owner_since,omitempty"` // 0: not the owner, or since CreatedAt

	Devices []DevicePresence `json:"devices,omitempty"` // what the user's mobile devices have said
}

// DevicePresence is what a mobile device has said last of where its user is.
type DevicePresence struct {
	Device  MobileID    `json:"device,omitempty"` // 0: unknown, the user had none registered
	Present bool        `json:"present"`
	At      motion.Time `json:"at"`
}

// Successor returns the member who owns a home next when its owner leaves
// (payloads.md 6 no. 16): of those whose accounts are confirmed the one named, or else the one
// who joined first. It skips members who were added and have not joined. ok is false when
// nobody is left.
func Successor(members []Membership, confirmed func(UserID) bool, named UserID) (next Membership, ok bool) {
	inOrder := slices.SortedFunc(slices.Values(members), func(a, b Membership) int { return cmp.Compare(a.ID, b.ID) })
	for _, m := range inOrder {
		if m.Role != MemberRole || m.Unasked || !confirmed(m.User) {
			continue
		}
		if m.User == named {
			return m, true
		}
		if !ok {
			next, ok = m, true
		}
	}
	return next, ok
}
