package sim

import (
	"context"
	"time"

	"sensegate/motion"
)

// missedBlocks is how many motion-history messages a guardian keeps: a day.
const missedBlocks = 288

// guardian drives the guardian agent in the modes matrix and event: it measures and
// reports live and missed motion, status and, in the mode event, events. It belongs
// to the home's goroutine.
type guardian struct {
	agent    *agent
	settings *settings
	raises   bool // sends its own events
	start    motion.Time

	measure *measurer
	past    *past
	alarm   alarm
	missed  []motion.History

	connected  bool        // at the last step
	greeted    bool        // has sent its first full status
	beat, full motion.Time // when the next heartbeat and full status are due
}

func newGuardian(w *world, a *agent, s *settings, raises bool, start motion.Time) *guardian {
	return &guardian{
		agent: a, settings: s, raises: raises, start: start,
		measure: newMeasurer(w), past: newPast(w), alarm: alarm{home: w.home, links: w.links, seed: w.seed},
	}
}

// step does what is due at t.
func (g *guardian) step(ctx context.Context, t motion.Time, network motion.NetworkID) {
	online := g.agent.online()
	config := g.settings.take(time.Now())
	if config.paused {
		g.alarm.reset()
	} else {
		g.sense(ctx, t, config, online)
	}
	if online {
		g.catchUp(ctx)
		g.status(ctx, t, config, network)
	}
	g.connected = online
}

// sense measures once and reports the result.
func (g *guardian) sense(ctx context.Context, t motion.Time, config snapshot, online bool) {
	events := config.guardian.MotionEvents
	s := g.measure.measure(t, config.radar, events.Sens)
	raised := g.alarm.take(s, events)
	live := config.live && online
	if live {
		tripped := 0
		if g.alarm.tripped {
			tripped = 1
		}
		live = g.agent.report(ctx, s.matrix(g.measure.world.links, g.alarm.last, tripped))
	}
	if block := g.past.take(s, live); block != nil && config.guardian.MotionHistory.Enabled == 1 {
		g.missed = append(g.missed, *block)
		if extra := len(g.missed) - missedBlocks; extra > 0 {
			g.missed = g.missed[extra:]
		}
	}
	if raised != nil && g.raises {
		e := *raised
		e.ID, e.Tag = "", ""
		if g.agent.report(ctx, motion.EventReport{UUID: raised.ID, Event: e}) {
			g.agent.tally.events.Add(1)
		}
	}
}

// catchUp queues the missed blocks, oldest first, until the outbox is full.
func (g *guardian) catchUp(ctx context.Context) {
	for len(g.missed) > 0 && g.agent.report(ctx, g.missed[0]) {
		g.missed = g.missed[1:]
		g.agent.tally.history.Add(1)
	}
}

// status sends a full report on every connection, when asked and at the configured
// interval, and a heartbeat between them.
func (g *guardian) status(ctx context.Context, t motion.Time, config snapshot, network motion.NetworkID) {
	full := !g.connected || config.wantFull || t >= g.full
	if !full && t < g.beat {
		return
	}
	report := motion.StatusReport{
		TS: t, NetworkID: network, GuardianID: g.agent.device.ID, LastMotion: g.alarm.last, MotionEnabled: 1, Rev: config.rev,
		MotionTripped: new(int),
	}
	if g.alarm.tripped {
		*report.MotionTripped = 1
	}
	if config.paused {
		report.MotionEnabled = 0
	}
	if full {
		w := g.measure.world
		fullStatus(&report, &w.home, w.links, w.up(t), g.start)
		report.Startup = !g.greeted
		g.greeted, g.full = true, t.Add(float64(max(1, config.guardian.Status.IntervalS)))
	}
	g.beat = t.Add(float64(max(1, config.guardian.Status.HeartbeatS)))
	if g.agent.report(ctx, report) {
		g.agent.tally.statuses.Add(1)
	}
}
