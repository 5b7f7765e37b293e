package wire

import (
	"encoding/json"
	"fmt"
	"math"

	"sensegate/motion"
)

// Encode writes a report as a device sends it: the inverse of [Decode], for
// simulators and tests. It returns the event and format of the topic. Values that
// are NaN are written as null, and links without mkai are left out. A
// motion.RawCSI is passed through without a copy. It fails for what JSON cannot
// hold, such as NaN where a value is required.
func Encode(r motion.Report) (event, format string, payload []byte, err error) {
	if frames, ok := r.(motion.RawCSI); ok {
		return EventCSI, FormatBin, frames, nil
	}
	event, message := messageOf(r)
	if event == "" {
		return "", "", nil, fmt.Errorf("encode report: type %T is not known", r)
	}
	payload, err = json.Marshal(message)
	if err != nil {
		return "", "", nil, fmt.Errorf("encode %s: %w", event, err)
	}
	return event, FormatJSON, payload, nil
}

// messageOf returns the event of a JSON report and the value that marshals to its
// payload, or "".
func messageOf(r motion.Report) (event string, message any) {
	switch r := r.(type) {
	case motion.StatusReport:
		return EventStatus, encodeStatus(r)
	case *motion.Matrix:
		return EventMatrix, encodeMatrix(r)
	case motion.History:
		return EventHistory, encodeHistory(r)
	case motion.EventReport:
		return EventEvent, eventRecord{Event: r.Event, UUID: r.UUID}
	case motion.LinkMotions:
		return EventLinkMotion, encodeLinkMotions(r)
	case motion.ManageResult:
		return EventManageResult, manageResult(r)
	case motion.DeviceInfoAck:
		return EventDeviceInfoAck, deviceInfoAck(r)
	}
	return "", nil
}

// eventRecord is an event without the two fields that the appliance gives: they
// hide those of the record and are empty.
type eventRecord struct {
	motion.Event
	ID   string `json:"_id,omitempty"`
	Tag  string `json:"tag,omitempty"`
	UUID string `json:"uuid,omitempty"`
}

// heartbeat is the short form of a guardian-status.
type heartbeat struct {
	TS            motion.Time      `json:"ts"`
	GuardianID    string           `json:"guardian_id"`
	NetworkID     motion.NetworkID `json:"network_id"`
	LastMotion    motion.Time      `json:"last_motion"`
	MotionTripped *int             `json:"motion_tripped"`
	MotionEnabled int              `json:"motion_enabled"`
	Rev           int              `json:"rev,omitempty"`
}

func encodeStatus(r motion.StatusReport) any {
	full := !r.Heartbeat() || r.Startup || r.ShardID != "" || r.Version != nil || r.Health != nil || r.Leafblower != nil
	if full {
		return r
	}
	return heartbeat{
		TS: r.TS, GuardianID: r.GuardianID, NetworkID: r.NetworkID, LastMotion: r.LastMotion,
		MotionTripped: r.MotionTripped, MotionEnabled: r.MotionEnabled, Rev: r.Rev,
	}
}

func encodeMatrix(r *motion.Matrix) any {
	data := make(map[string]any, len(r.Values))
	for figure, rows := range r.Values {
		if rows == nil {
			continue
		}
		column := make([]any, len(rows))
		for i, row := range rows {
			if r.Count == 1 && len(row) == 1 {
				column[i] = nullable(row[0])
			} else {
				column[i] = nullables(row)
			}
		}
		data[motion.Figure(figure).String()] = column
	}
	loc := []any{}
	for _, place := range r.Loc {
		loc = append(loc, place.MAC, place.Confidence)
	}
	if len(loc) == 0 {
		loc = append(loc, noMotion)
	}
	return struct {
		matrix
		Data map[string]any `json:"data"`
		Loc  []any          `json:"loc"`
	}{
		matrix: matrix{
			TS: r.TS, Links: append([]string{}, r.Links...), Interval: r.Interval, Count: r.Count,
			MotionTripped: r.MotionTripped, LastMotion: r.LastMotion, MotionEnabled: r.MotionEnabled,
		},
		Data: data, Loc: loc,
	}
}

func encodeHistory(r motion.History) any {
	type figures struct {
		MKAI []*float64 `json:"mkai"`
		MSAD []*float64 `json:"msad,omitempty"`
	}
	type places struct {
		MACs    []motion.MAC `json:"macs"`
		Density [][]*float64 `json:"density"`
	}
	density := make([][]*float64, len(r.Density))
	for i, shares := range r.Density {
		density[i] = nullables(shares)
	}
	return struct {
		TS       motion.Time `json:"ts"`
		Interval int         `json:"interval"`
		Count    int         `json:"count"`
		Motion   figures     `json:"motion"`
		Location places      `json:"location"`
	}{
		TS: r.TS, Interval: r.Interval, Count: r.Count,
		Motion:   figures{MKAI: nullables(r.MKAI), MSAD: nullables(r.MSAD)},
		Location: places{MACs: append([]motion.MAC{}, r.MACs...), Density: density},
	}
}

func encodeLinkMotions(r motion.LinkMotions) any {
	message := linkMotions{TS: r.TS, Interval: r.Interval, Links: []linkMotion{}}
	for _, link := range r.Links {
		if math.IsNaN(link.MKAI) {
			continue
		}
		message.Links = append(message.Links, linkMotion{
			Src: link.Src, Dst: link.Dst, RSSI: link.RSSI,
			MKAI: nullable(link.MKAI), LRaw: nullable(link.LRaw), Throughput: nullable(link.Throughput),
		})
	}
	return message
}

// nullable returns nil for NaN.
func nullable(value float64) *float64 {
	if math.IsNaN(value) {
		return nil
	}
	return &value
}

func nullables(values []float64) []*float64 {
	list := make([]*float64, len(values))
	for i, value := range values {
		list[i] = nullable(value)
	}
	return list
}
