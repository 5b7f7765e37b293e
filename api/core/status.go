package core

import (
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/fault"
)

type topologyIn struct {
	Network motion.NetworkID `path:"network_id" doc:"Core network id" example:"1042"`
	Offline bool             `query:"offline" default:"false" doc:"With the devices and links that are offline"`
}

func (c *Core) topology(_ context.Context, _ auth.Key, in *topologyIn) (*api.Answer[motion.Topology], error) {
	return api.Answered(c.engine.Inventory.Topology(in.Network, in.Offline))
}

type statusIn struct {
	Network motion.NetworkID `path:"network_id" doc:"Core network id" example:"1042"`
	Key     string           `query:"key" doc:"Top-level keys to return, comma-separated; default: all" example:"ts,health"`
}

// statusPart is a motion.StatusReport, or the keys of it that were asked for.
type statusPart struct {
	TS            motion.Time              `json:"ts,omitempty" doc:"When it was reported, seconds since the epoch" example:"1764000000.3"`
	NetworkID     motion.NetworkID         `json:"network_id,omitempty" example:"1042"`
	GuardianID    string                   `json:"guardian_id,omitempty" example:"a41f00c2d97b4e5580136c2e"`
	ShardID       string                   `json:"shard_id,omitempty" example:"local"`
	Startup       bool                     `json:"startup,omitempty" doc:"The first report since the guardian started"`
	MotionEnabled int32                    `json:"motion_enabled,omitempty" doc:"0 or 1" example:"1"`
	MotionTripped *int32                   `json:"motion_tripped,omitempty" nullable:"true" doc:"1 while motion is detected, 0 while not; null: unknown" example:"0"`
	LastMotion    motion.Time              `json:"last_motion,omitempty" doc:"Seconds since the epoch, 0 = never" example:"1763999980.5"`
	Rev           int32                    `json:"rev,omitempty" doc:"Configuration revision that the guardian applied" example:"12"`
	Version       motion.Document          `json:"version,omitempty" doc:"Versions by module"`
	Health        motion.Document          `json:"health,omitempty" doc:"nodes: online, last_heard (s), uptime_s by node name; network: score 0 to 1, links_total, links_ok"`
	Leafblower    map[string]motion.Choice `json:"leafblower,omitempty" doc:"What link selection thinks of each leaf, by MAC; scores -1 to 1"`
	Radars        map[string]motion.Radar  `json:"radars,omitempty" doc:"What each node said of itself, by node name"`
}

// statusKeys returns the top-level keys of a status report.
func statusKeys() []string {
	var keys []string
	for _, field := range reflect.VisibleFields(reflect.TypeFor[statusPart]()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		keys = append(keys, name)
	}
	return keys
}

func (c *Core) status(_ context.Context, _ auth.Key, in *statusIn) (*api.Answer[api.Encoded[statusPart]], error) {
	keys := commaList(in.Key)
	for _, key := range keys {
		if !slices.Contains(statusKeys(), key) {
			return nil, fault.At("query.key", key, "no key of a status report: want of %s", strings.Join(statusKeys(), ", "))
		}
	}
	report, err := c.engine.Inventory.Status(in.Network)
	if err != nil {
		return nil, err
	}
	if keys == nil {
		return api.Answered[api.Encoded[statusPart]](api.Encoded[statusPart](report), nil)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(report, &all); err != nil {
		return nil, err
	}
	maps.DeleteFunc(all, func(key string, _ json.RawMessage) bool { return !slices.Contains(keys, key) })
	raw, err := json.Marshal(all)
	return api.Answered[api.Encoded[statusPart]](raw, err)
}
