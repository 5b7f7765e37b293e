package uplink_test

import (
	"testing"

	"sensegate/motion/uplink"
)

func TestFilterMatches(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		filter, topic string
		want          bool
	}{
		{"a/b", "a/b", true}, {"a/b", "a/b/c", false}, {"a/b", "a", false}, {"a/+", "a/b", true}, {"a/+", "a/b/c", false}, {"a/+", "a", false},
		{"a/+/set", "a/b/set", true}, {"a/+/set", "a/b/c/set", false}, {"a/+/+/set", "a/1/scene/set", true}, {"a/#", "a/b/c", true}, {"a/#", "a", true},
		{"#", "a/b", true}, {"+", "a", true}, {"+", "a/b", false}, {"a/+", "a/", true}, {"a//b", "a//b", true}, {"a/b/#", "a/c", false},
		{"#", "$SYS/a", false}, {"+/a", "$SYS/a", false}, {"$SYS/#", "$SYS/a", true},
	} {
		if got := uplink.Matches(c.filter, c.topic); got != c.want {
			t.Errorf("%s matches %s: %v, want %v", c.filter, c.topic, got, c.want)
		}
	}
}
