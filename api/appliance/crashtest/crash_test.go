package crashtest

import (
	"flag"
	"testing"
	"time"

	"sensegate/api/appliance/box"
)

var (
	kills  = flag.Int("kills", 30, "how often the product is killed")
	images = flag.Int("images", 1000, "how many crash images are made")
	seed   = flag.Uint64("seed", uint64(time.Now().UnixNano()), "the same seed crashes at the same moments")
)

// TestNothingAcknowledgedIsLost makes one binary for all ways of crashing, which take
// their turns so that writers are not starved by each other.
func TestNothingAcknowledgedIsLost(t *testing.T) {
	t.Parallel()
	t.Logf("-kills %d -images %d -seed %d", *kills, *images, *seed)
	product := box.Build(t)
	t.Run("when it is killed at its first start", func(t *testing.T) { killedAtFirst(t, product) })
	t.Run("when the process is killed", func(t *testing.T) { killed(t, product) })
	t.Run("when the power is cut", func(t *testing.T) { powerCut(t, product) })
	t.Run("unless nothing is synced", func(t *testing.T) { neverSynced(t, product) })
}
