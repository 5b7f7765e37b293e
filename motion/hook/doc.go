// Package hook posts to outside HTTP services: one try at a time, signed as Standard
// Webhooks 1.0 says, and what its answer means for the next try. It knows signatures,
// answers and the wait between tries. It must not know what is posted, keep a queue,
// or decide how often something is tried.
//
// All functions and methods may be called concurrently.
package hook
