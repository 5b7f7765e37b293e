// Package notify tells people: it writes mails and puts them in the stored outbox,
// sends them when a mail server is configured, and pushes messages to the phones and
// the webhook of a household (payloads.md 5.2 and 6 no. 8).
//
// It knows kinds of mails and pushes, whom an owner may hand a mail over to, queues in
// the store, and how each service is spoken to. It must not know HTTP interfaces, what
// raises an event, or name a person in a push.
//
// Concurrency. All exported methods may be called concurrently. What is queued is
// durable before it is sent, so that a restart repeats at most what was under way.
package notify
