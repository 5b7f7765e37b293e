package uplink

import (
	"context"
	"time"
)

// Leaver is a Part that has its broker keep something.
type Leaver interface {
	// Leave removes all that from the broker.
	Leave(ctx context.Context, peer Peer) error
}

// leaving is how long leaving a broker may take.
const leaving = 10 * time.Second

// leave takes back from its broker what an ended uplink has left there, unless it goes on at that broker
// with the same topics: then its parts do so themselves. c is what becomes of it; nil: nothing.
func (s *Set) leave(former *runner, c *Config) {
	u := former.uplink
	whole := c == nil || !c.leadsWhere(u.Config) || s.BaseOf(*c) != u.Base
	if u.IsService() || !whole && c.Has(HomeAssistant) == u.Has(HomeAssistant) {
		return
	}
	var leavers []Leaver
	for _, part := range former.parts {
		if leaver, ok := part.(Leaver); ok {
			leavers = append(leavers, leaver)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), leaving)
	defer cancel()
	if err := s.takeBack(ctx, former, leavers, whole); err != nil {
		s.options.Log.Warn("an uplink has left something at its broker: retained topics may stay", "uplink", u.Name, "err", err)
	}
}

// takeBack connects once more for leave; whole also removes how the appliance was.
func (s *Set) takeBack(ctx context.Context, former *runner, leavers []Leaver, whole bool) error {
	u := former.uplink
	connect := func() (Connection, error) { return s.dial(ctx, u, "-leaving") }
	if u.Own() {
		connect = func() (Connection, error) { return former.connect(ctx) }
	}
	conn, err := connect()
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, leaver := range leavers {
		if err := leaver.Leave(ctx, conn); err != nil {
			return err
		}
	}
	if !whole {
		return nil
	}
	for _, topic := range []string{"/availability", "/health"} {
		if err := conn.Publish(ctx, Message{Topic: u.Base + topic, QoS: 1, Retain: true}); err != nil {
			return err
		}
	}
	return nil
}
