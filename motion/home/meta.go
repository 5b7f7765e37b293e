package home

import (
	"encoding/json"
	"fmt"

	"sensegate/motion"
	"sensegate/motion/fault"
)

// MaxMeta bounds an area of meta storage, in bytes of JSON.
const MaxMeta = 64 << 10

// MergeMeta returns an area of meta storage with the keys of change set in it; null
// deletes a key (payloads.md 5.8: a shallow merge). TooLarge, named after the area: it
// would be over MaxMeta.
func MergeMeta(area string, before, change motion.Document) (motion.Document, error) {
	after := motion.Document{}
	for key, value := range before {
		after[key] = value
	}
	for key, value := range change {
		if after[key] = value; value == nil {
			delete(after, key)
		}
	}
	raw, err := json.Marshal(after)
	if err != nil {
		return nil, fmt.Errorf("encode meta: %w", err)
	}
	if len(raw) > MaxMeta {
		return nil, fault.New(fault.TooLarge, "%s: an area holds at most %d bytes of JSON", area, MaxMeta)
	}
	return after, nil
}
