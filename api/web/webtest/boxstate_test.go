package webtest

// boxed is what the played appliance answers an administrator.
func boxed(other answers) answers {
	all := answers{"/web/v1/session": {change: map[string]any{"administrator": true}}}
	for path, a := range other {
		all[path] = a
	}
	return all
}

// admin is the path of a row for administrators.
const admin = "/web/v1/admin/"

// boxParts are the addresses of the box.
var boxParts = []string{
	"#/box",
	"#/box/backup",
	"#/box/devices",
	"#/box/accounts",
	"#/box/keys",
	"#/box/mqtt",
	"#/box/uplinks",
	"#/box/mails",
	"#/box/code",
	"#/box/secure",
	"#/box/settings",
	"#/box/audit",
	"#/box/log",
	"#/box/database",
	"#/box/record",
}

// needy is a box that needs everything that there are words for.
func needy() (attention []any) {
	for _, code := range []string{
		"not_ready", "read_only", "disk_low", "clock_unset", "no_backup", "backup_old", "recovered", "unreadable", "samples_lost", "mails_failed", "certificate_ends", "of_a_newer_version",
	} {
		attention = append(attention, map[string]any{"code": code, "figure": 3, "text": ""})
	}
	return attention
}

// staged is a backup that was sent and checked.
var staged = map[string]any{
	"installed_at": 1763308800, "made_at": 1763946600, "size": 48200000, "networks": 2, "users": 3, "homes": []any{"Home", "Cottage by the lake with a very long name"},
	"owners": []any{"sam@example.com"}, "uploaded_at": 1763999940, "by": "sam@example.com",
}

// recordingNow is a recording that runs, with a label.
func recordingNow(label string) map[string]any {
	return map[string]any{
		"name": "20251124-155800-17", "network_id": 17, "started": 1763999880, "ended": nil, "minutes": 10, "left_s": 480, "links": 2,
		"frames": 3012, "dropped": 7, "bytes": 412000, "label": label, "why": "",
	}
}

// boxStates are what an administrator sees when a box is new, in trouble, or does not answer.
var boxStates = []struct {
	name    string
	signed  bool
	address string
	answers answers
}{
	{"box: all is well", true, "#/box", boxed(answers{admin + "status": {change: map[string]any{"attention": []any{}}}})},
	{"box: everything is wrong", true, "#/box", boxed(answers{admin + "status": {change: map[string]any{
		"attention": needy(), "last_backup": nil, "clock_unset": true, "ready": false,
		"recovery": map[string]any{"at": 1763990000, "damage": "page 17", "backup_at": 1763946600, "lost": "2 events", "aside": "sensegate.db.damaged-1763990000"},
		"reach":    map[string]any{"page": "", "names": []any{}, "without_names": "http.mdns is off", "this_box_alone": true},
	}}})},
	{"box: homes moved", true, "#/box", boxed(answers{admin + "status": {change: map[string]any{"away": []any{
		map[string]any{"network_id": 17, "to": "http://192.168.10.3:8080/gatekeeper", "left": 1}, map[string]any{"network_id": 18, "to": "", "left": 0},
	}}}})},
	{"box: not an administrator", true, "#/box", answers{admin + "status": {status: 403, code: "not_administrator"}}},
	{"box: from elsewhere", true, "#/box/keys", boxed(answers{admin + "keys": {status: 403, code: "admin_address"}})},
	{"box: nobody looks after it", true, "#/box", answers{admin + "status": {status: 403, code: "not_administrator"}, "/web/v1/session": {change: map[string]any{"unmanaged": true}}}},
	{"box: switched off", true, "#/box", answers{admin + "status": {status: 404}}},
	{"box: refused", true, "#/box", boxed(answers{admin + "status": {status: 503}})},
	{"box: of somebody without a home", true, "", boxed(answers{"/web/v1/overview": {status: 404}, "/web/v1/setup": {change: map[string]any{"code": false, "homes": []any{}}}})},
	{"box: of who set it up for others", true, "", boxed(answers{"/web/v1/overview": {status: 404}, "/web/v1/setup": {change: map[string]any{"homes": []any{}}}})},
	{"box: of an installer", true, "#/installs", boxed(answers{"/web/v1/overview": {status: 404}, "/web/v1/setup": {change: settingUp("installer", "walk")}})},
	{"box: no backups", true, "#/box/backup", boxed(answers{admin + "backups": {change: map[string]any{"backups": []any{}}}})},
	{"box: backups refused", true, "#/box/backup", boxed(answers{admin + "backups": {status: 503}, admin + "restore": {status: 503}})},
	{"box: a backup was sent", true, "#/box/backup", boxed(answers{admin + "restore": {change: map[string]any{"staged": staged, "last": map[string]any{"at": 1763990000, "by": "sam@example.com", "ok": false, "text": "the disk was full"}}}})},
	{"box: devices without any", true, "#/box/devices", boxed(answers{admin + "devices": {change: map[string]any{"devices": []any{}, "windows": []any{}}}, admin + "links": {change: map[string]any{"links": []any{}}}})},
	{"box: devices refused", true, "#/box/devices", boxed(answers{admin + "devices": {status: 503}})},
	{"box: accounts refused", true, "#/box/accounts", boxed(answers{admin + "accounts": {status: 503}})},
	{"box: no keys", true, "#/box/keys", boxed(answers{admin + "keys": {change: map[string]any{"keys": []any{}, "networks": []any{}}}})},
	{"box: no MQTT users", true, "#/box/mqtt", boxed(answers{admin + "mqtt-users": {change: map[string]any{"users": []any{}}}})},
	{"box: MQTT users refused", true, "#/box/mqtt", boxed(answers{admin + "mqtt-users": {status: 503}})},
	{"box: no uplinks", true, "#/box/uplinks", boxed(answers{admin + "uplinks": {change: map[string]any{"uplinks": []any{}}}})},
	{"box: uplinks refused", true, "#/box/uplinks", boxed(answers{admin + "uplinks": {status: 503}})},
	{"box: no mails", true, "#/box/mails", boxed(answers{admin + "mails": {change: map[string]any{"mails": []any{}, "pushes_given_up": []any{}}}})},
	{"box: mails refused", true, "#/box/mails", boxed(answers{admin + "mails": {status: 503}})},
	{"box: nothing in the audit", true, "#/box/audit", boxed(answers{admin + "audit": {change: map[string]any{"lines": []any{}, "more": false}}})},
	{"box: audit refused", true, "#/box/audit", boxed(answers{admin + "audit": {status: 503}})},
	{"box: settings without a file", true, "#/box/settings", boxed(answers{admin + "settings": {change: map[string]any{"file": "", "settings": []any{}}}})},
	{"box: settings refused", true, "#/box/settings", boxed(answers{admin + "settings": {status: 503}})},
	{"box: no encryption", true, "#/box/secure", boxed(answers{admin + "secure": {change: map[string]any{"page": ""}}})},
	{"box: a certificate of their own", true, "#/box/secure", boxed(answers{admin + "secure": {change: map[string]any{"own_authority": false, "ends_at": nil}}})},
	{"box: encryption refused", true, "#/box/secure", boxed(answers{admin + "secure": {status: 503}})},
	{"box: an empty log", true, "#/box/log", boxed(answers{admin + "log": {change: map[string]any{"lines": []any{}, "more": false}}})},
	{"box: log refused", true, "#/box/log", boxed(answers{admin + "log": {status: 503}})},
	{"box: no recordings", true, "#/box/record", boxed(answers{admin + "recordings": {change: map[string]any{"recordings": []any{}}}})},
	{"box: a recording runs", true, "#/box/record", boxed(answers{admin + "recordings": {change: map[string]any{"busy": true, "running": recordingNow("moving")}}})},
	{"box: another home is recorded", true, "#/box/record", boxed(answers{admin + "recordings": {change: map[string]any{"busy": true}}})},
	{"box: recordings of who lives nowhere", true, "#/box/record", boxed(answers{admin + "recordings": {change: map[string]any{"homes": []any{}, "recordings": []any{}}}})},
	{"box: recordings refused", true, "#/box/record", boxed(answers{admin + "recordings": {status: 503}})},
	{"box: database refused", true, "#/box/database", boxed(answers{admin + "database": {status: 503}})},
}
