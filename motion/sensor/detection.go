package sensor

import (
	"math"
	"slices"

	"sensegate/motion"
	"sensegate/motion/home"
)

// ChangedValue is the event of every detection.
const ChangedValue = motion.SensorChangedValue

// Detection is a stored report of a sensor (payloads.md 5.7).
type Detection struct {
	ID        string           `json:"id" doc:"uuid"`
	Home      home.ID          `json:"network_id"`
	Network   motion.NetworkID `json:"external_id" doc:"Core id of the network"`
	ThingName string           `json:"thingName"`
	Type      Type             `json:"deviceType" enum:"SensorDoor,SensorMotion,SensorVibration,SensorTemperatureHumidity"`
	Purpose   Purpose          `json:"purpose" enum:"FrontDoorVibration,BackDoorVibration,SideDoorVibration,RefrigeratorVibration,BathroomSensor,DoorSensor,"`
	Location  string           `json:"location" doc:"Where it was then"`
	Event     string           `json:"event" enum:"SensorChangedValue"`
	Value     Value            `json:"value"`
	TS        motion.Time      `json:"ts" doc:"UTC timestamp, seconds"`
}

// Value is the value of a sensor at a detection.
type Value struct {
	Status       string   `json:"status,omitempty" doc:"closed, open, clear, motion, still or vibration"`
	BatteryLevel *int     `json:"batteryLevel,omitempty" doc:"Percent"`
	Temperature  *float64 `json:"temperature,omitempty" doc:"°C"`
	Humidity     *float64 `json:"humidity,omitempty" doc:"Percent, relative"`
}

// MaxAnswer is the greatest number of detections in an answer.
const MaxAnswer = 5000

// Limits of a provider's clock.
const (
	maxBehind motion.Seconds = 90 * 24 * 3600
	maxAhead  motion.Seconds = 300
)

// Take returns the state of a thing after a reading, given the state before it, and whether the
// reading is to be stored as a detection. d is the stored record.
//
// A sensor with states is stored when its state changes, but not when the first known state is
// rest. A measuring sensor is stored when it differs from its last detection by
// temperatureDelta or humidityDelta, so that a reading per second does not become a record per
// second. A hub never is, nor is a retained reading.
func (d Device) Take(known State, r Reading) (State, bool) {
	next := known
	if r.Online != nil {
		next.Online = *r.Online
	}
	if r.BatteryLevel != nil && *r.BatteryLevel >= 0 && *r.BatteryLevel <= 100 {
		next.BatteryLevel = r.BatteryLevel
	}
	if sane(r.Temperature, -100, 200) {
		next.Temperature = r.Temperature
	}
	if sane(r.Humidity, 0, 100) {
		next.Humidity = r.Humidity
	}
	statuses := d.Type.Statuses()
	if slices.Contains(statuses, r.Status) {
		next.Status = r.Status
	}
	switch {
	case d.Type == Hub || r.Retained:
		return next, false
	case d.Type == Climate:
		return next, moved(d.Config.Temperature, next.Temperature, d.Config.TemperatureDelta) ||
			moved(d.Config.Humidity, next.Humidity, d.Config.HumidityDelta)
	}
	return next, next.Status != known.Status && (known.Status != "" || next.Status != statuses[0])
}

// sane reports whether a value is present and within limits.
func sane(v *float64, low, high float64) bool { return v != nil && *v >= low && *v <= high }

// moved reports whether a value differs from the last stored one by delta.
func moved(kept, now *float64, delta float64) bool {
	const rounding = 1e-9
	switch {
	case now == nil:
		return false
	case kept == nil:
		return true
	}
	return math.Abs(*now-*kept) >= delta-rounding
}

// Detect returns the detection of a device in a state at time ts, or at now if ts is not
// plausible.
func (d Device) Detect(s State, ts, now motion.Time) Detection {
	if ts.IsZero() || ts > now.Add(maxAhead) || ts < now.Add(-maxBehind) {
		ts = now
	}
	return Detection{
		Home: d.Home, Network: d.Network, ThingName: d.ThingName, Type: d.Type, Purpose: d.Purpose,
		Location: d.Config.Location, Event: ChangedValue, TS: ts,
		Value: Value{Status: s.Status, BatteryLevel: s.BatteryLevel, Temperature: s.Temperature, Humidity: s.Humidity},
	}
}

// Settle returns the record with the part of a state that is stored between detections: not
// the values of the last detection, which later readings are compared with, and not whether
// the thing is online, which is unknown after a restart.
func (d Device) Settle(s State) Device {
	s.Temperature, s.Humidity, s.Online = d.Config.Temperature, d.Config.Humidity, false
	d.Config.State = s
	return d
}

// Rate limit of the detections of one sensor: a contact that bounces must not wear the flash.
const (
	burst                 = 60
	window motion.Seconds = 60
)

// Pace limits the rate of detections of one sensor. The zero value is ready to use.
type Pace struct {
	since motion.Time
	count int
}

// Allow counts one detection at now and reports whether it may be stored: 60 per minute.
func (p *Pace) Allow(now motion.Time) bool {
	if now.Since(p.since) >= window || now < p.since {
		p.since, p.count = now, 0
	}
	p.count++
	return p.count <= burst
}
