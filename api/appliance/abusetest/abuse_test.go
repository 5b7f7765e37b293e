package abusetest

import (
	"flag"
	"testing"
	"time"

	"sensegate/api/appliance/box"
)

var (
	strict  = flag.Bool("strict", false, "fail when a figure is missed, not only when something is lost")
	idle    = flag.Int("idle", 200, "how many connections say nothing")
	rate    = flag.Int("rate", 50, "how many connections a second are opened besides")
	lasting = flag.Duration("for", 4*time.Second, "how long the flood lasts")
	readers = flag.Int("readers", 50, "how many clients of each kind do not read")
	mutes   = flag.Int("mutes", 2000, "how many connections fill a listener that has room for half of them")
	stops   = flag.Int("stops", 3, "how often the product is stopped under load")
)

// The figures that are wanted of a strict run.
const (
	mostLatency  = 50 * time.Millisecond // of an acknowledgement, the 99th percentile
	wholeLatency = time.Second           // of 99.9 % of them
	cutWithin    = 10 * time.Second      // of a reader that does not read
	stopWithin   = 5 * time.Second
	inWithin     = time.Second // of a connection that fills a listener with others, until it is answered
	mostMQTT     = 5 << 10     // bytes of an unauthenticated connection to MQTT
	mostHTTP     = 8 << 10     // and of one to HTTP, which ends sooner
)

// TestPairedDevicesAreServedWhateverOthersDo makes one binary for all, which take
// their turns so that each has the machine to itself.
func TestPairedDevicesAreServedWhateverOthersDo(t *testing.T) {
	t.Parallel()
	product := box.Build(t)
	t.Run("idle connections are cheap", func(t *testing.T) { idleConnections(t, product) })
	t.Run("while strangers flood", func(t *testing.T) { flooded(t, product) })
	t.Run("while silence fills every listener", func(t *testing.T) { silenced(t, product) })
	t.Run("while strangers post large bodies", func(t *testing.T) { swamped(t, product) })
	t.Run("while strangers guess passwords", func(t *testing.T) { stormed(t, product) })
	t.Run("while readers do not read", func(t *testing.T) { unread(t, product) })
	t.Run("until it is stopped", func(t *testing.T) { stopped(t, product) })
	t.Run("and no secret gets out", func(t *testing.T) { secrets(t, product) })
}

// missed reports a figure that is over its limit: a failure of a strict run.
func missed(t *testing.T, format string, figures ...any) {
	t.Helper()
	if *strict {
		t.Errorf(format, figures...)
		return
	}
	t.Logf("not wanted of this run: "+format, figures...)
}
