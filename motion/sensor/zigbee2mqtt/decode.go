package zigbee2mqtt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"sensegate/motion/fault"
	"sensegate/motion/sensor"
)

// Limits of messages.
const (
	maxState   = 64 << 10 // bytes of a device's state
	maxListed  = 1024     // devices and groups of a bridge
	maxExposes = 256      // of one device
)

// device is one entry of bridge/devices.
type device struct {
	Address     string      `json:"ieee_address"`
	Kind        string      `json:"type"` // Coordinator, Router or EndDevice
	Name        string      `json:"friendly_name"`
	Disabled    bool        `json:"disabled"`
	Interviewed *bool       `json:"interview_completed"`
	Definition  *definition `json:"definition"` // null: not supported
}

// definition is the part of a device's definition that is used.
type definition struct {
	Exposes []expose `json:"exposes"`
}

// expose is one capability; a specific one, such as a lock, has features and is ignored.
type expose struct {
	Name     string `json:"name"`
	Property string `json:"property"` // key in the state
	Access   int    `json:"access"`   // bit 0: published
}

// event is a message of bridge/event.
type event struct {
	Type string `json:"type"`
	Data struct {
		Address string `json:"ieee_address"`
	} `json:"data"`
}

// response is a message below bridge/response.
type response struct {
	Status      string          `json:"status"`
	Error       string          `json:"error"`
	Transaction json.RawMessage `json:"transaction"`
}

// info is the part of bridge/info that is used.
type info struct {
	Coordinator struct {
		Address string `json:"ieee_address"`
	} `json:"coordinator"`
	PermitJoin bool `json:"permit_join"`
}

// decode decodes a JSON message into v; an invalid one is a Malformed fault.
func decode(payload []byte, v any) error {
	if err := json.Unmarshal(payload, v); err != nil {
		return fault.New(fault.Malformed, "unreadable: %.80s", err)
	}
	return nil
}

// decodeOnline decodes bridge/state or an availability: {"state":"online"}, or online, as 1.x may
// write it. Any other readable value is offline.
func decodeOnline(payload []byte) (bool, error) {
	text := string(bytes.TrimSpace(payload))
	if !strings.HasPrefix(text, "{") {
		switch text = strings.Trim(text, `"`); text {
		case "online", "offline":
			return text == "online", nil
		}
		return false, fault.New(fault.Malformed, "want online or offline")
	}
	var message struct {
		State string `json:"state"`
	}
	err := decode(payload, &message)
	return message.State == "online", err
}

// decodeList decodes a JSON array of at most maxListed entries, one by one.
func decodeList[T any](payload []byte) ([]T, error) {
	decoder := json.NewDecoder(bytes.NewReader(payload))
	if start, err := decoder.Token(); err != nil || start != json.Delim('[') {
		return nil, fault.New(fault.Malformed, "want a list")
	}
	var list []T
	for decoder.More() {
		var entry T
		if err := decoder.Decode(&entry); err != nil {
			return nil, fault.New(fault.Malformed, "unreadable: %.80s", err)
		}
		if list = append(list, entry); len(list) > maxListed {
			return nil, fault.New(fault.TooLarge, "more than %d entries", maxListed)
		}
	}
	if _, err := decoder.Token(); err != nil {
		return nil, fault.New(fault.Malformed, "the list has no end")
	}
	return list, nil
}

// address returns an IEEE address in the form of thing names, or "" if text is none.
func address(text string) string {
	digits := strings.ToUpper(strings.TrimPrefix(strings.ToLower(text), "0x"))
	if len(digits) != 16 {
		return ""
	}
	if _, err := strconv.ParseUint(digits, 16, 64); err != nil {
		return ""
	}
	return digits
}

// kindOf returns the type of a device and the keys of its values in its state; false if the
// product does not support it.
func (d device) kindOf() (sensor.Type, map[string]string, bool) {
	if d.Definition == nil || len(d.Definition.Exposes) > maxExposes {
		return "", nil, false
	}
	keys := map[string]string{}
	for _, e := range d.Definition.Exposes {
		name := e.Name
		if name == "presence" { // of radar sensors
			name = "occupancy"
		}
		switch name {
		case "contact", "occupancy", "vibration", "temperature", "humidity", "battery":
		default:
			continue
		}
		if _, again := keys[name]; again || e.Access&1 == 0 {
			continue
		}
		if keys[name] = e.Property; e.Property == "" {
			keys[name] = e.Name
		}
	}
	for _, kind := range []struct {
		value string
		kind  sensor.Type
	}{
		{"contact", sensor.Door}, {"occupancy", sensor.Motion}, {"vibration", sensor.Vibration},
		{"temperature", sensor.Climate}, {"humidity", sensor.Climate},
	} {
		if _, has := keys[kind.value]; has {
			return kind.kind, keys, true
		}
	}
	return "", nil, false
}

// decodeReading decodes a device's state. It skips unreadable values; if nothing is readable it
// returns a Malformed fault.
func decodeReading(payload []byte, kind sensor.Type, keys map[string]string) (r sensor.Reading, err error) {
	if len(payload) > maxState {
		return r, fault.New(fault.TooLarge, "state of %d bytes: at most %d", len(payload), maxState)
	}
	var state map[string]any
	if err := decode(payload, &state); err != nil {
		return r, err
	}
	flag := func(value, on, off string) {
		if yes, ok := boolean(state[keys[value]]); ok {
			if r.Status = off; yes {
				r.Status = on
			}
		}
	}
	switch kind {
	case sensor.Door:
		flag("contact", sensor.Closed, sensor.Open)
	case sensor.Motion:
		flag("occupancy", sensor.Moving, sensor.Clear)
	case sensor.Vibration:
		flag("vibration", sensor.Vibrating, sensor.Still)
	}
	r.Temperature, r.Humidity = number(state[keys["temperature"]]), number(state[keys["humidity"]])
	if level := number(state[keys["battery"]]); level != nil && *level >= 0 && *level <= 100 {
		percent := int(math.Round(*level))
		r.BatteryLevel = &percent
	}
	return r, nil
}

// boolean converts true and false, also as text or as ON and OFF.
func boolean(v any) (yes, ok bool) {
	switch v := v.(type) {
	case bool:
		return v, true
	case string:
		switch strings.ToLower(v) {
		case "true", "on":
			return true, true
		case "false", "off":
			return false, true
		}
	}
	return false, false
}

// number converts a finite number, also as text; nil for any other value.
func number(v any) *float64 {
	if text, isText := v.(string); isText {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil
		}
		v = n
	}
	n, ok := v.(float64)
	if !ok || math.IsNaN(n) || math.IsInf(n, 0) {
		return nil
	}
	return &n
}

// transaction returns the id of the request in a response.
func (r response) transaction() string { return strings.Trim(string(r.Transaction), `"`) }

// err returns the reason of a failed request, or nil.
func (r response) err() error {
	if r.Status == "ok" {
		return nil
	}
	return fmt.Errorf("the bridge refuses: %.200q", r.Error)
}
