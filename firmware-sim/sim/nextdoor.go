package sim

import (
	"context"
	"sync"
	"time"

	"sensegate/broker/wire"
	"sensegate/motion"
)

// nextDoor is the number of the home whose network holds the nodes that are OtherNetwork.
const nextDoor = 255

// connecting is the time between two looks whether a box is connected.
const connecting = 100 * time.Millisecond

// liveNextDoor connects the box as the master of the network next door and posts to the
// gatekeeper of the home until that lets it in, the power fails, the run ends or the box
// restarts. It reports whether it was let in.
func (b *box) liveNextDoor(ctx, life context.Context) (letIn bool) {
	access, err := b.gate.bootstrap(life, b.postNextDoor(), b.token)
	if err != nil {
		return false
	}
	b.token = access.Radar.MQToken
	b.log.Info("adopted next door", "node", b.node().Name, "network", access.Radar.NetworkID)
	access.Guardian = nil
	working, stop := context.WithCancel(life)
	var workers sync.WaitGroup
	sessions := b.open(working, &workers, access, false)
	letIn = b.ask(life)
	b.end(stop, sessions, life.Err() != nil && ctx.Err() == nil)
	workers.Wait()
	return letIn
}

// ask posts to the gatekeeper of the home, without a token and while the box is connected next
// door, until it is let in, the power fails or the box restarts. It logs the reason for a
// refusal when it changes.
func (b *box) ask(life context.Context) (letIn bool) {
	told := ""
	for life.Err() == nil {
		if !b.radar.online() { // who is not connected may move
			if b.restarted(life, connecting) {
				return false
			}
			continue
		}
		answer, err := b.gate.follow(life, b.post(), "")
		wait := retryUnreachable
		switch {
		case err == nil && answer.LocalConfig != nil && answer.LocalConfig.Radar != nil:
			b.token = answer.LocalConfig.Radar.MQToken
			return true
		case err == nil:
			wait = retryAfter(answer)
			if answer.Reason != told {
				told = answer.Reason
				b.log.Info("refused by the gatekeeper", "node", b.node().Name, "reason", told, "retry", wait)
			}
		}
		if b.restarted(life, wait) {
			return false
		}
	}
	return false
}

// restarted waits for d and reports whether the power has failed or the box is to restart.
func (b *box) restarted(life context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return false
	case <-life.Done():
	case r := <-b.restarts:
		b.note(r, 0)
	}
	return true
}

// postNextDoor returns the box's request to lead the network next door.
func (b *box) postNextDoor() motion.Bootstrap {
	r := b.record()
	r.LocationID, r.RootMode, r.Links = guardianID(nextDoor), motion.RootModeMaster, []motion.RadarLink{}
	return motion.Bootstrap{Radar: r, LocationID: r.LocationID}
}

// repost posts the record of an adopted box again, so that the appliance learns of leafs that
// have come. Its answer is of no use to a box that is connected.
func (b *box) repost(life context.Context, access *wire.LocalConfig) {
	if _, err := b.gate.follow(life, b.post(), access.Radar.MQToken); err != nil && life.Err() == nil {
		b.log.Warn("post the record again", "node", b.node().Name, "err", err)
	}
}
