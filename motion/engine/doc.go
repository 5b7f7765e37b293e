// Package engine is the product without its doors: it takes in what devices
// report, decides about motion, records events and history, follows liveness
// and serves topology, status, history and live streams to whoever asks. It
// knows neither MQTT nor HTTP; the broker reaches it through Report, Admit and
// the session calls, and it reaches devices through the Devices interface.
//
// Concurrency. All exported methods may be called concurrently. Each network
// has one mutex over its state; it is never held across a commit or a call to a
// device. Management commands have a mutex of their own, which is held for the
// whole of an event, commit and sending included, and comes before every other
// one. Events leave a network through the recorder, a
// queue with one writer, so that the order of the history is the order of the
// live streams. Time comes from the data; the wall clock (Options.Now) only
// stamps receipt and moves silent networks on.
package engine
