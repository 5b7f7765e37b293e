// Package crashtest is tests alone: it takes the power away from the product and
// looks for what was acknowledged.
//
// It builds the real binary and has writers at its real doors: a device whose
// events and command results are acknowledged by MQTT, programs and a member of
// the household that change settings, alerts, memberships and their own records by
// HTTP, an administrator who creates and revokes keys. Each writer makes one
// operation after the other and counts acknowledgements. The binary then ends in one
// of two ways:
//
//   - kill -9 at a random moment, and a new start. The state of the kernel
//     survives, that of the process does not.
//   - a power cut. The binary runs under strace; from the trace come images of its
//     whole state directory at random moments. What was written to a file is there
//     once the file was synced, and a name once its directory was; of what was done
//     since, an image has none, all, a part, a torn part, only the last or only the
//     first. The trace must explain every byte that lies on the disk at the end.
//     Acknowledgements stand in the same trace, so their order is exact. A run
//     whose syncs are swallowed is the control: there the images must show losses.
//
// The same happens in eleven chores, in which the product changes all of its state: the
// first start, making a new authority, migrations from schemas 1 and 2, a restore, the recovery of a lost
// database, a compaction, a backup, disowning a home, deleting an account, and the wipe
// that follows. After half of the kills the next start is killed, too. Their traces are
// also cut after each change of a name.
//
// The product itself is started on what is left; of images of a busy product, on some of
// them, as that takes longer. It must start, and then its own store must find the
// database clean, and in it, of each writer with n acknowledgements,
// exactly its first n operations, perhaps the one under way, and no other: a key that was
// revoked stays so. A chore is done or not begun, and done once it was acknowledged; a
// home that was wiped stands in no file. Motion samples older than the flush interval are
// there, and so are signing keys and the authority.
//
// A short run takes less than a minute and a half; go test ./api/appliance/crashtest -v
// -kills 1000 -images 5000 -starts 1000 -timeout 2h is the long one and prints a table of
// what came of the crashes. -seed repeats the moments of a run.
//
// The package knows the interfaces from outside and the store for reading, and lets it
// wipe at once, for which the product waits a minute. It must not know how the product
// keeps its promises: files are bytes.
package crashtest
