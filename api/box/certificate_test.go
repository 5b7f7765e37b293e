package box

import (
	"testing"
	"time"

	"sensegate/motion"
)

// TestSuppliedCertificateThatEndsNeedsAttention: the appliance renews its own, and no other.
func TestSuppliedCertificateThatEndsNeedsAttention(t *testing.T) {
	t.Parallel()
	now := time.Date(2027, 3, 4, 5, 6, 7, 0, time.UTC)
	for name, test := range map[string]struct {
		ends time.Time
		want float64 // days; -1: nothing
	}{
		"none is supplied": {time.Time{}, -1},
		"in 15 days":       {now.AddDate(0, 0, 15), -1},
		"in 14 days":       {now.AddDate(0, 0, 14), -1},
		"in less":          {now.AddDate(0, 0, 14).Add(-time.Second), 13},
		"tomorrow":         {now.AddDate(0, 0, 1), 1},
		"today":            {now.Add(time.Hour), 0},
		"yesterday":        {now.AddDate(0, 0, -1), 0},
	} {
		s := Status{Since: motion.TimeOf(now)}
		if !test.ends.IsZero() {
			s.SuppliedEnds = motion.TimeOf(test.ends)
		}
		got := -1.0
		for _, a := range s.Attention(Outbox{}, now) {
			if a.Code == "certificate_ends" {
				got = a.Figure
				if want := "the certificate of tls.certificate: valid until " + test.ends.Format(time.DateTime) + " UTC"; a.Text != want {
					t.Errorf("%s: %s, want %s", name, a.Text, want)
				}
			}
		}
		if got != test.want {
			t.Errorf("%s: %v days, want %v", name, got, test.want)
		}
	}
}
