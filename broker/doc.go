// Package broker is the appliance's MQTT side (device-protocol.md 2):
// listeners, authentication, who may publish and subscribe to what, durable
// ingest before the acknowledgement, and commands to devices.
//
// It knows the MQTT library, which it runs behind package guard, and the topics
// of the device protocol. It must not know the database, the API, or what a
// message means: all that goes through a [Sink].
package broker
