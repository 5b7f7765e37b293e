// Package sim is a simulated home that speaks the device protocol over real
// sockets: access points that bootstrap at the gatekeeper by HTTP, connect by
// MQTT 5, publish raw CSI or motion reports and answer commands. Who walks where
// is the affair of a scenario, and what the radios hear of it that of the channel
// model. It also replays captured CSI as a device would (Replay), makes plausible
// past days for a demonstration (Backfill), and puts an appliance under load with
// many networks (Load).
//
// Everything that happens in the home is a function of the seed and of the time
// asked for, so that the same seed gives the same people, the same intensities
// and the same CSI bytes, at any speed. Only the connections are real.
//
// The package knows the device protocol and nothing of the appliance behind it:
// no store, no engine, no API. Its synthetic CSI is for protocol, load and
// demonstration; accuracy is only ever claimed on real frames.
package sim
