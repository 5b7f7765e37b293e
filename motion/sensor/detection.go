package sensor

import (
	"math"
	"slices"

	"sensegate/motion"
	"sensegate/motion/home"
)

// ChangedValue is the event of every detection.
const ChangedValue = motion.SensorChangedValue

// Detection is something that a sensor has told and that is kept (payloads.md 5.7).
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

// Value is what a sensor said at a detection.
type Value struct {
	Status       string   `json:"status,omitempty" doc:"closed, open, clear, motion, still or vibration"`
	BatteryLevel *int     `json:"batteryLevel,omitempty" doc:"Percent"`
	Temperature  *float64 `json:"temperature,omitempty" doc:"°C"`
	Humidity     *float64 `json:"humidity,omitempty" doc:"Percent, relative"`
}

// MaxAnswer is how many detections an answer has at most.
const MaxAnswer = 5000

// Bounds of a provider's clock.
const (
	maxBehind motion.Seconds = 90 * 24 * 3600
	maxAhead  motion.Seconds = 300
)

// Take returns what is known of a thing after a reading, given what was known, and
// whether the reading is to be kept as a detection. d is the stored record.
//
// A sensor of states tells something when its state changes; that it is at rest is no
// news while nothing is known of it. One that measures tells something when it differs
// from its last detection by temperatureDelta or humidityDelta, so that a reading each
// second does not become a record each second. Hubs tell nothing.
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
	switch d.Type {
	case Hub:
		return next, false
	case Climate:
		return next, moved(d.Config.Temperature, next.Temperature, d.Config.TemperatureDelta) ||
			moved(d.Config.Humidity, next.Humidity, d.Config.HumidityDelta)
	}
	return next, next.Status != known.Status && (known.Status != "" || next.Status != statuses[0])
}

// sane reports whether a value is there and lies within bounds.
func sane(v *float64, low, high float64) bool { return v != nil && *v >= low && *v <= high }

// moved reports whether a value has left its last kept one.
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

// Detect returns the detection of a device in a state, at a time: ts when it is
// possible, else now.
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

// Settle returns the record with what of a state is stored between detections: neither
// what later readings are compared with, nor whether the thing is online, which nobody
// knows after a restart.
func (d Device) Settle(s State) Device {
	s.Temperature, s.Humidity, s.Online = d.Config.Temperature, d.Config.Humidity, false
	d.Config.State = s
	return d
}

// Bounds of the detections of one sensor in a time: a contact that bounces must not
// wear the flash.
const (
	burst                 = 60
	window motion.Seconds = 60
)

// Pace counts the detections of one sensor. The zero value is ready.
type Pace struct {
	since motion.Time
	count int
}

// Allow counts one more detection at now and reports whether it may be kept: 60 a
// minute.
func (p *Pace) Allow(now motion.Time) bool {
	if now.Since(p.since) >= window || now < p.since {
		p.since, p.count = now, 0
	}
	p.count++
	return p.count <= burst
}
