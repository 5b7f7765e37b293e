// Package zigbee2mqtt is the sensor provider for a Zigbee2MQTT bridge, 1.x or 2.x, that
// is connected to the appliance's own broker as an integration user. The bridge's
// coordinator is the hub HUB_<IEEE address>, its devices are SENSOR_<IEEE address>. A
// bridge serves one household, which the administrator names where there are several.
//
// It knows the topics and messages of the bridge (zigbee2mqtt.io, "MQTT topics and
// messages", "Exposes", "Device availability"). It must not know what is kept of a
// reading, who is told, or how the broker works.
//
// Concurrency. All exported methods may be called concurrently. Messages are taken on
// the goroutine of the bridge's connection, so that they are in order and a slow store
// slows the bridge alone. No lock is held while the broker or the host is called.
package zigbee2mqtt
