// Package zigbee2mqtt is the sensor provider for a Zigbee2MQTT bridge, 1.x or 2.x, that is
// connected to the appliance's own broker as an integration user. The bridge's coordinator is
// the hub HUB_<IEEE address>, its devices are SENSOR_<IEEE address>. A bridge serves one
// household, which the administrator names if there are several.
//
// It knows the topics and messages of the bridge (zigbee2mqtt.io, "MQTT topics and messages",
// "Exposes", "Device availability"). It must not know which readings are stored, who is
// notified, or how the broker works.
//
// Concurrency. All exported methods may be called concurrently. Messages are handled on the
// goroutine of the bridge's connection, so that they stay in order and a slow store slows only
// the bridge. No lock is held during calls of the broker or the host.
package zigbee2mqtt
