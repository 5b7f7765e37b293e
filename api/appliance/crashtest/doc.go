// Package crashtest is tests alone: it takes the power away from the product and
// looks for what was acknowledged.
//
// It builds the real binary and has writers at its real doors: a device whose
// events and command results are acknowledged by MQTT, programs and a member of
// the household that change settings, alerts and their own records by HTTP. Each
// writer makes one operation after the other and counts acknowledgements. The
// binary then ends in one of two ways (safety.md section 3):
//
//   - kill -9 at a random moment, and a new start. The state of the kernel
//     survives, that of the process does not.
//   - a power cut. The binary runs under strace; from the trace come images of
//     its database at random moments, which hold everything that was synced and,
//     of what was written since, none, all, a part, a torn part, or only the last.
//     Acknowledgements stand in the same trace, so their order is exact. A run
//     whose syncs are swallowed is the control: there the images must show losses.
//
// Whatever is left is opened by the product's own store, which must find it clean,
// and holds, of each writer with n acknowledgements, exactly its first n
// operations, perhaps the one under way, and no other. Motion samples older than
// the flush interval are there.
//
// In a short run everything takes little more than a minute; go test ./api/appliance/crashtest
// -kills 1000 -images 20000 is the long one, and -seed repeats the moments of a run.
//
// The package knows the interfaces from outside and the store for reading. It must
// not know how the product keeps its promises: the file of the database is bytes.
package crashtest
