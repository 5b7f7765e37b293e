// Package auth says who a caller is and what they may do: the API keys of the Core
// interface with their scopes, and the accounts, sessions and roles of the App Cloud
// interface.
//
// It knows tokens and the keys that sign them, passwords and their hashes, the identity
// providers, and how guessing is slowed down. It must not know the appliance's own HTTP:
// whoever serves reads the token from the request. All methods may be called
// concurrently.
//
// # What lies on disk
//
// Users, sessions and the digest of the setup code are in the database; see store. In
// the state directory, readable by its owner only:
//
//	signing.json      {"keys": [{"kid", "secret": base64 of 32 bytes, "since": seconds}], newest last;
//	                  "names": base64 of 32 bytes, the key of account digests in the log}
//	jwks-<name>.json  the key set of an identity provider as it was fetched last
package auth
