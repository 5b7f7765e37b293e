// Package alert holds the rules of universal alerts (payloads.md 4.10): the
// record and what a caller may write, recurrence after RFC 5545, the decision
// which action list runs, and the schedule that fires each occurrence once
// across restarts, downtime and clock jumps.
//
// It knows no clock, no store, no HTTP and no history: the caller gives the time
// and the seconds of motion. Everything in it is a plain value or immutable, so
// it may be used concurrently; a Job belongs to one goroutine at a time.
// Time zones are found by name with time.LoadLocation, which needs the zone
// database of the machine or time/tzdata in the program.
package alert
