// Package remotecore answers requests of the Core interface that come over an outside broker: a central
// program reaches every home behind its router without an open port. It knows the form of requests and
// answers, deadlines, and which request was run already. It must not know an operation, or decide who
// may call one: each request goes through the interface's own handler, with its API key.
package remotecore

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"sensegate/motion"
	"sensegate/motion/uplink"
)

const (
	workers = 4  // requests that run at once
	waiting = 16 // requests that wait
)

// Part answers the requests of one uplink. Its methods may be called concurrently; Run runs once at a
// time.
type Part struct {
	uplink uplink.Uplink
	core   http.Handler
	now    func() motion.Time
	log    *slog.Logger

	memory  memory
	ignored atomic.Uint64
}

// New returns the part of an uplink. core serves the paths below /core/; now returns 0 while the clock
// has not been set.
func New(u uplink.Uplink, core http.Handler, now func() motion.Time, log *slog.Logger) *Part {
	return &Part{uplink: u, core: core, now: now, log: log, memory: memory{known: map[string]*entry{}}}
}

// Report returns how many messages were no requests.
func (p *Part) Report() uplink.Report { return uplink.Report{Refused: p.ignored.Load()} }

// Run answers requests until ctx ends, or an answer is not acknowledged. Requests that run then end
// before Run returns; who asks again with the same id receives their answer.
func (p *Part) Run(ctx context.Context, peer uplink.Peer) error {
	queue := make(chan request, waiting)
	group, running := errgroup.WithContext(ctx)
	for range workers {
		group.Go(func() error { return p.work(running, peer, queue) })
	}
	var hearing sync.Mutex
	ended := false
	hear := func(m uplink.Message) {
		hearing.Lock()
		defer hearing.Unlock()
		if !ended {
			p.hear(peer, queue, m)
		}
	}
	group.Go(func() error { return peer.Subscribe(running, p.uplink.Base+"/core", hear) })
	err := group.Wait()
	hearing.Lock()
	ended = true
	hearing.Unlock()
	close(queue)
	for r := range queue { // not run, and may come again
		p.memory.drop(r.ID)
	}
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// hear takes a message, and answers at once what need not be run. It does not wait.
func (p *Part) hear(peer uplink.Peer, queue chan<- request, m uplink.Message) {
	if m.Retain { // whoever keeps a request at a broker wants it run at each connection
		p.ignore("retained message is no request")
		return
	}
	r, sum, err := parse(m.Payload)
	if err != nil {
		p.ignore(err.Error())
		return
	}
	now := p.now()
	if refused := r.check(now); refused != nil {
		p.offer(peer, refused)
		return
	}
	switch verdict, kept := p.memory.begin(r, sum, now); verdict {
	case fresh:
		select {
		case queue <- r:
		default:
			p.memory.drop(r.ID)
			p.offer(peer, refuse(r.ID, http.StatusServiceUnavailable, "unavailable", "too many requests at once: not run, try again"))
		}
	case running:
	case answered:
		p.offer(peer, kept)
	case forgotten:
		p.offer(peer, refuse(r.ID, http.StatusConflict, "answered_before", "this request was run, and its answer is no longer kept"))
	case another:
		p.offer(peer, refuse(r.ID, http.StatusConflict, "id_taken", "another request had this id: not run"))
	case crowded:
		p.offer(peer, refuse(r.ID, http.StatusServiceUnavailable, "unavailable", "too many requests in a short time: not run, try again"))
	}
}

// ignore counts a message that is no request, and logs the first one.
func (p *Part) ignore(why string) {
	if p.ignored.Add(1) == 1 {
		p.log.Warn("message for Core not understood", "uplink", p.uplink.Name, "why", why)
	}
}

// work runs the requests of a queue. What has begun goes on when the connection ends: half of a change
// would be worse than an answer that nobody hears.
func (p *Part) work(ctx context.Context, peer uplink.Peer, queue <-chan request) error {
	for {
		var r request
		select {
		case <-ctx.Done():
			return nil
		case r = <-queue:
		}
		a := r.check(p.now()) // it may have waited
		if a == nil {
			a = p.run(context.WithoutCancel(ctx), r)
		}
		if r.changedNothing(a.Status) {
			p.memory.drop(r.ID)
		} else {
			p.memory.end(r.ID, a)
		}
		if err := peer.Publish(ctx, p.message(a, 1)); err != nil {
			return err
		}
	}
}

// run runs a request. Core's own log has a line of it; this one says from where it came.
func (p *Part) run(ctx context.Context, r request) *answer {
	a := r.run(ctx, p.core, "uplink "+p.uplink.Name)
	path, _, _ := strings.Cut(r.Path, "?")
	p.log.Info("request from afar", "uplink", p.uplink.Name, "method", r.Method, "path", path[:min(len(path), 128)], "status", a.Status, "id", r.ID)
	return a
}

// offer sends an answer without waiting.
func (p *Part) offer(peer uplink.Peer, a *answer) { peer.Offer(p.message(a, 0)) }

// message returns the message of an answer.
func (p *Part) message(a *answer, qos byte) uplink.Message {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(a) // the body is JSON
	return uplink.Message{Topic: p.uplink.Base + "/core/reply/" + a.ID, Payload: bytes.TrimSpace(text.Bytes()), QoS: qos}
}
