package home

import (
	"slices"
	"sort"
	"time"

	"sensegate/motion"
)

// Role determines what a member of a home may do (interfaces.md 5 no. 5).
type Role string

// The roles. A home has exactly one owner, or no members at all.
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
	Added      bool         `json:"added"`             // by the owner, without the person's consent
	Unasked    bool         `json:"unasked,omitempty"` // added, and not accepted yet: the others see no name, and requests that name no home do not mean this one
	Muted      bool         `json:"muted,omitempty"`   // unasked: they get no push of the home
	IsPresent  bool         `json:"is_present"`        // one of Devices is
	Left       bool         `json:"left,omitempty"`    // absent because the device that reported them present was removed; no event reports it yet
	PresenceAt motion.Time  `json:"presence_at"`       // of the newest geofencing report; 0: none
	CreatedAt  motion.Stamp `json:"created_at"`
	UpdatedAt  motion.Stamp `json:"updated_at"`
	OwnerSince motion.Stamp `json:"owner_since,omitempty"` // 0: not the owner, or since CreatedAt

	Devices []DevicePresence `json:"devices,omitempty"` // the last report of each of the user's mobile devices

	ReadTo motion.Time  `json:"read_to,omitempty"` // how far their inbox is read; 0: never looked at
	Trials []AlertTrial `json:"trials,omitempty"`  // of alerts, the newest ones, oldest first
}

// MaxTrials is how many trials of alerts of a member are kept, and how many an hour they may make.
const MaxTrials = 5

// AlertTrial is an alert that a member has sent to themselves to see what it does.
type AlertTrial struct {
	At    motion.Time `json:"at"`
	Alert string      `json:"alert"` // its uuid
	Title string      `json:"title"`
}

// newUnread is how long an inbox that was never looked at counts what is in it as unread.
const newUnread motion.Seconds = 7 * 24 * 3600

// UnreadSince returns the time after which what is in the member's inbox is unread.
func (m Membership) UnreadSince(now motion.Time) motion.Time {
	if !m.ReadTo.IsZero() {
		return m.ReadTo
	}
	return max(now.Add(-newUnread), motion.TimeOf(m.CreatedAt.Std()))
}

// Read returns m with its inbox read to a time, at most to now. It is never read less far.
func (m Membership) Read(to, now motion.Time) Membership {
	m.ReadTo = max(m.ReadTo, min(to, now))
	return m
}

// DevicePresence is the last report of a mobile device about its user's presence.
type DevicePresence struct {
	Device  MobileID    `json:"device,omitempty"` // 0: unknown, the user had none registered
	Present bool        `json:"present"`
	At      motion.Time `json:"at"`
}

// Successor returns the next owner of a home whose owner leaves (payloads.md 6 no. 16): among
// members with confirmed accounts the named one, or else the one who joined first. It skips
// members who were added and have not joined. ok is false if nobody qualifies.
func Successor(members []Membership, confirmed func(UserID) bool, named UserID) (next Membership, ok bool) {
	inOrder := slices.Clone(members)
	sort.Slice(inOrder, func(i, j int) bool { return inOrder[i].ID < inOrder[j].ID })
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

// InvitationID identifies an invitation. Ids are positive and fit 32 bits.
type InvitationID uint32

// InvitationTime is the validity of an invitation.
const InvitationTime = 7 * 24 * time.Hour

// MaxInvitations is the limit of open invitations of one home, and of addresses in one request.
const MaxInvitations = 50

// Invitation allows the holder of an address to join a home once while it is open (payloads.md
// 5.2). They need a confirmed account with that address, and the token of the mailed link
// unless they have proven the address in another way.
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
