package store

import "testing"

// TestEveryTableIsMovedOrLeftBehind holds the list of docs/moving.md: who adds a table decides whether its
// records go to another box with their network.
func TestEveryTableIsMovedOrLeftBehind(t *testing.T) {
	t.Parallel()
	const (
		moved  = "moved"
		behind = "left behind"
		of     = "of the box"
	)
	decided := map[string]string{
		"networks": moved, "nodes": moved, "radars": moved, "leafs": moved, "links": moved, "status": moved, "status_heard": moved,
		"devices": moved, "heard": moved, "device_tokens": moved, "detector_states": moved, "event_states": moved,
		"alerts": moved, "application_settings": moved, "homes": moved, "memberships": moved, "users": moved, "user_meta": moved,
		"home_locations": moved, "home_meta": moved, "scene_configs": moved, "sensor_integrations": moved, "sensors": moved,
		"armed": moved, "events": moved, "detections": moved,
		"pending": behind, "adoption_windows": behind, "api_keys": behind, "integration_users": behind, "pushes": behind, "sessions": behind,
		"familiar": behind, "invitations": behind, "mails": behind, "mobiles": behind, "deliveries": behind, "commands": behind, "batches": behind,
		"rooms": behind, "uplink_published": of,
		"sensor_farewells": of, "sensor_cursors": of, "audit": of, "uplinks": of, "uplink_cursors": of,
	}
	for _, table := range allTables() {
		if decided[table.name] == "" {
			t.Errorf("%s: does it go to another box with its network? NetworkCopy, HistoryRecord or LeftBehind, docs/moving.md and this list say so", table.name)
		}
	}
}
