package sim

import (
	"context"
	"log/slog"
	"net"
	"strconv"
	"sync"
	"time"

	"sensegate/broker/wire"
	"sensegate/motion"
)

// restartPause is the duration of a restart. It doubles each time the broker refuses
// the box again within soon.
const (
	restartPause    = time.Second
	mostRestartings = 5 // doublings
	soon            = time.Minute
)

// wrongPassword is no token that a gatekeeper gives.
const wrongPassword = "wrong password"

// box is an access point or extender: it bootstraps and runs one or two agents.
// switchOn and switchOff belong to one goroutine.
type box struct {
	index    int // of its node
	home     *Home
	gate     *gatekeeper
	settings *settings
	radar    *agent
	guardian *agent // on the master in the modes with a guardian, nil otherwise
	log      *slog.Logger
	record   func() motion.Radar       // returns its record at present
	adopted  func(c *wire.LocalConfig) // called with every answer that gives access
	online   func()                    // called when an agent has connected

	restarts chan restart  // holds at most one
	news     chan struct{} // a leaf has come; holds at most one
	refusal  Refusal       // since it was switched on
	// These belong to the goroutine of switchOn.
	token    string // of the last answer
	wipe     bool   // the next post reports a factory reset
	refusals int    // in a row, each soon after the start
	letIn    bool   // although it was OtherNetwork

	off  context.CancelFunc
	done chan struct{}
}

// restart is the reason why a box bootstraps again.
type restart struct {
	reason string
	reset  bool
	err    error
}

func (b *box) node() *Node { return &b.home.Nodes[b.index] }

// running reports whether the box is switched on.
func (b *box) running() bool { return b.off != nil }

// agents returns the agents of the box.
func (b *box) agents() []*agent {
	if b.guardian == nil {
		return []*agent{b.radar}
	}
	return []*agent{b.radar, b.guardian}
}

// connected reports whether all its agents have a connection.
func (b *box) connected() bool {
	for _, a := range b.agents() {
		if !a.online() {
			return false
		}
	}
	return true
}

// switchOn starts the box, which is refused as r says; it runs until switchOff or the end
// of ctx.
func (b *box) switchOn(ctx context.Context, r Refusal) {
	life, cancel := context.WithCancel(ctx)
	b.off, b.done, b.refusal, b.letIn = cancel, make(chan struct{}), r, false
	go func() {
		defer close(b.done)
		for life.Err() == nil {
			b.live(ctx, life)
		}
	}()
}

// switchOff stops the box and waits for it: abruptly as a power cut does, or with
// DISCONNECT when the context of switchOn has ended.
func (b *box) switchOff() {
	if b.off == nil {
		return
	}
	b.off()
	<-b.done
	b.off = nil
}

// again makes the box bootstrap again, unless a restart is pending.
func (b *box) again(r restart) {
	select {
	case b.restarts <- r:
	default:
	}
}

// live bootstraps, connects and works until the power fails (life ends), the run
// ends (ctx does) or the box restarts.
func (b *box) live(ctx, life context.Context) {
	if b.refusal == OtherNetwork && !b.letIn {
		b.letIn = b.liveNextDoor(ctx, life)
		_ = pause(life, restartPause<<min(b.refusals, mostRestartings))
		return
	}
	access, err := b.gate.bootstrap(life, b.post(), b.token)
	if err != nil {
		return
	}
	b.token, b.wipe = access.Radar.MQToken, false
	b.log.Info("adopted", "node", b.node().Name, "network", access.Radar.NetworkID)
	b.adopted(access)
	select {
	case <-b.restarts: // requested before this start
	default:
	}
	began := time.Now()
	working, stop := context.WithCancel(life)
	var workers sync.WaitGroup
	sessions := b.open(working, &workers, access, b.refusal == WrongPassword)
	for working := true; working; {
		select {
		case <-life.Done():
			working = false
		case r := <-b.restarts:
			b.note(r, time.Since(began))
			working = false
		case <-b.news:
			b.repost(life, access)
		}
	}
	b.end(stop, sessions, life.Err() != nil && ctx.Err() == nil)
	workers.Wait()
	_ = pause(life, restartPause<<min(b.refusals, mostRestartings))
}

// end stops the work with sessions and ends them: abruptly as a power cut does, or with
// DISCONNECT.
func (b *box) end(stop context.CancelFunc, sessions []*session, abrupt bool) {
	for _, a := range b.agents() {
		a.session.Store(nil)
	}
	stop()
	for _, s := range sessions {
		if abrupt {
			s.cutOff()
		} else {
			s.close()
		}
	}
}

// note prepares the restart r of a box that has lived so long.
func (b *box) note(r restart, lived time.Duration) {
	b.wipe = r.reset
	if lived > soon {
		b.refusals = 0
	}
	if r.err != nil {
		b.refusals++
		b.log.Warn("starting again", "node", b.node().Name, "reason", r.reason, "err", r.err)
		return
	}
	b.log.Info("starting again", "node", b.node().Name, "reason", r.reason)
}

// open opens a session for every agent to which the answer gives access; mistaken says that
// they log in with a wrong password.
func (b *box) open(ctx context.Context, workers *sync.WaitGroup, access *wire.LocalConfig, mistaken bool) []*session {
	var sessions []*session
	connect := func(a *agent, server string, port int, token string) {
		c := credentials{device: a.device, server: net.JoinHostPort(server, strconv.Itoa(port)), token: token}
		calls := b.callbacks(a)
		if mistaken { // it knows no better, and tries again and again
			c.token = wrongPassword
			calls.refused = func(err error) { a.log.Warn("wrong password", "node", b.node().Name, "err", err) }
		}
		s := openSession(c, b.will(a), calls)
		a.session.Store(s)
		sessions = append(sessions, s)
		workers.Go(func() { a.drain(ctx, s) })
	}
	connect(b.radar, access.Radar.MQServer, access.Radar.MQPort, access.Radar.MQToken)
	if g := access.Guardian; g != nil && b.guardian != nil {
		connect(b.guardian, g.MQServer, g.MQPort, g.MQToken)
	}
	return sessions
}

func (b *box) callbacks(a *agent) callbacks {
	return callbacks{
		command: func(name string, payload []byte) { b.command(a, name, payload) },
		online: func() {
			a.tally.connections.Add(1)
			a.log.Info("connected")
			b.online()
		},
		lost:    func() { a.log.Info("connection lost") },
		refused: func(err error) { b.again(restart{reason: "refused by the broker", err: err}) },
	}
}

// will returns the message that the broker publishes when an agent vanishes without
// DISCONNECT. It is made when the agent connects, so it carries no time.
func (b *box) will(a *agent) []byte {
	_, _, payload, err := wire.Encode(motion.EventReport{Event: motion.Event{
		Category: motion.CategorySystem, Event: "DeviceDisconnectedEvent", GuardianID: b.home.GuardianID,
		NodeName: b.node().Name, DeviceID: b.node().DeviceID, Detail: motion.Document{"agent": a.device.String()},
	}})
	if err != nil {
		b.log.Error("encode will", "device", a.device.String(), "err", err)
	}
	return payload
}

// post returns the box's request to the gatekeeper (device-protocol.md 1).
func (b *box) post() motion.Bootstrap {
	return motion.Bootstrap{Radar: b.record(), FactoryReset: b.wipe, LocationID: b.home.GuardianID}
}
