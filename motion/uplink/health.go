package uplink

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"sensegate/motion"
)

// Health is how the appliance is, for a table of many.
type Health struct {
	TS         motion.Time `json:"ts"`
	Version    string      `json:"version"`
	UptimeS    int64       `json:"uptime_s"`
	Problems   []string    `json:"problems" nullable:"false" doc:"Codes of what somebody has to look at, the worst first"`
	DiskFree   int64       `json:"disk_free" doc:"Bytes that are free in the file system of the database"`
	Database   int64       `json:"database" doc:"Bytes of the database"`
	ClockUnset bool        `json:"clock_unset" doc:"The clock of the appliance has not been set"`
	LinksDown  int         `json:"links_down" doc:"Known links that do not measure"`
	Networks   int         `json:"networks"`
	Devices    int         `json:"devices" doc:"Adopted ones"`
	Online     int         `json:"devices_online"`
}

// changed reports whether something is different that nobody should wait a minute for.
func (h Health) changed(former Health) bool {
	return !slices.Equal(h.Problems, former.Problems) || h.ClockUnset != former.ClockUnset || h.LinksDown != former.LinksDown ||
		h.Networks != former.Networks || h.Devices != former.Devices || h.Online != former.Online
}

const (
	healthEvery = time.Minute
	healthLook  = 10 * time.Second // between two looks whether something has changed
)

// healthPart publishes how the appliance is, retained: each minute, and when it changes.
type healthPart struct {
	uplink Uplink
	health func(context.Context, []motion.NetworkID) (Health, error)
	log    *slog.Logger
}

// Run publishes until ctx ends or the connection fails.
func (p *healthPart) Run(ctx context.Context, peer Peer) error {
	ticker := time.NewTicker(healthLook)
	defer ticker.Stop()
	var last Health
	var sent time.Time
	for {
		now, err := p.health(ctx, p.uplink.Networks)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			p.log.Error("health not sent", "uplink", p.uplink.Name, "err", err)
		case now.changed(last) || time.Since(sent) >= healthEvery:
			raw, err := json.Marshal(now)
			if err != nil {
				return fmt.Errorf("encode health: %w", err)
			}
			err = peer.Publish(ctx, Message{Topic: p.uplink.Base + "/health", Payload: raw, QoS: 1, Retain: true})
			if ctx.Err() != nil {
				return nil
			}
			if err != nil {
				return err
			}
			last, sent = now, time.Now()
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}
