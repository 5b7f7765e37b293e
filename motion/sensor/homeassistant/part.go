package homeassistant

import (
	"context"
	"path"
	"strings"
	"sync/atomic"
	"time"

	"sensegate/motion"
	"sensegate/motion/sensor"
	"sensegate/motion/uplink"
)

// Nodes takes in what nodes say that sense by radio and decide themselves. Its methods may be called concurrently.
type Nodes interface {
	// OutsideFilters returns the filters of the topics at which such nodes are recognised.
	OutsideFilters() []string
	// OutsideConnected and OutsideGone say that a broker is heard, by the name of its uplink, and no longer.
	OutsideConnected(uplink string)
	OutsideGone(uplink string)
	// OutsideSaid takes in a message. It returns the topic below which its node publishes, "" if it is of
	// none, and the other topics of that node.
	OutsideSaid(uplink, topic string, payload []byte, retained bool) (node string, follow []string)
}

// Options are of one uplink.
type Options struct {
	Uplink    string             // its name
	Discovery string             // prefix of Home Assistant's discovery, such as homeassistant
	Base      string             // of this box's own topics there: a prefix, and the id of the box
	Networks  []motion.NetworkID // that the uplink serves; none: all
	Nodes     Nodes              // nil: none are heard
}

// Part returns what listens to the broker of an uplink. There is one for each uplink at a time.
func (p *Provider) Part(o Options) uplink.Part {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.hubs[o.Uplink]
	if h == nil {
		h = &hub{name: o.Uplink, radios: map[string]bool{}}
		p.hubs[o.Uplink] = h
	}
	h.networks = o.Networks
	return &listener{provider: p, options: o, hub: h}
}

// listener is the Part of an uplink.
type listener struct {
	provider *Provider
	options  Options
	hub      *hub

	refused atomic.Uint64 // messages that could not be used
	trouble atomic.Value  // string: what keeps it from hearing
}

// Report returns what could not be used.
func (l *listener) Report() uplink.Report {
	trouble, _ := l.trouble.Load().(string)
	return uplink.Report{Refused: l.refused.Load(), Trouble: trouble}
}

// Removed forgets the hub of the uplink: its things are offline.
func (l *listener) Removed() {
	l.provider.mu.Lock()
	defer l.provider.mu.Unlock()
	if l.provider.hubs[l.options.Uplink] == l.hub {
		delete(l.provider.hubs, l.options.Uplink)
	}
}

// bad counts a message that could not be used.
func (l *listener) bad(reason string, message []byte) {
	l.refused.Add(1)
	l.provider.bad(reason, message)
}

// Limits of a connection, and times.
const (
	maxMessage       = 64 << 10 // bytes
	maxWaiting       = 8192     // messages that wait
	maxWaitingBytes  = 8 << 20
	maxSubscriptions = 2048
	settleAfter      = 3 * time.Second // in which a broker tells what it keeps
	step             = time.Second
	longestRetry     = 30 * time.Second
)

// session is one connection.
type session struct {
	*listener
	peer     uplink.Peer
	own      func(topic string) bool
	messages chan uplink.Message
	bytes    atomic.Int64 // of messages
	lost     atomic.Int64 // messages that did not fit

	fixed    map[string]bool // filters whose messages come as long as the connection lasts
	asked    map[string]bool // topics of things whose messages come
	asks     int
	listed   bool // the list of things has changed since it was last delivered
	toSettle int  // steps
}

// Run listens until ctx ends.
func (l *listener) Run(ctx context.Context, peer uplink.Peer) error {
	s := &session{
		listener: l, peer: peer, own: ownTopics(path.Dir(l.options.Base)), messages: make(chan uplink.Message, maxWaiting),
		fixed: map[string]bool{}, asked: map[string]bool{}, toSettle: int(settleAfter / step),
	}
	s.trouble.Store("")
	s.connect(ctx, true)
	defer s.connect(context.WithoutCancel(ctx), false)
	if nodes := l.options.Nodes; nodes != nil {
		nodes.OutsideConnected(l.options.Uplink)
		defer nodes.OutsideGone(l.options.Uplink)
		s.subscribe(ctx, s.fixed, nodes.OutsideFilters()...)
	}
	d := l.options.Discovery
	s.subscribe(ctx, s.fixed, d+"/binary_sensor/+/config", d+"/binary_sensor/+/+/config", d+"/device/+/config", d+"/device/+/+/config")
	ticker := time.NewTicker(step)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case m := <-s.messages:
			s.bytes.Add(-int64(len(m.Payload)))
			s.take(ctx, m)
		case <-ticker.C:
			s.step(ctx)
		}
	}
}

// connect notes that the broker is heard, or no longer.
func (s *session) connect(ctx context.Context, yes bool) {
	p, h := s.provider, s.hub
	p.mu.Lock()
	h.connected, h.changed = yes, motion.TimeOf(p.now())
	for _, t := range h.things {
		t.seen = false
	}
	var readings []sensor.Reading
	if h.settled {
		for _, f := range h.found() {
			readings = append(readings, f.Reading)
		}
	}
	p.mu.Unlock()
	limit, cancel := context.WithTimeout(ctx, longestRetry)
	defer cancel()
	if err := p.deliver(limit, readings, false); err != nil {
		p.log.Warn("sensors not delivered", "uplink", s.options.Uplink, "err", err)
	}
}

// hear puts a message into the queue. It is called by the connection, and does not wait.
func (s *session) hear(m uplink.Message) {
	size := int64(len(m.Payload))
	if size > maxMessage || s.bytes.Add(size) > maxWaitingBytes {
		if size <= maxMessage {
			s.bytes.Add(-size)
		}
		s.lost.Add(1)
		return
	}
	select {
	case s.messages <- m:
	default:
		s.bytes.Add(-size)
		s.lost.Add(1)
	}
}

// subscribe asks for the messages of topics that were not asked for yet, and notes them in asked.
func (s *session) subscribe(ctx context.Context, asked map[string]bool, filters ...string) {
	for _, filter := range filters {
		if s.fixed[filter] || s.asked[filter] || ctx.Err() != nil {
			continue
		}
		if s.asks >= maxSubscriptions {
			s.bad("too many topics are announced: the others are not heard until the next connection", []byte(filter))
			return
		}
		asked[filter] = true
		s.asks++
		if err := s.peer.Subscribe(ctx, filter, s.hear); err != nil && ctx.Err() == nil {
			s.trouble.Store(err.Error())
			s.provider.log.Warn("topic not heard", "uplink", s.options.Uplink, "topic", filter, "err", err)
		}
	}
}

// take handles a message.
func (s *session) take(ctx context.Context, m uplink.Message) {
	p := s.provider
	if s.own(m.Topic) {
		return
	}
	if strings.HasPrefix(m.Topic, s.options.Discovery+"/") && strings.HasSuffix(m.Topic, "/config") {
		s.announce(ctx, m)
		return
	}
	p.mu.Lock()
	readings, wrong := s.hub.hear(m, p.now())
	p.mu.Unlock()
	if wrong != nil {
		s.bad(wrong.Error(), m.Payload)
	}
	s.deliver(ctx, readings, false)
	if s.options.Nodes == nil {
		return
	}
	if node, follow := s.options.Nodes.OutsideSaid(s.options.Uplink, m.Topic, m.Payload, m.Retain); node != "" {
		p.mu.Lock()
		s.listed = s.hub.addRadio(node) || s.listed
		p.mu.Unlock()
		s.subscribe(ctx, s.fixed, follow...)
	}
}

// announce handles an announcement.
func (s *session) announce(ctx context.Context, m uplink.Message) {
	p := s.provider
	a, err := decode(m.Topic, m.Payload, s.own)
	if err != nil {
		s.bad(err.Error(), m.Payload)
		return
	}
	elsewhere := func(key string) bool {
		for _, other := range p.hubs {
			if other != s.hub && other.has(key) {
				return true
			}
		}
		return false
	}
	p.mu.Lock()
	changed, wrong := s.hub.announce(m.Topic, a.entities, elsewhere)
	topics := s.hub.topics()
	p.mu.Unlock()
	for _, err := range append(a.wrong, wrong...) {
		s.bad(err.Error(), m.Payload)
	}
	s.listed = s.listed || changed
	for topic := range s.asked { // so that what the broker keeps comes again when a thing comes again
		if !topics[topic] {
			delete(s.asked, topic)
		}
	}
	for topic := range topics {
		s.subscribe(ctx, s.asked, topic)
	}
}

// step does what is due once a second.
func (s *session) step(ctx context.Context) {
	p := s.provider
	p.mu.Lock()
	readings := s.hub.pass(p.now())
	if s.toSettle > 0 && len(s.messages) == 0 {
		if s.toSettle--; s.toSettle == 0 {
			s.hub.settle()
			s.listed = true
		}
	}
	settled := s.hub.settled
	p.mu.Unlock()
	if s.lost.Swap(0) > 0 {
		s.bad("messages were too long, or came faster than they could be taken in", nil)
	}
	s.deliver(ctx, readings, s.listed && settled)
}

// deliver delivers readings, again and again while they cannot be stored.
func (s *session) deliver(ctx context.Context, readings []sensor.Reading, listed bool) {
	for wait := step; ; wait = min(2*wait, longestRetry) {
		err := s.provider.deliver(ctx, readings, listed)
		if err == nil {
			s.listed = s.listed && !listed
			return
		}
		if ctx.Err() != nil {
			return
		}
		s.provider.log.Warn("sensors not delivered", "uplink", s.options.Uplink, "err", err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}
