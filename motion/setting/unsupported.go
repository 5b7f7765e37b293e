package setting

import "strings"

// View is a form in which settings are shown.
type View int

// The views.
const (
	SoundingView View = iota // sounding settings, by their names
	GuardianView             // the guardian configuration, by path
	RadarView                // the radar configuration, by path
)

// ForDevices returns the settings of a view that only a guardian acts on: where the
// appliance senses itself, from raw channel state or figures of nodes, they are kept
// and sent to the devices, and change nothing. It tells no pets from people, has
// thresholds that follow sensitivity alone, decides about every link by itself, and
// takes whatever nodes report.
func ForDevices(v View) []string {
	seats := []seat{
		{"pet_mode", inGuardian, [2]string{"motion_events", "pet_mode"}},
		{"mesh_auto_disable", inRadar, [2]string{"mesh_sounding", "auto_disable"}},
		{"", inRadar, [2]string{"measurement", "base_threshold"}},
		{"", inRadar, [2]string{"measurement", "delta_count"}},
		{"", inRadar, [2]string{"measurement", "report"}},
	}
	var names []string
	for _, s := range seats {
		switch {
		case v == SoundingView && s.name != "":
			names = append(names, s.name)
		case v == GuardianView && s.document == inGuardian, v == RadarView && s.document == inRadar:
			names = append(names, strings.Join(s.keys(), "."))
		}
	}
	return names
}
