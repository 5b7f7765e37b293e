package sensor

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"sensegate/motion"
	"sensegate/motion/fault"
)

// MaxName is the greatest length of friendlyName and location, in characters.
const MaxName = 256

// DeviceEdit changes a device; nil fields stay.
type DeviceEdit struct {
	Notify           *bool // required (interfaces.md 4.2 no. 8): whether detections are stored
	Purpose          *Purpose
	FriendlyName     *string
	Location         *string
	TemperatureDelta *float64
	HumidityDelta    *float64
}

// Apply returns the device after the edit, or an Invalid fault with every mistake.
func (d Device) Apply(e DeviceEdit) (Device, error) {
	var wrong fault.Details
	check := func(ok bool, field, message string, value any) {
		if !ok {
			wrong.Add("body."+field, value, "%s", message)
		}
	}
	check(e.Notify != nil, "config.notify", "must be sent: true, or false to keep no more detections", nil)
	if e.Purpose != nil {
		check(e.Purpose.suits(d.Type), "purpose", "not one of a "+string(d.Type), *e.Purpose)
		d.Purpose = *e.Purpose
	}
	text := func(to *string, value *string, field string) {
		if value != nil {
			check(plain(*value, MaxName), field, "want at most 256 characters, none of them a control", nil)
			*to = *value
		}
	}
	text(&d.Config.FriendlyName, e.FriendlyName, "config.friendlyName")
	text(&d.Config.Location, e.Location, "config.location")
	number := func(to, value *float64, low, high float64, field, message string) {
		if value != nil {
			check(*value >= low && *value <= high, field, message, *value)
			*to = *value
		}
	}
	number(&d.Config.TemperatureDelta, e.TemperatureDelta, minTemperatureDelta, maxTemperatureDelta, "config.temperatureDelta", "want 0.1 to 50")
	number(&d.Config.HumidityDelta, e.HumidityDelta, minHumidityDelta, maxHumidityDelta, "config.humidityDelta", "want 1 to 100")
	if err := wrong.Err(); err != nil {
		return d, err
	}
	d.Config.Notify, d.Config.EmailNotify = *e.Notify, false
	return d, nil
}

// Change returns the edit as the payload of IntegrationsConfigChangedEvent.
func (e DeviceEdit) Change() motion.Document {
	config := map[string]any{}
	set(config, "notify", e.Notify)
	set(config, "friendlyName", e.FriendlyName)
	set(config, "location", e.Location)
	set(config, "temperatureDelta", e.TemperatureDelta)
	set(config, "humidityDelta", e.HumidityDelta)
	change := motion.Document{"config": config}
	if e.Purpose != nil {
		change["purpose"] = string(*e.Purpose)
	}
	return change
}

func set[T any](to map[string]any, key string, value *T) {
	if value != nil {
		to[key] = *value
	}
}

// plain reports whether text has at most the given number of characters and no control character.
func plain(text string, most int) bool {
	return utf8.ValidString(text) && utf8.RuneCountInString(text) <= most && !strings.ContainsFunc(text, unicode.IsControl)
}

// name returns the part of a provider's name that is valid as a friendlyName.
func name(text string) string {
	if !plain(text, MaxName) {
		return ""
	}
	return text
}
