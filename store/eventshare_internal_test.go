package store

import "testing"

func TestShareIsASixteenthOfTheDiskAtMost(t *testing.T) {
	t.Parallel()
	for asked, wantsAll := range map[int64]bool{0: true, 1 << 10: true, 1 << 62: false} {
		if got := newEventShare(t.TempDir(), asked).most; (got == asked) != wantsAll || got > 1<<58 || got < 0 {
			t.Errorf("of %d bytes a network may have %d", asked, got)
		}
	}
}
