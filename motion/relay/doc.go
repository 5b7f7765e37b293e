// Package relay delivers live motion of networks to outside services: an MQTT
// broker and a webhook, each only when it is configured. It knows frames as JSON,
// queues, and how each service is spoken to. It knows nothing of who asked for a
// delivery and for how long, of what a frame says, of the store, the
// appliance's own broker and its interfaces.
//
// Concurrency. Deliver never waits: every provider has a bounded queue that drops
// its oldest frame when it is full, and one goroutine, owned by Run, that empties
// it. All exported methods may be called concurrently.
package relay
