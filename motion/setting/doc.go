// Package setting knows what may stand in the documents that people and programs
// set: meta, the guardian and the radar configuration (interfaces.md 2.1,
// payloads.md 4.11), and the views over them: sounding settings and sounding
// clients (payloads.md 4.4 and 4.5). It checks values by type and range, with every
// mistake at once, and says what a change makes of a document.
//
// It must not know where documents are kept, who changes them, or what devices do
// with them. Its functions may be called concurrently; none changes a document that
// it was given.
package setting
