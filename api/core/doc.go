// Package core is the Core interface (interfaces.md 4.1): one route table in
// the order of api/testdata/routes.tsv, and one file per group of operations.
//
// It knows the shapes of payloads.md 4 and who may call: an API key with the scope
// of the method, bound to the network or to none. It decides nothing about
// motion: a handler reads or writes one record, or calls the engine, and returns.
// Handlers run concurrently.
package core
