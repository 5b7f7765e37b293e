package uplink

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store"
)

// historyTick is the time between two looks for a complete minute.
const historyTick = 10 * time.Second

// historySave is the time between two writes of a history's cursor while it has caught up: a power cut
// has as many minutes sent again.
const historySave = 10 * time.Minute

// historyPump sends the minutes after its cursor, and each new one once it is complete.
type historyPump struct {
	uplink   Uplink
	db       *store.DB
	minutes  MinuteReader
	now      func() motion.Time // 0: the clock has not been set
	networks func(context.Context) ([]motion.NetworkID, error)
	log      *slog.Logger
	tick     time.Duration // between two looks for a complete minute

	mu     sync.Mutex
	cursor motion.Time // 0: not read yet
	saved  motion.Time
}

// load reads the cursor at the first connection.
func (p *historyPump) load(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cursor != 0 {
		return nil
	}
	return p.db.View(ctx, func(tx *store.Tx) error {
		cursor, _, err := tx.UplinkCursor(p.uplink.Name)
		if err != nil {
			return err
		}
		installed, err := tx.InstalledAt() // a cursor of 1970 is from before the clock was set
		p.cursor = max(cursor.Minutes, minuteOf(installed))
		p.saved = cursor.Minutes
		return err
	})
}

// Run sends minutes until ctx ends or one is not acknowledged.
func (p *historyPump) Run(ctx context.Context, peer Peer) error {
	if err := p.load(ctx); err != nil {
		return fmt.Errorf("read cursor: %w", err)
	}
	defer p.save(context.WithoutCancel(ctx))
	ticker := time.NewTicker(p.tick)
	defer ticker.Stop()
	written := time.Now()
	for {
		more, err := p.step(ctx, peer)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		if more || time.Since(written) > historySave {
			p.save(ctx)
			written = time.Now()
		}
		if more {
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

// step sends the complete minutes after the cursor, of six hours at most; more says that there are
// others.
func (p *historyPump) step(ctx context.Context, peer Peer) (more bool, err error) {
	now := p.now()
	if now == 0 {
		return false, nil
	}
	from, to := p.at(), minuteOf(now.Add(-settled))
	if from > now { // the clock was set back
		p.move(to)
		return false, nil
	}
	if from >= to {
		return false, nil
	}
	end := min(to, from.Add(mostMinutes*minute))
	networks, err := p.networks(ctx)
	if err != nil {
		return false, fmt.Errorf("read networks: %w", err)
	}
	for _, id := range networks {
		if !p.uplink.Carries(id) {
			continue
		}
		rows, err := p.minutes.Read(ctx, id, from, end)
		if fault.KindOf(err) == fault.NotFound { // deleted meanwhile
			continue
		}
		if err != nil {
			return false, err
		}
		if err := p.sendAll(ctx, peer, id, rows); err != nil {
			return false, err
		}
	}
	p.move(end)
	return end < to, nil
}

// sendAll sends the minutes of a network; what many wait for is acknowledged at once.
func (p *historyPump) sendAll(ctx context.Context, peer Peer, id motion.NetworkID, rows []Minute) error {
	topic := fmt.Sprintf("%s/%d/history", p.uplink.Base, id)
	var last <-chan error
	conn, many := peer.(Connection)
	for _, row := range rows {
		raw, err := json.Marshal(row)
		if err != nil {
			return fmt.Errorf("encode minute: %w", err)
		}
		m := Message{Topic: topic, Payload: raw, QoS: 1}
		if !many {
			if err := peer.Publish(ctx, m); err != nil {
				return err
			}
			continue
		}
		acknowledged, err := conn.Begin(ctx, m)
		if err != nil {
			return err
		}
		if last != nil {
			if err := await(ctx, last); err != nil {
				return err
			}
		}
		last = acknowledged
	}
	if last != nil {
		return await(ctx, last)
	}
	return nil
}

// await waits for an acknowledgement.
func await(ctx context.Context, acknowledged <-chan error) error {
	select {
	case err := <-acknowledged:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *historyPump) at() motion.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cursor
}

func (p *historyPump) move(to motion.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cursor = to
}

// save writes the cursor, unless the disk has no room.
func (p *historyPump) save(ctx context.Context) {
	at := p.at()
	p.mu.Lock()
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
		cursor.Minutes = at
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
