package uplink

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store"
)

const (
	eventBatch = 256                    // events that are read at once
	eventPause = 128 * time.Millisecond // between full batches: 2,000 events a second at most
	cursorSave = 10 * time.Second       // between two writes of a cursor
	lastWait   = time.Second            // for acknowledgements at the end
	onTheirWay = 256                    // events that were sent and are not confirmed, beyond what the connection allows
)

// eventPump sends every event after its cursor, in the order in which they were stored, and moves the
// cursor on when the broker has acknowledged. After a power cut some come twice, none is left out.
type eventPump struct {
	uplink Uplink
	db     *store.DB
	log    *slog.Logger

	mu      sync.Mutex
	loaded  bool
	cursor  uint64 // everything up to here is acknowledged
	saved   uint64
	sent    uint64
	missing uint64
}

// flight is an event, or more of them that need not be sent, on the way.
type flight struct {
	number       uint64       // the cursor once it is acknowledged
	acknowledged <-chan error // nil: nothing was sent
	isEvent      bool
}

// load reads the cursor at the first connection.
func (p *eventPump) load(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.loaded {
		return nil
	}
	return p.db.View(ctx, func(tx *store.Tx) error {
		cursor, _, err := tx.UplinkCursor(p.uplink.Name)
		if err != nil {
			return err
		}
		if cursor.Events != nil {
			p.cursor = *cursor.Events
		} else if p.cursor, err = tx.LastEventNumber(); err != nil { // the disk had no room for it
			return err
		}
		p.saved, p.loaded = p.cursor, true
		return nil
	})
}

// waiting returns how many events of a network are not acknowledged.
func (p *eventPump) waiting(ctx context.Context, id motion.NetworkID) (n int, err error) {
	if err := p.load(ctx); err != nil {
		return 0, err
	}
	p.mu.Lock()
	at := p.cursor
	p.mu.Unlock()
	for {
		var found []store.NumberedEvent
		err := p.db.View(ctx, func(tx *store.Tx) (err error) {
			found, at, err = tx.EventsAfter(at, eventBatch)
			return err
		})
		if err != nil || len(found) == 0 {
			return n, err
		}
		for _, e := range found {
			if e.NetworkID == id {
				n++
			}
		}
	}
}

// Run sends events until ctx ends or one is not acknowledged.
func (p *eventPump) Run(ctx context.Context, peer Peer) error {
	conn, ok := peer.(Connection)
	if !ok {
		return &Failure{Text: "events need a broker of their own", Slow: true}
	}
	if err := p.load(ctx); err != nil {
		return fmt.Errorf("read cursor: %w", err)
	}
	defer p.save(context.WithoutCancel(ctx))
	wake := make(chan struct{}, 1)
	defer p.db.WatchEvents(wake)()
	flights := make(chan flight, onTheirWay)
	group, running := errgroup.WithContext(ctx)
	group.Go(func() error {
		defer close(flights)
		return p.send(running, conn, wake, flights)
	})
	confirming, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	defer context.AfterFunc(running, func() { time.AfterFunc(lastWait, stop) })() // what is on its way at the end
	group.Go(func() error { return p.confirm(confirming, flights) })
	if err := group.Wait(); ctx.Err() == nil {
		return err
	}
	return nil
}

// send reads events and begins to send them.
func (p *eventPump) send(ctx context.Context, conn Connection, wake <-chan struct{}, flights chan<- flight) error {
	p.mu.Lock()
	at := p.cursor
	p.mu.Unlock()
	for ctx.Err() == nil {
		var found []store.NumberedEvent
		last := at
		err := p.db.View(ctx, func(tx *store.Tx) (err error) {
			found, last, err = tx.EventsAfter(at, eventBatch)
			return err
		})
		if err != nil {
			return fmt.Errorf("read events: %w", err)
		}
		if at, err = p.sendBatch(ctx, conn, at, found, last, flights); err != nil {
			return err
		}
		if len(found) == eventBatch {
			p.rest(ctx, eventPause)
			continue
		}
		select {
		case <-ctx.Done():
		case <-wake:
		}
	}
	return nil
}

// rest waits.
func (p *eventPump) rest(ctx context.Context, pause time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(pause):
	}
}

// sendBatch begins to send a batch that was read after the event at; last is the number up to which it
// goes, which it returns.
func (p *eventPump) sendBatch(ctx context.Context, conn Connection, at uint64, found []store.NumberedEvent, last uint64, flights chan<- flight) (uint64, error) {
	for _, event := range found {
		if missing := event.Number - at - 1; missing > 0 {
			if err := p.gap(ctx, conn, missing, event.Number-1, flights); err != nil {
				return at, err
			}
		}
		at = event.Number
		next := flight{number: at}
		if p.uplink.Carries(event.NetworkID) {
			raw, err := json.Marshal(event.Event)
			if err != nil {
				return at, fmt.Errorf("encode event: %w", err)
			}
			next.isEvent = true
			topic := fmt.Sprintf("%s/%d/event", p.uplink.Base, event.NetworkID)
			if next.acknowledged, err = conn.Begin(ctx, Message{Topic: topic, Payload: raw}); err != nil && fault.KindOf(err) != fault.Invalid {
				return at, err
			} else if err != nil { // no try would help
				p.log.Error("event cannot be sent", "uplink", p.uplink.Name, "event", event.ID, "err", err)
				next.isEvent = false
				p.miss(1)
			}
		}
		if err := pass(ctx, flights, next); err != nil {
			return at, err
		}
	}
	if last > at {
		return last, p.gap(ctx, conn, last-at, last, flights)
	}
	return at, nil
}

// pass hands a flight on.
func pass(ctx context.Context, flights chan<- flight, next flight) error {
	select {
	case flights <- next:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// gap tells the reader of events that were no longer there.
func (p *eventPump) gap(ctx context.Context, conn Connection, missing, until uint64, flights chan<- flight) error {
	raw := fmt.Appendf(nil, `{"missing":%d,"ts":%.3f}`, missing, float64(time.Now().UnixMilli())/1000)
	acknowledged, err := conn.Begin(ctx, Message{Topic: p.uplink.Base + "/event/gap", Payload: raw})
	if err != nil {
		return err
	}
	p.log.Warn("events were no longer kept when an uplink came to them", "uplink", p.uplink.Name, "missing", missing)
	p.miss(missing)
	return pass(ctx, flights, flight{number: until, acknowledged: acknowledged})
}

func (p *eventPump) miss(n uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.missing += n
}

// confirm moves the cursor on as the broker acknowledges, in order, and saves it now and then.
func (p *eventPump) confirm(ctx context.Context, flights <-chan flight) error {
	due := time.NewTimer(cursorSave)
	defer due.Stop()
	for {
		select {
		case <-due.C:
			p.save(ctx)
			due.Reset(cursorSave)
		case next, more := <-flights:
			if !more {
				return nil
			}
			if next.acknowledged != nil {
				select {
				case err := <-next.acknowledged:
					if err != nil {
						return err
					}
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			p.mu.Lock()
			p.cursor = next.number
			if next.isEvent {
				p.sent++
			}
			p.mu.Unlock()
		}
	}
}

// save writes the cursor. On a full disk it stays in memory: events go out all the same.
func (p *eventPump) save(ctx context.Context) {
	p.mu.Lock()
	at := p.cursor
	changed := at != p.saved
	p.mu.Unlock()
	if !changed {
		return
	}
	err := p.db.Update(ctx, func(tx *store.Tx) error {
		cursor, there, err := tx.UplinkCursor(p.uplink.Name)
		if err != nil || !there { // removed meanwhile
			return err
		}
		cursor.Events = &at
		return tx.PutUplinkCursor(cursor)
	})
	if err != nil {
		if fault.KindOf(err) != fault.Unavailable && ctx.Err() == nil {
			p.log.Error("cursor of an uplink not stored", "uplink", p.uplink.Name, "err", err)
		}
		return
	}
	p.mu.Lock()
	p.saved = at
	p.mu.Unlock()
}

// Report returns how many events were sent, are missing, and wait.
func (p *eventPump) Report() Report {
	p.mu.Lock()
	report := Report{Events: p.sent, Missing: p.missing}
	at, loaded := p.cursor, p.loaded
	p.mu.Unlock() // what follows may count many
	_ = p.db.View(context.Background(), func(tx *store.Tx) error {
		if !loaded {
			cursor, _, err := tx.UplinkCursor(p.uplink.Name)
			if err != nil || cursor.Events == nil {
				return err
			}
			at = *cursor.Events
		}
		report.Queue = tx.CountEventsAfter(at)
		return nil
	})
	return report
}
