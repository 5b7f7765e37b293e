package crashtest

import (
	"flag"
	"testing"
	"time"

	"sensegate/api/appliance/box"
)

var (
	kills  = flag.Int("kills", 30, "how often the product is killed, three times of ten in a migration, restore, wipe or the like")
	images = flag.Int("images", 1000, "how many crash images of a busy product's state directory are opened")
	starts = flag.Int("starts", 100, "on how many crash images the product itself is started, three of ten of a migration, restore, wipe or the like")
	seed   = flag.Uint64("seed", uint64(time.Now().UnixNano()), "the same seed crashes at the same moments")
)

// ofUpkeep is which part of crashes is in upkeep: migrations, restores, wipes and so on.
func ofUpkeep(crashes int) int { return crashes * 3 / 10 }

// TestNothingAcknowledgedIsLost makes one binary for all ways of crashing, which take
// their turns so that writers are not starved by each other.
func TestNothingAcknowledgedIsLost(t *testing.T) {
	t.Parallel()
	t.Logf("-kills %d -images %d -starts %d -seed %d", *kills, *images, *starts, *seed)
	product, counts := box.Build(t), &tally{}
	t.Run("when it is killed at its first start", func(t *testing.T) { killedAtFirst(t, product, counts) })
	t.Run("when the process is killed", func(t *testing.T) { killed(t, product, counts) })
	t.Run("when the power is cut", func(t *testing.T) { powerCut(t, product, counts) })
	t.Run("when either happens in upkeep", func(t *testing.T) { upkeep(t, product, counts) })
	t.Run("unless nothing is synced", func(t *testing.T) { neverSynced(t, product) })
	t.Logf("what came of the crashes:\n%v", counts)
}
