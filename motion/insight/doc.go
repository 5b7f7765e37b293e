// Package insight computes statistics of a household from a network's stored motion: activity per
// quarter of an hour and per day, sleep times by a model of the night, and the shares of
// locations.
//
// It knows local days (Date), the shapes of payloads.md 4.9, 4.12 and 5.6, and the algorithms of
// lm1.md 7. It must not know where samples are stored, which network they belong to or who asks,
// read the clock (now is a parameter), or do I/O. All functions may be called concurrently.
//
// Rules that only this package implements:
//   - An unknown value is null or omitted, never 0, and never counts as quiet.
//   - A sample is in motion if its intensity is above 0; a minute if more than 10 % of it is (its
//     density, lm1.md 7).
//   - A range of dates includes both ends. A day is [its first instant, the next one's first
//     instant): 23 or 25 hours long where the clock changes.
//   - Room motion cannot distinguish sleep stages, one sleeper from two, or a pet from a person.
//     The package claims none of it.
package insight
