package sensor

import (
	"regexp"
	"slices"

	"sensegate/motion"
	"sensegate/motion/home"
)

// Type is the deviceType of a thing (payloads.md 5.7).
type Type string

// The types. A thing that measures several things has the first of its types in this order.
const (
	Hub       Type = "Hub"
	Door      Type = "SensorDoor"
	Motion    Type = "SensorMotion"
	Vibration Type = "SensorVibration"
	Climate   Type = "SensorTemperatureHumidity"
)

// The statuses of things. A sensor is at rest or not; what it detects ends its rest.
const (
	Open      = "open"
	Closed    = "closed"
	Moving    = "motion"
	Clear     = "clear"
	Vibrating = "vibration"
	Still     = "still"
	Ready     = "ready"   // of a hub
	Pairing   = "pairing" // of a hub that lets new sensors join
)

// Statuses returns the statuses of a thing of the type, its state of rest first; none for a
// thing that only measures.
func (t Type) Statuses() []string {
	switch t {
	case Hub:
		return []string{Ready, Pairing}
	case Door:
		return []string{Closed, Open}
	case Motion:
		return []string{Clear, Moving}
	case Vibration:
		return []string{Still, Vibrating}
	}
	return nil
}

// Known reports whether t is one of the types.
func (t Type) Known() bool { return slices.Contains(Types(), t) }

// Types returns all types.
func Types() []Type { return []Type{Hub, Door, Motion, Vibration, Climate} }

// Purpose is the use of a thing (payloads.md 5.7); "" = unknown.
type Purpose string

// The purposes; the last two are for hubs.
const (
	FrontDoorVibration    Purpose = "FrontDoorVibration"
	BackDoorVibration     Purpose = "BackDoorVibration"
	SideDoorVibration     Purpose = "SideDoorVibration"
	RefrigeratorVibration Purpose = "RefrigeratorVibration"
	BathroomSensor        Purpose = "BathroomSensor"
	DoorSensor            Purpose = "DoorSensor"
	MainHub               Purpose = "MainHub"
	SecondaryHub          Purpose = "SecondaryHub"
)

// suits reports whether the purpose fits a thing of the type.
func (p Purpose) suits(t Type) bool {
	return p == "" || (p == MainHub || p == SecondaryHub) == (t == Hub)
}

// DeviceID identifies a stored thing. Ids are positive and fit 32 bits.
type DeviceID uint32

// Device is the stored record of a hub or a sensor of a home (payloads.md 5.7).
type Device struct {
	ID            DeviceID         `json:"id"`
	Home          home.ID          `json:"network_id"`
	Network       motion.NetworkID `json:"external_id" doc:"Core id of the network"`
	UserThingName string           `json:"userThingName" doc:"The account that it belongs to"`
	ThingName     string           `json:"thingName" doc:"Name at the provider, such as SENSOR_02CC00FFFE000001"`
	HubThingName  string           `json:"hubThingName" doc:"The hub that it is paired with; empty for a hub"`
	Type          Type             `json:"deviceType" enum:"Hub,SensorDoor,SensorMotion,SensorVibration,SensorTemperatureHumidity"`
	Purpose       Purpose          `json:"purpose" enum:"FrontDoorVibration,BackDoorVibration,SideDoorVibration,RefrigeratorVibration,BathroomSensor,DoorSensor,MainHub,SecondaryHub,"`
	Config        Config           `json:"config"`
	CreatedAt     motion.Stamp     `json:"created_at"`
	UpdatedAt     motion.Stamp     `json:"updated_at"`
}

// Config holds the settings of a thing and its latest values.
type Config struct {
	Notify      bool `json:"notify" doc:"Detections are kept; false until the app says true"`
	EmailNotify bool `json:"emailNotify" doc:"Always false"`
	State
	FriendlyName     string  `json:"friendlyName"`
	Location         string  `json:"location"`
	TemperatureDelta float64 `json:"temperatureDelta" doc:"Change of temperature that is kept, °C"`
	HumidityDelta    float64 `json:"humidityDelta" doc:"Change of humidity that is kept, percent"`
}

// State holds the latest values of a thing. In a stored device temperature and humidity are
// those of the last detection, for comparison with later ones, and online is false.
type State struct {
	Online       bool     `json:"online"`
	Status       string   `json:"status" doc:"closed, open; clear, motion; still, vibration; ready, pairing for a hub; empty: not known, or none"`
	BatteryLevel *int     `json:"batteryLevel,omitempty" doc:"Percent; absent: mains, or not known yet"`
	Temperature  *float64 `json:"temperature,omitempty" doc:"°C"`
	Humidity     *float64 `json:"humidity,omitempty" doc:"Percent, relative"`
}

// Least changes that are stored, unless set otherwise, and their limits.
const (
	defaultTemperatureDelta = 1.0
	defaultHumidityDelta    = 5.0

	minTemperatureDelta, maxTemperatureDelta = 0.1, 50.0
	minHumidityDelta, maxHumidityDelta       = 1.0, 100.0
)

// maxThingName is the length of the longest name of a thing, in bytes.
const maxThingName = 128

// MaxDevices is the limit of things in a home; further ones that a provider lists are ignored.
const MaxDevices = 256

// Lengths are compared apart: a counted repetition makes the expression larger than all the names.
var thingName = regexp.MustCompile(`^[A-Za-z0-9_:.-]+$`)

// ValidThing reports whether a name is valid for a thing: 1 to 128 ASCII letters, digits and _
// : . -
func ValidThing(name string) bool { return len(name) <= maxThingName && thingName.MatchString(name) }

// New returns the record of a thing that a provider lists. Its notify is false, so that no
// detections are stored until somebody enables it (payloads.md 5.7). hubs is the number of
// hubs of the home so far.
func New(i Integration, f Found, hubs int) Device {
	d := Device{
		Home: i.Home, Network: i.Network, UserThingName: i.Account.UserThingName,
		ThingName: f.Reading.Thing, HubThingName: f.Hub, Type: f.Type,
		Config: Config{
			FriendlyName: name(f.Name), TemperatureDelta: defaultTemperatureDelta, HumidityDelta: defaultHumidityDelta,
		},
	}
	switch {
	case f.Type != Hub:
	case hubs == 0:
		d.Purpose = MainHub
	default:
		d.Purpose = SecondaryHub
	}
	return d
}
