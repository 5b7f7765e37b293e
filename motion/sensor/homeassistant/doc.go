// Package homeassistant is the sensor provider for what other makers announce to Home Assistant on a broker
// that an uplink is connected to: the binary sensors of MQTT discovery (home-assistant.io, "MQTT", "MQTT
// Discovery"; the short keys are those of homeassistant/components/mqtt/abbreviations.py). Each uplink is a
// hub, HUB_<name of the uplink>; each announced sensor is SENSOR_<16 hexadecimal digits>, made from its unique
// id. The sensors serve one household.
//
// It reads and never publishes. Entries of sensegate itself, of this box or another, are left out, and so are
// nodes that sense by radio, whose messages it hands to Nodes.
//
// It knows the announcements, their templates and their states. It must not know which readings are stored,
// who is notified, or how a connection to a broker is made.
//
// Concurrency. All exported methods may be called concurrently. The messages of an uplink wait in a bounded
// queue and are handled in order on the goroutine of its Run, so that a slow store does not hold up the
// connection. No lock is held during calls of the peer, the host or Nodes.
package homeassistant
