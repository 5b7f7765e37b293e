// Package household holds the rules of people and homes that take several steps,
// raise events or touch devices: finding and claiming a home, members and
// invitations, leaving and disowning, scenes and presence (interfaces.md 3,
// 4.2, 5 and 6; payloads.md 5).
//
// It knows the store, the engine and how mails are queued. It must not know HTTP,
// tokens, or how a caller has shown who they are: callers say who acts, and have made
// sure that this is so.
//
// Concurrency. All exported methods may be called concurrently; each makes its
// decision and its change in one transaction. Events follow the commit.
package household
