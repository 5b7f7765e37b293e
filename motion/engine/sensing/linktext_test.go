package sensing

import (
	"maps"
	"slices"
	"testing"
)

func TestEveryReasonHasWordsOfItsOwn(t *testing.T) {
	t.Parallel()
	seen := map[string]Code{}
	for _, code := range append(slices.Collect(maps.Keys(texts)), Silent, FewFigures, FewFrames, SlowLink, WeakSignal, ByPower, Gaps) {
		text := Reason{Code: code}.Text()
		if text == "" || seen[text] != "" {
			t.Errorf("%s and %s: %q", code, seen[text], text)
		}
		seen[text] = code
	}
}
