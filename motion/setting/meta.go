package setting

import (
	"net/url"
	"slices"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/shape"
)

// Keys of meta that are views of what is kept elsewhere (payloads.md 4.11).
const (
	homeKey         = "home"          // of motion_events in the guardian configuration
	locationKey     = "location"      // of the leafs
	friendlyNameKey = "friendly_name" // of the leafs
)

// Meta is a network's meta as it is kept: home in the guardian configuration of
// the network, places and names with the leafs.
type Meta struct {
	Network       motion.Network
	Locations     map[string]string // by leaf MAC; "" is a place too: mobile
	FriendlyNames map[string]string // by leaf MAC, not empty
}

// levels are the words of a sensitivity, from 1 on (payloads.md 5.3).
func levels() []string { return []string{"high", "medium", "low", "very_low"} }

// Level returns the word of a sensitivity, "" when there is none.
func Level(sens int) string {
	if sens < 1 || sens > len(levels()) {
		return ""
	}
	return levels()[sens-1]
}

// Sens returns the sensitivity that a word stands for, 0 when it stands for none.
func Sens(level string) int { return slices.Index(levels(), level) + 1 }

// Home returns meta.home: the sensitivity and cooldown in force.
func Home(events motion.MotionEvents) motion.Document {
	home := motion.Document{"sens": events.Sens, "cooldown": events.Cooldown}
	if level := Level(events.Sens); level != "" {
		home["sensitivity_level"] = level
	}
	return home
}

// View returns meta as callers see it: what is kept, home once it was set, and the
// places and names that there are.
func (t Meta) View() motion.Document {
	view := motion.Document(cloneOf(t.Network.Meta))
	if events, _ := t.Network.GuardianConfig["motion_events"].(map[string]any); events["sens"] != nil || events["cooldown"] != nil {
		view[homeKey] = map[string]any(Home(t.Network.Guardian().MotionEvents))
	}
	for key, texts := range map[string]map[string]string{locationKey: t.Locations, friendlyNameKey: t.FriendlyNames} {
		if len(texts) > 0 {
			view[key] = objectOf(texts)
		}
	}
	return view
}

// Edit returns what an edit makes of meta: of the network's documents, and of
// places and names. Keys of Locations that are gone have no place any more.
func (t Meta) Edit(e Edit) (Meta, error) {
	var m fault.Details
	e = e.withMACs(&m, locationKey)
	e = e.withMACs(&m, friendlyNameKey)
	before, err := plain(t.View())
	if err != nil {
		return t, err
	}
	if _, set := before[homeKey]; set { // what was set, not what is in force
		before[homeKey] = homeSet(t.Network.GuardianConfig)
	}
	after, err := e.apply(before)
	if err != nil {
		return t, err
	}
	e.check(&m, metaShape(), after)
	if len(m) == 0 {
		checkLevel(&m, e, after)
	}
	if err := m.Err(); err != nil {
		return t, err
	}
	t.Locations, t.FriendlyNames = textsOf(after[locationKey]), textsOf(after[friendlyNameKey])
	t.Network.GuardianConfig = withHome(t.Network.GuardianConfig, after[homeKey])
	for _, key := range []string{homeKey, locationKey, friendlyNameKey} {
		delete(after, key)
	}
	t.Network.Meta = after
	checkPetMode(&m, t.Network, e.at(homeKey))
	if err := m.Err(); err != nil {
		return t, err
	}
	return t, fits(t.Network.Meta)
}

// Reset returns meta without all but some top-level keys, and the guardian
// configuration as it was or empty; home stays in it when it is one of the keys.
func (t Meta) Reset(keepGuardian bool, keep []string) Meta {
	keeps := func(key string) bool { return slices.Contains(keep, key) }
	meta := motion.Document{}
	for key, value := range t.Network.Meta {
		if keeps(key) {
			meta[key] = value
		}
	}
	t.Network.Meta = meta
	if !keepGuardian {
		var home any
		if keeps(homeKey) {
			home = homeSet(t.Network.GuardianConfig)
		}
		t.Network.GuardianConfig = withHome(nil, home)
	}
	if !keeps(locationKey) {
		t.Locations = nil
	}
	if !keeps(friendlyNameKey) {
		t.FriendlyNames = nil
	}
	return t
}

// metaShape is meta (interfaces.md 2.1): typed keys, and strings at all
// others.
func metaShape() shape.Object {
	names := map[string]shape.Shape{}
	for _, key := range []string{"groupId", "systemName", "systemType", "systemOwner", "configurationType"} {
		names[key] = shape.Text(1024)
	}
	events, byMAC := shape.Document[motion.MotionEvents]().Known, shape.ByMAC(maxClients, shape.Place)
	return shape.Object{
		Known: map[string]shape.Shape{
			"dwm": shape.Object{Known: names, Others: shape.Text(1024)}.Check,
			homeKey: shape.Object{
				Known:  map[string]shape.Shape{"sens": events["sens"], "cooldown": events["cooldown"], "sensitivity_level": shape.Word(levels()...)},
				Others: shape.Nothing,
			}.Check,
			locationKey: byMAC, friendlyNameKey: byMAC,
			"neuron_env": shape.OrNull(shape.Text(1024)), "guardian_env": shape.Word("local"),
			pausedSetting: shape.Toggle, "auto_segment": shape.WholeNumber,
			"mqSecureRadarPort": shape.OrNull(shape.Integer(1, 65535)),
			"new_network_id":    shape.WholeNumber, "old_network_id": shape.WholeNumber,
			"new_guardian_id": shape.Text(64), "gatekeeper_redirect": webAddress,
		},
		Others: shape.Text(8192),
	}
}

// webAddress is a full http or https URL.
func webAddress(m *fault.Details, at string, value any) {
	s, _ := value.(string)
	u, err := url.Parse(s)
	if err != nil || len(s) > 2048 || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		m.Add(at, value, "want a full URL such as https://gate.example/gatekeeper")
	}
}

// checkLevel holds a sensitivity_level that the caller gives against the sens that
// it gives, and puts it in its place where it gives none.
func checkLevel(m *fault.Details, e Edit, meta motion.Document) {
	home, _ := meta[homeKey].(map[string]any)
	level, given := home["sensitivity_level"]
	if !given {
		return
	}
	asked, _ := e.Body[homeKey].(map[string]any)
	for i, word := range levels() {
		if word != level {
			continue
		}
		if said, both := asked["sens"]; both && said != float64(i+1) {
			m.Add(e.at(homeKey, "sensitivity_level"), level, "is not the level of sens")
		}
		home = cloneOf(home)
		home["sens"] = float64(i + 1)
	}
	delete(home, "sensitivity_level")
	meta[homeKey] = home
}

// homeSet returns what of meta.home is set in a guardian configuration.
func homeSet(config motion.Document) map[string]any {
	home := map[string]any{}
	events, _ := config["motion_events"].(map[string]any)
	for _, key := range []string{"sens", "cooldown"} {
		if v, ok := events[key]; ok {
			home[key] = v
		}
	}
	return home
}

// withHome returns a guardian configuration with the sensitivity and cooldown of
// meta.home; what home does not say is not set any more.
func withHome(config motion.Document, home any) motion.Document {
	values, _ := home.(map[string]any)
	events, _ := config["motion_events"].(map[string]any)
	if len(values) == 0 && events == nil {
		return config
	}
	events = cloneOf(events)
	for _, key := range []string{"sens", "cooldown"} {
		delete(events, key)
		if v, ok := values[key]; ok {
			events[key] = v
		}
	}
	config = motion.Document(cloneOf(config))
	config["motion_events"] = events
	return config
}

// objectOf and textsOf turn texts into an object of a document and back.
func objectOf(texts map[string]string) map[string]any {
	object := make(map[string]any, len(texts))
	for key, text := range texts {
		object[key] = text
	}
	return object
}

func textsOf(value any) map[string]string {
	object, _ := value.(map[string]any)
	texts := make(map[string]string, len(object))
	for key, v := range object {
		texts[key], _ = v.(string)
	}
	return texts
}
