// Package jsonwritertest says what package jsonwriter has to write, for tests.
package jsonwritertest

import (
	"bytes"
	"encoding/json"
	"testing"

	"sensegate/motion"
)

// ByEncodingJSON returns a value as encoding/json writes it.
func ByEncodingJSON(t testing.TB, v any, escapeHTML bool) []byte {
	t.Helper()
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(escapeHTML)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

// Tidy returns a report in which what a device did not send is an empty list or object.
func Tidy(r motion.StatusReport) motion.StatusReport {
	choices, radars := map[string]motion.Choice{}, map[string]motion.Radar{}
	for mac, c := range r.Leafblower {
		if c.AP == nil {
			c.AP = map[string]float64{}
		}
		choices[mac] = c
	}
	for name, radar := range r.Radars {
		if radar.Mem == nil {
			radar.Mem = map[string]string{}
		}
		if radar.Version == nil {
			radar.Version = motion.Document{}
		}
		radar.Load, radar.Links = append([]string{}, radar.Load...), append([]motion.RadarLink{}, radar.Links...)
		radar.Interfaces = append([]motion.Interface{}, radar.Interfaces...)
		for i := range radar.Interfaces {
			radar.Interfaces[i].Routes = append([]motion.Document{}, radar.Interfaces[i].Routes...)
		}
		radars[name] = radar
	}
	r.Leafblower, r.Radars = choices, radars
	return r
}
