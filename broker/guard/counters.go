package guard

import "sync/atomic"

// Counters are totals since the Guard was made, except Open.
type Counters struct {
	Open           int64  // connections open now
	Accepted       uint64 // connections accepted and within the limits
	AcceptErrors   uint64 // failed accepts, each tried again after a pause
	OverTotal      uint64 // connections closed because MaxConnections was reached, and none was silent
	OverAddress    uint64 // connections closed because MaxPerAddress was reached, of an address or its network, and none was silent
	GaveWay        uint64 // silent connections closed to make room for others
	ConnectTimeout uint64 // connections that sent no complete CONNECT in time
	Malformed      uint64 // connections closed for a packet that breaks a rule of MQTT or a limit other than its size
	TooLarge       uint64 // connections closed for the size of a packet
	SlowReaders    uint64 // connections closed because they did not read
	Throttled      uint64 // packets that were delayed for the rate of their connection
	Panics         uint64 // connections closed because the library, or a hook, panicked
}

type counters struct {
	open                                           atomic.Int64
	accepted, acceptErrors, overTotal, overAddress atomic.Uint64
	connectTimeout, malformed, tooLarge            atomic.Uint64
	slowReaders, throttled, panics                 atomic.Uint64
}

// refused counts v under the counter that its code belongs to.
func (c *counters) refused(v *Violation) {
	if v.Code == codeTooLarge {
		c.tooLarge.Add(1)
		return
	}
	c.malformed.Add(1)
}

func (c *counters) snapshot() Counters {
	return Counters{
		Open:           c.open.Load(),
		Accepted:       c.accepted.Load(),
		AcceptErrors:   c.acceptErrors.Load(),
		OverTotal:      c.overTotal.Load(),
		OverAddress:    c.overAddress.Load(),
		ConnectTimeout: c.connectTimeout.Load(),
		Malformed:      c.malformed.Load(),
		TooLarge:       c.tooLarge.Load(),
		SlowReaders:    c.slowReaders.Load(),
		Throttled:      c.throttled.Load(),
		Panics:         c.panics.Load(),
	}
}
