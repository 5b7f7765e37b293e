package auth

import (
	"fmt"
	"net/netip"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
)

// The callers of the App Cloud interface. A handler that takes an Owner cannot be put
// in a row for members.
type (
	// Anyone is a caller who shows nothing.
	Anyone struct{ Address netip.Addr }

	// User is whoever shows a valid session token.
	User struct {
		ID      home.UserID
		Session string     // the session's id, sid
		Address netip.Addr // where the request came from
		Local   bool       // from the appliance itself, not through a proxy
	}

	// Member is a user who belongs to the home that the request is about.
	Member struct {
		User
		Home    home.ID
		Network motion.NetworkID // the home's Core id
		Since   motion.Time      // when the home was last claimed: history begins here
		Role    home.Role
	}

	// Owner is the member who owns that home.
	Owner struct{ Member }
)

// Caller returns the name by which what a user has open is counted.
func (u User) Caller() string { return fmt.Sprintf("user/%d", u.ID) }

// Own returns the member as the owner of their home, or a Forbidden fault.
func (m Member) Own() (Owner, error) {
	if m.Role != home.OwnerRole {
		return Owner{}, fault.New(fault.Forbidden, "only the owner of the network may do this")
	}
	return Owner{m}, nil
}
