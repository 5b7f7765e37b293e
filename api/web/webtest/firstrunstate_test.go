package webtest

// settingUp are answers of an appliance with a home whose setup stands at a step, for its owner or
// an installer.
func settingUp(role, step string) map[string]any {
	home := map[string]any{"id": 17, "name": "Home", "timezone": "America/Toronto", "role": role, "until": nil, "step": step}
	if role == "installer" {
		home["until"] = 1764600000
	}
	return map[string]any{"homes": []any{home}}
}

// found are homes that nobody owns.
func found(names ...string) []any {
	var list []any
	for i, name := range names {
		list = append(list, map[string]any{"id": 20 + i, "name": "", "nodes": 3, "names": []any{name, "Hall extender", "Extender behind the bookshelf in the study"}, "online": 2, "heard": 1763990000})
	}
	return list
}

// firstRunStates are the steps of the first run, and what installers see.
var firstRunStates = []struct {
	name    string
	signed  bool
	address string
	answers answers
}{
	{"first run: a code is asked for", false, "#/setup", nil},
	{"first run: a code of somebody with an account", true, "#/setup", answers{"/web/v1/setup": {change: map[string]any{"code": false, "homes": []any{}}}}},
	{"first run: no gateway yet", true, "#/setup", answers{"/web/v1/setup": {change: map[string]any{"homes": []any{}}}}},
	{"first run: one home", true, "#/setup", answers{"/web/v1/setup": {change: map[string]any{"homes": []any{}, "claimable": found("Gateway")}}}},
	{"first run: two homes", true, "#/setup", answers{"/web/v1/setup": {change: map[string]any{"homes": []any{}, "claimable": found("Gateway", "Router of the neighbours")}}}},
	{"first run: devices that wait or are refused", true, "#/setup/devices?home=17", answers{"/web/v1/setup": {change: settingUp("owner", "devices")}}},
	{"first run: no devices", true, "#/setup/devices?home=17", answers{"/web/v1/setup": {change: settingUp("owner", "devices")}, "/web/v1/devices": {change: map[string]any{"devices": []any{}}}}},
	{"first run: devices refused", true, "#/setup/devices?home=17", answers{"/web/v1/setup": {change: settingUp("owner", "devices")}, "/web/v1/devices": {status: 503}}},
	{"first run: rooms", true, "#/setup/rooms?home=17", answers{"/web/v1/setup": {change: settingUp("owner", "rooms")}}},
	{"first run: rooms of no devices", true, "#/setup/rooms?home=17", answers{"/web/v1/setup": {change: settingUp("owner", "rooms")}, "/web/v1/devices": {change: map[string]any{"devices": []any{}}}}},
	{"first run: walk test", true, "#/setup/walk?home=17", answers{"/web/v1/setup": {change: settingUp("owner", "walk")}}},
	{"first run: whose home", true, "#/setup/handover?home=17", answers{"/web/v1/setup": {change: settingUp("owner", "handover")}}},
	{"first run: an installer is done", true, "#/setup/handover?home=17", answers{"/web/v1/overview": {status: 404}, "/web/v1/setup": {change: settingUp("installer", "handover")}}},
	{"first run: the last page, opened again", true, "#/setup/handover?home=17", answers{"/web/v1/setup": {change: settingUp("owner", "")}}},
	{"first run: handed over, opened again", true, "#/setup/handover?home=17", answers{"/web/v1/overview": {status: 404}, "/web/v1/setup": {change: settingUp("installer", "")}}},
	{"first run: refused", true, "#/setup", answers{"/web/v1/setup": {status: 503}}},
	{"a home that is not set up yet", true, "#/", answers{"/web/v1/setup": {change: settingUp("owner", "rooms")}}},
	{"homes of an installer", true, "#/installs", answers{"/web/v1/overview": {status: 404}, "/web/v1/setup": {change: settingUp("installer", "walk")}}},
	{"the account of an installer", true, "#/me", answers{"/web/v1/overview": {status: 404}, "/web/v1/setup": {change: settingUp("installer", "")}}},
	{"devices for an installer", true, "#/devices", answers{"/web/v1/overview": {status: 404}, "/web/v1/setup": {change: settingUp("installer", "")}}},
	{"people with an installer, for a member", true, "#/people", answers{"/web/v1/overview": {change: member}}},
}
