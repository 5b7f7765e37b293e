package home_test

import (
	"testing"

	"sensegate/motion"
	"sensegate/motion/home"
)

func TestReadMarkNeverGoesBackOrAhead(t *testing.T) {
	t.Parallel()
	const now, day = motion.Time(1764000000), motion.Seconds(24 * 3600)
	m := home.Membership{CreatedAt: now.Add(-100 * day).Stamp()}
	if since := m.UnreadSince(now); since != now.Add(-7*day) {
		t.Errorf("never read: unread since %v", since)
	}
	if since := (home.Membership{CreatedAt: now.Add(-day).Stamp()}).UnreadSince(now); since != now.Add(-day) {
		t.Errorf("joined yesterday: unread since %v", since)
	}
	for i, c := range []struct{ to, want motion.Time }{{now - 50, now - 50}, {now - 60, now - 50}, {now + 1000, now}, {0, now}} {
		if m = m.Read(c.to, now); m.ReadTo != c.want || m.UnreadSince(now) != c.want {
			t.Errorf("%d: read to %v", i, m.ReadTo)
		}
	}
}
