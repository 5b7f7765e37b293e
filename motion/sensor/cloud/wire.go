package cloud

import (
	"sensegate/motion"
	"sensegate/motion/sensor"
)

// List is the answer to GET …/things.
type List struct {
	Things []Thing `json:"things"`
}

// Thing is a hub or a sensor of an account with its latest values.
type Thing struct {
	HubThingName string      `json:"hubThingName"`
	DeviceType   sensor.Type `json:"deviceType"`
	FriendlyName string      `json:"friendlyName"`
	Told
}

// Told holds the values that a thing reports; absent ones are unchanged.
type Told struct {
	ThingName    string      `json:"thingName"`
	TS           motion.Time `json:"ts"` // seconds since the epoch
	Online       *bool       `json:"online,omitempty"`
	Status       string      `json:"status,omitempty"`
	BatteryLevel *int        `json:"batteryLevel,omitempty"`
	Temperature  *float64    `json:"temperature,omitempty"`
	Humidity     *float64    `json:"humidity,omitempty"`
}

// Pairing is the body of POST …/pair: sensors can join for Timeout from now.
type Pairing struct {
	Timeout int `json:"timeout"` // seconds
}

// Settings is the body of PATCH …/things/{thing}.
type Settings struct {
	Notify           bool           `json:"notify"`
	FriendlyName     string         `json:"friendlyName"`
	Location         string         `json:"location"`
	Purpose          sensor.Purpose `json:"purpose"`
	TemperatureDelta float64        `json:"temperatureDelta"`
	HumidityDelta    float64        `json:"humidityDelta"`
}

// Feed is the answer to GET /v1/feed.
type Feed struct {
	Cursor  string  `json:"cursor"` // of the last entry, at most 256 bytes
	Entries []Entry `json:"entries"`
}

// Entry is a reading of one thing, or an account whose list of things changed.
type Entry struct {
	Account     string `json:"userThingName"`
	ListChanged bool   `json:"listChanged,omitempty"`
	Told
}

// reading converts the values to a reading.
func (t Told) reading(account string) sensor.Reading {
	return sensor.Reading{
		Account: account, Thing: t.ThingName, TS: t.TS, Online: t.Online, Status: t.Status,
		BatteryLevel: t.BatteryLevel, Temperature: t.Temperature, Humidity: t.Humidity,
	}
}

// found returns the things of a list that the product supports, at most sensor.MaxDevices.
func (l List) found(account string) []sensor.Found {
	list := []sensor.Found{}
	for _, t := range l.Things {
		usable := sensor.ValidThing(t.ThingName) && t.DeviceType.Known() && (t.HubThingName == "" || sensor.ValidThing(t.HubThingName))
		if !usable || (t.DeviceType == sensor.Hub) != (t.HubThingName == "") || len(list) == sensor.MaxDevices {
			continue
		}
		list = append(list, sensor.Found{Hub: t.HubThingName, Type: t.DeviceType, Name: t.FriendlyName, Reading: t.reading(account)})
	}
	return list
}

// batch converts an answer of the feed to a batch.
func (f Feed) batch() sensor.Batch {
	b := sensor.Batch{Cursor: f.Cursor}
	seen := map[string]bool{}
	for _, e := range f.Entries {
		if e.ListChanged && !seen[e.Account] {
			seen[e.Account] = true
			b.Changed = append(b.Changed, e.Account)
		}
		if e.ThingName != "" {
			b.Readings = append(b.Readings, e.reading(e.Account))
		}
	}
	return b
}
