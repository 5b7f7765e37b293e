package sensor

import (
	"strings"
	"testing"
)

func TestValidThing(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"SENSOR_02CC00FFFE000001": true, "a": true, "a:b.c-d_E9": true, strings.Repeat("x", 128): true,
		"": false, strings.Repeat("x", 129): false, "a b": false, "a/b": false, "ä": false, "a\n": false,
	} {
		if got := ValidThing(name); got != want {
			t.Errorf("%.20q of %d bytes: %v", name, len(name), got)
		}
	}
}
