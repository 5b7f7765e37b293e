package cloud

import (
	"encoding/json"
	"testing"

	"sensegate/motion/sensor"
)

// FuzzAnswers reads anything as answers of the cloud: what can be used of it has names
// that can be used.
func FuzzAnswers(f *testing.F) {
	f.Add([]byte(`{"things":[{"thingName":"HUB_1","deviceType":"Hub"},{"thingName":"SENSOR_1","hubThingName":"HUB_1","deviceType":"SensorDoor","status":"open","batteryLevel":100}]}`))
	f.Add([]byte(`{"cursor":"17","entries":[{"userThingName":"USER_1","thingName":"SENSOR_1","ts":1764000000,"status":"open"},{"userThingName":"USER_1","listChanged":true}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var list List
		if json.Unmarshal(raw, &list) == nil {
			found := list.found("USER_1")
			for _, one := range found {
				if !sensor.ValidThing(one.Reading.Thing) || !one.Type.Known() || one.Reading.Account != "USER_1" || (one.Hub == "") != (one.Type == sensor.Hub) {
					t.Fatalf("%+v", one)
				}
			}
			if len(found) > sensor.MaxDevices {
				t.Fatalf("%d things", len(found))
			}
		}
		var feed Feed
		if json.Unmarshal(raw, &feed) == nil {
			for _, r := range feed.batch().Readings {
				if r.Thing == "" {
					t.Fatalf("%+v", r)
				}
			}
		}
	})
}
