package auth

import (
	"context"
	"fmt"
	"net/netip"
	"slices"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

// The callers of the App Cloud interface. A handler that takes an Owner cannot be put
// in a row for members.
type (
	// Anyone is a caller without credentials.
	Anyone struct{ Address netip.Addr }

	// User is a caller with a valid session token.
	User struct {
		ID      home.UserID
		Session string     // the session's id, sid
		Address netip.Addr // where the request came from
		Local   bool       // from the appliance itself, not through a proxy
		Inside  bool       // from a private address or the appliance itself, not through a proxy
		Browser bool       // a page of the web app, by both halves of its session or by a ticket
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

	// Administrator is a user who looks after the appliance. Nobody's life is theirs to see.
	Administrator struct {
		User
		Actor store.Actor // as the audit log names them
	}

	// Installer is whoever may set that home up: its owner, or a user whom the owner has let in for
	// that, who is no member. Nobody else's life is theirs to see: Role is "" for one who is no member.
	Installer struct{ Member }
)

// Caller returns the name under which a user's live connections are counted.
func (u User) Caller() string { return fmt.Sprintf("user/%d", u.ID) }

// Own returns the member as the owner of their home, or a Forbidden fault.
func (m Member) Own() (Owner, error) {
	if m.Role != home.OwnerRole {
		return Owner{}, fault.New(fault.Forbidden, "only the owner of the network may do this")
	}
	return Owner{m}, nil
}

// The scopes of an API key. Neither includes the other.
const (
	ScopeRead  = "core:read"  // reads and live streams
	ScopeWrite = "core:write" // everything else
)

// Scopes returns every scope that an API key can have.
func Scopes() []string { return []string{ScopeRead, ScopeWrite} }

// Key is a caller of the Core interface: one with an API key.
type Key struct {
	ID      uint32
	Name    string
	Scopes  []string
	Network motion.NetworkID // the only network it opens; 0: all

	within []motion.NetworkID // of those, the ones that the way of its request leads to; none: all
}

// Within returns a context of requests that come by a way which leads to some networks alone; none:
// to all.
func Within(ctx context.Context, networks []motion.NetworkID) context.Context {
	return context.WithValue(ctx, withinKey{}, networks)
}

type withinKey struct{}

// Open returns nil when the key opens the network, and otherwise the NotFound fault of a
// network that does not exist (payloads.md 1: "unknown and foreign ids answer the same 404").
func (k Key) Open(id motion.NetworkID) error {
	if (k.Network == 0 || k.Network == id) && (len(k.within) == 0 || slices.Contains(k.within, id)) {
		return nil
	}
	return fault.New(fault.NotFound, "network %d is not known", id)
}

// Caller returns the name under which a key's live connections are counted.
func (k Key) Caller() string { return fmt.Sprintf("key/%d", k.ID) }

// Keys checks API keys.
type Keys struct{ db *store.DB }

// NewKeys returns the keys that db holds.
func NewKeys(db *store.DB) *Keys { return &Keys{db: db} }

// Check returns the key whose secret is token. The error is Unauthorized when
// there is none (unknown, revoked or expired), Forbidden when it lacks scope.
func (k *Keys) Check(ctx context.Context, token, scope string) (Key, error) {
	if token == "" {
		return Key{}, fault.New(fault.Unauthorized, "authorization: send an API key, such as Authorization: Bearer sg_...; sensegate apikey create makes one")
	}
	record, err := k.db.CheckAPIKey(ctx, token)
	if err != nil {
		return Key{}, err
	}
	if !slices.Contains(record.Scopes, scope) {
		return Key{}, fault.New(fault.Forbidden, "API key: needs the scope %s", scope)
	}
	within, _ := ctx.Value(withinKey{}).([]motion.NetworkID)
	return Key{ID: record.ID, Name: record.Name, Scopes: record.Scopes, Network: record.NetworkID, within: within}, nil
}
