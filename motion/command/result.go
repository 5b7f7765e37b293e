package command

import (
	"encoding/json"
	"strings"

	"sensegate/motion"
)

// MaxResult is the longest result that is kept, in bytes of JSON: lists and
// snapshots hold up to 1,000 commands.
const MaxResult = 16 << 10

// outKey is where devices put what a command printed.
const outKey = "out"

// bounded returns a result that can be stored. Of one that is too long the
// beginning of its "out" is kept, and "truncated" says so.
func bounded(result motion.Document) motion.Document {
	if fits(result) {
		return result
	}
	out := result.Text(outKey)
	for size := min(len(out), MaxResult); ; size /= 2 {
		short := motion.Document{outKey: strings.ToValidUTF8(out[:size], ""), "truncated": true}
		if fits(short) {
			return short
		}
	}
}

// fits reports whether the result can be written as JSON within MaxResult.
func fits(result motion.Document) bool {
	encoded, err := json.Marshal(result)
	return err == nil && len(encoded) <= MaxResult
}
