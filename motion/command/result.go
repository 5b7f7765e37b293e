package command

import (
	"encoding/json"
	"strings"

	"sensegate/motion"
)

// MaxResult is the limit of a stored result, in bytes of JSON: lists and snapshots hold up to
// 1,000 commands.
const MaxResult = 16 << 10

// outKey is the key of a command's output in a device's result.
const outKey = "out"

// bounded returns a result that fits. It cuts the end of "out" of a longer one and sets
// "truncated".
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
