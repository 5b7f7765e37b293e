// Package remotewrite sends motion by the minute, and the health of devices and links, to a service
// that takes Prometheus Remote Write 1.0: Prometheus, VictoriaMetrics, Mimir, Thanos. It knows series,
// their encoding, and what each answer means. It must not know the engine, or where a cursor is kept.
package remotewrite

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"sync"
	"time"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/uplink"
)

// Options are what a Part needs.
type Options struct {
	Uplink uplink.Uplink
	Source Source
	// Cursor returns the end of the last minute that was sent, and Keep stores it.
	Cursor func(context.Context) (motion.Time, error)
	Keep   func(context.Context, motion.Time) error
	Now    func() motion.Time // 0: the clock has not been set
	Log    *slog.Logger
}

const (
	settled     = 30 * time.Second      // after which a minute is taken to be complete
	mostBack    = 7 * 24 * time.Hour    // how far back minutes are sent
	mostMinutes = 60                    // in a request
	mostSamples = 2000                  // in a request
	keepEach    = 5 * time.Minute       // how often the cursor is stored: sending a sample twice does no harm
	pause       = 20 * time.Millisecond // between requests, so that catching up leaves room for others
	defaultWait = 30 * time.Second      // for a receiver that asks to try again and does not say when
)

// Part sends the series of one uplink. Its methods may be called concurrently; Run runs once at a time.
type Part struct {
	options  Options
	receiver *receiver
	failed   error // why there is no receiver

	mu     sync.Mutex
	report uplink.Report
}

// New returns the Part of an uplink to http or https.
func New(o Options) *Part {
	p := &Part{options: o}
	p.receiver, p.failed = newReceiver(o.Uplink)
	return p
}

// Report returns what was sent.
func (p *Part) Report() uplink.Report {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.report
}

// Run sends until ctx ends. There is no peer: each request is a connection of its own.
func (p *Part) Run(ctx context.Context, _ uplink.Peer) error {
	if p.failed != nil {
		return &uplink.Failure{Text: p.failed.Error(), Step: uplink.Reach, Slow: true, Err: p.failed}
	}
	defer p.receiver.client.CloseIdleConnections()
	r, err := p.newRun(ctx)
	if err != nil {
		return err
	}
	defer r.keep(context.WithoutCancel(ctx))
	for ctx.Err() == nil {
		wait, err := r.catchUp(ctx)
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
	return nil
}

// Test says whether the receiver takes a request, with one that holds no series.
func (p *Part) Test(ctx context.Context) []uplink.TestStep {
	done := []uplink.TestStep{
		{Step: uplink.Reach, OK: true, Text: "there is a way to " + p.options.Uplink.Host()},
		{Step: uplink.Login, OK: true, Text: p.options.Uplink.Host() + " accepts the client"},
		{Step: uplink.Publish, OK: true, Text: p.options.Uplink.Host() + " takes Remote Write"},
	}
	err := p.failed
	if err == nil {
		defer p.receiver.client.CloseIdleConnections()
		err = p.receiver.send(ctx, nil)
	}
	if err == nil {
		return done
	}
	step := uplink.Publish
	if f := (*uplink.Failure)(nil); errors.As(err, &f) {
		step = f.Step
	} else if p.failed != nil || ctx.Err() != nil {
		step = uplink.Reach
	}
	for i := range done {
		if done[i].Step == step {
			done[i] = uplink.TestStep{Step: step, Text: err.Error(), Code: uplink.CodeOf(err)}
			return done[:i+1]
		}
	}
	return done
}

// delay is how long after a minute is complete it is sent: another time for each box, so that a
// thousand of them do not come in one second.
func delay(box string) time.Duration {
	h := fnv.New32a()
	_, _ = h.Write([]byte(box)) // never fails
	return time.Duration(h.Sum32()%minute) * time.Second
}

// run is one Run.
type run struct {
	*Part
	builder
	at     motion.Time // beginning of the next minute
	kept   motion.Time // that is stored
	keptAt time.Time
	chunk  int64 // minutes of the next request

	refused int    // minutes of which something was refused since the last round in which nothing was
	said    string // by the receiver, about the last of them
}

func (p *Part) newRun(ctx context.Context) (*run, error) {
	at, err := p.options.Cursor(ctx)
	if err != nil {
		return nil, fmt.Errorf("read cursor of uplink %s: %w", p.options.Uplink.Name, err)
	}
	return &run{Part: p, builder: builder{p.options.Source, p.options.Uplink}, at: at, kept: at, keptAt: time.Now(), chunk: mostMinutes}, nil
}

// keep stores how far sending has come.
func (r *run) keep(ctx context.Context) {
	if r.at == r.kept {
		return
	}
	if err := r.options.Keep(ctx, r.at); fault.KindOf(err) == fault.Unavailable {
		return // the disk has no room: minutes go out all the same
	} else if err != nil {
		r.options.Log.Warn("cursor of an uplink not stored", "uplink", r.uplink.Name, "err", err)
		return
	}
	r.kept, r.keptAt = r.at, time.Now()
}

// catchUp sends all complete minutes and returns how long to wait for the next one. Its error is a
// *uplink.Failure.
func (r *run) catchUp(ctx context.Context) (time.Duration, error) {
	now := r.options.Now()
	if now == 0 {
		r.tell("the clock of this box is not set: nothing is sent until it is", 0)
		return 10 * time.Second, nil
	}
	end := beginning(now.Add(-settled.Seconds()))
	if r.at > end.Add(minute) { // the clock was ahead
		r.options.Log.Warn("uplink was ahead of the clock", "uplink", r.uplink.Name)
		r.at = end
		r.keep(ctx)
	}
	r.at = max(r.at, beginning(now.Add(-mostBack.Seconds())))
	accepted, refusedBefore := false, r.refused
	for r.at < end && ctx.Err() == nil {
		n := min(r.chunk, int64(end.Since(r.at))/minute)
		wait, err := r.sendMinutes(ctx, n, end)
		if err != nil || wait > 0 {
			return wait, err
		}
		accepted = true
		if time.Since(r.keptAt) > keepEach {
			r.keep(ctx)
		}
		sleep(ctx, pause)
	}
	if accepted && r.refused == refusedBefore {
		r.refused = 0
	}
	r.tell(r.refusal(), 0)
	next := end.Add(minute + settled.Seconds() + delay(r.uplink.Box).Seconds())
	return min(max(time.Second, time.Duration(next.Since(now)*float64(time.Second))), 2*time.Minute), nil
}

// sendMinutes sends the next n minutes. Of what is refused it tries half, the older one, down to one
// minute, which is left out: so nothing is left out that a receiver takes, and older samples come first.
// A wait is what the receiver asked for.
func (r *run) sendMinutes(ctx context.Context, n int64, end motion.Time) (wait time.Duration, err error) {
	to := r.at.Add(float64(n) * minute)
	series, err := r.build(ctx, r.at, to, end)
	if err != nil {
		return 0, err
	}
	lost := false
	for _, batch := range batches(series) {
		err := r.receiver.send(ctx, batch)
		var refused *refusedError
		var later *laterError
		switch {
		case err == nil:
			r.count(1, 0)
		case errors.As(err, &refused) && n > 1:
			r.chunk = n / 2
			return 0, nil
		case errors.As(err, &refused):
			lost, r.said = true, refused.words
			r.count(0, samplesIn(batch))
		case errors.As(err, &later):
			r.tell(later.words, int(int64(end.Since(r.at))/minute))
			if later.after == 0 {
				return defaultWait, nil
			}
			return later.after, nil
		default:
			return 0, err
		}
	}
	if lost {
		r.refused++
	} else {
		r.chunk = min(mostMinutes, 2*n)
	}
	r.at = to
	r.tell(r.refusal(), int(int64(end.Since(r.at))/minute))
	return 0, nil
}

// refusal says what was refused.
func (r *run) refusal() string {
	if r.refused == 0 {
		return ""
	}
	return fmt.Sprintf("%s refused samples of %d minutes, which are not sent again: %s", r.receiver.host, r.refused, r.said)
}

// tell sets what is wrong, and how many minutes wait.
func (r *run) tell(trouble string, waiting int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if trouble != "" && r.report.Trouble == "" {
		r.options.Log.Warn("uplink has trouble", "uplink", r.uplink.Name, "trouble", trouble)
	}
	r.report.Trouble, r.report.Queue = trouble, waiting
}

// count counts requests that were accepted and samples that were not.
func (r *run) count(requests, rejected int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Sent += uint64(requests)
	r.report.Rejected += uint64(rejected)
}

// batches parts series into requests.
func batches(all []timeSeries) (parts [][]timeSeries) {
	first, samples := 0, 0
	for i, s := range all {
		if samples+len(s.samples) > mostSamples && i > first {
			parts = append(parts, all[first:i])
			first, samples = i, 0
		}
		samples += len(s.samples)
	}
	if first < len(all) {
		parts = append(parts, all[first:])
	}
	return parts
}

func samplesIn(all []timeSeries) (n int) {
	for _, s := range all {
		n += len(s.samples)
	}
	return n
}

// beginning returns the beginning of the minute of a time.
func beginning(t motion.Time) motion.Time {
	second := t.Second()
	return motion.Time(second - second%minute)
}

// sleep waits, and not longer than ctx.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
