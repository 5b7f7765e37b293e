package integration

import (
	"testing"

	"sensegate/motion/sensor"
)

// BenchmarkQuietReading measures a reading that says nothing that is kept: what most
// messages of a sensor cost.
func BenchmarkQuietReading(b *testing.B) {
	shelf := shelf{{Type: sensor.Hub, Reading: sensor.Reading{Thing: hubName}}, {Hub: hubName, Type: sensor.Climate, Reading: sensor.Reading{Thing: climate}}}
	f := newFixture(b, map[string]sensor.Provider{"shelf": shelf})
	i := f.enabled()
	f.notify(climate)
	h := host{f.Service, "shelf"}
	deliver := func(temperature float64) {
		reading := sensor.Reading{Account: i.Account.UserThingName, Thing: climate, Temperature: &temperature}
		if err := h.Deliver(b.Context(), sensor.Batch{Readings: []sensor.Reading{reading}}); err != nil {
			b.Fatal(err)
		}
	}
	deliver(20)
	for n := 0; b.Loop(); n++ {
		deliver(20 + 0.1*float64(n%9))
	}
}
