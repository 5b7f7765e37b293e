// Package insight computes figures about a household from a network's stored motion: activity
// per quarter of an hour and per day, sleep times by a model of the night, and the shares of
// locations.
//
// It knows local days (Date), the shapes of payloads.md 4.9, 4.12 and 5.6, and the algorithms
// of lm1.md 7. It must not know where samples are kept, which network they belong to or who
// asks, read the clock (now is a parameter), or do I/O. All functions may be called
// concurrently.
//
// Rules that stand here and nowhere else:
//   - What is not known is null or left out, never 0, and never counts as quiet.
//   - A sample is in motion when its intensity is above 0; a minute when more
//     than 10 % of it is (its density, lm1.md 7).
//   - A range of dates includes both of its ends. A day is [its first instant,
//     the next one's first instant): 23 or 25 hours long where clocks change.
//   - Room motion cannot tell sleep stages, two sleepers from one, or a pet from
//     a person. Nothing here claims it does.
package insight
