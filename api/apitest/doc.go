// Package apitest tests served interfaces by their documents: a client that checks
// every answer, examples that are sent, requests that are generated, and walks whose
// commands are run. It knows what a document can say and no operation of any
// interface. For tests only.
package apitest
