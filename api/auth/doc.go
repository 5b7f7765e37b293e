// Package auth says who a caller is and what they may do: the API keys of the
// Core interface with their scopes and the network they are bound to.
//
// It knows tokens and the database that holds their digests. It must not know
// HTTP: whoever serves reads the token from the request. All functions may be
// called concurrently.
package auth
