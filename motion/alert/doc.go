// Package alert implements the rules of universal alerts (payloads.md 4.10): the record and
// its validation, recurrence after RFC 5545, the choice of the action list, and the schedule
// that fires each occurrence once across restarts, downtime and clock jumps.
//
// It knows no clock, no store, no HTTP and no history: the caller supplies the time and the
// seconds of motion. All types are plain values or immutable and may be used concurrently,
// except a Job, which one goroutine at a time may use. Time zones are those of
// package timezone.
package alert
