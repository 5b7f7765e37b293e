package auth

import (
	"context"
	"fmt"
	"slices"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store"
)

// The scopes of an API key. Neither includes the other.
const (
	ScopeRead  = "core:read"  // reads and live streams
	ScopeWrite = "core:write" // everything else
)

// Scopes returns every scope that an API key can have.
func Scopes() []string { return []string{ScopeRead, ScopeWrite} }

// Key is a caller of the Core interface: whoever shows an API key.
type Key struct {
	ID      uint32
	Name    string
	Scopes  []string
	Network motion.NetworkID // the only network it opens; 0: all
}

// Open returns nil when the key opens the network. For any other network the
// answer is that of one that does not exist (payloads.md 1: "unknown and
// foreign ids answer the same 404").
func (k Key) Open(id motion.NetworkID) error {
	if k.Network == 0 || k.Network == id {
		return nil
	}
	return fault.New(fault.NotFound, "network %d is not known", id)
}

// Caller returns the name by which what a key has open is counted.
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
	return Key{ID: record.ID, Name: record.Name, Scopes: record.Scopes, Network: record.NetworkID}, nil
}
