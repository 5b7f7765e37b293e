package household_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sensegate/motion"
	"sensegate/motion/alert"
	"sensegate/motion/command"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/household"
	"sensegate/motion/setting"
	"sensegate/store"
	"sensegate/store/storetest"
)

// alert makes an alert of a network; actions is JSON.
func (p *place) alert(network motion.NetworkID, name, actions string) (uuid string) {
	p.t.Helper()
	var edit alert.Edit
	err := json.Unmarshal([]byte(`{"alert_name":"`+name+`","rrule":"DTSTART:20990101T000000Z\nRRULE:FREQ=DAILY","monitor":{"monitor_mode":"NONE"},"no_motion_actions":`+actions+`}`), &edit)
	rule, failed := p.engine.Alerts.CreateAlert(p.t.Context(), network, edit)
	if err := errors.Join(err, failed); err != nil {
		p.t.Fatal(err)
	}
	return rule.UUID
}

// furnish gives a network all that its people can say of themselves there.
func (p *place) furnish(network motion.NetworkID, owner home.UserID) {
	p.t.Helper()
	leaf := motion.MAC{2, 0xbb, 0, 0, 0, 0x31}
	met := p.db.Update(p.t.Context(), func(tx *store.Tx) error {
		_, err := tx.PutLeaf(motion.Leaf{NetworkID: network, MAC: leaf, PeerType: motion.PeerClient})
		return err
	})
	described := p.engine.Devices.DescribeDevice(p.t.Context(), network, motion.DeviceInfo{MAC: leaf, Hostname: "Rosenduft-phone", Name: "Rosenduft's phone", Brand: "Acme"})
	clients, err := p.engine.Inventory.SoundingClients(network)
	if err != nil || len(clients.Nodes) != 1 {
		p.t.Fatalf("%+v %v", clients, err)
	}
	name, room := "Rosenduft phone", "Rosenduft bedroom"
	moves := true
	placed := p.engine.Inventory.PlaceDevices(p.t.Context(), network, []setting.Placement{
		{At: "body[0]", MAC: leaf, FriendlyName: &name, Location: &room, Mobile: &moves},
		{At: "body[1]", Node: clients.Nodes[0].ID, FriendlyName: &name, Location: &room},
	}, nil)
	cooldown := int32(90)
	sounded := p.engine.Inventory.EditSounding(p.t.Context(), network, false, setting.SoundingChange{ZonePriorityList: &[]string{room}, Cooldown: &cooldown}, nil)
	_, slept := p.engine.Insights.ChangeSleepSettings(p.t.Context(), network, func(s *motion.ApplicationSettings) { s.Enabled, s.SleepHour = true, 3 })
	pushed := p.db.Update(p.t.Context(), func(tx *store.Tx) error {
		_, err := tx.AddPush(store.Push{NetworkID: network, Payload: motion.Document{"data": map[string]any{"body": "Rosenduft waits"}}})
		return errors.Join(err, tx.AddDelivery(store.Delivery{NetworkID: network, UserIDs: []home.UserID{owner}, Payload: motion.Document{"body": "Rosenduft is on its way"}}))
	})
	if err := errors.Join(met, described, placed, sounded, slept, pushed); err != nil {
		p.t.Fatal(err)
	}
}

func TestVacatedNetworkSaysNothingOfItsHousehold(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	house, owner := p.home("g", 1), p.user("owner")
	network := house.ExternalID
	p.claim(house.ID, owner)
	p.furnish(network, owner)
	p.alert(network, "Rosenduft insulin", `[{"action":"fcm_push","payload":{"data":{"body":"Rosenduft, take it"}}}]`)
	p.alert(network, "Rosenduft both", `[{"action":"event","payload":{"_consumer":"x"}},{"action":"fcm_push","user_ids":[1],"payload":{"data":{}}}]`)
	p.alert(network, "Rosenduft nothing", `[]`)
	kept := p.alert(network, "night check", `[{"action":"event","payload":{"_consumer":"tower"}}]`)
	if len(storetest.Scan(t, p.db, "Rosenduft")) < 8 {
		t.Fatal("the scan sees nothing")
	}
	if err := p.DeleteUser(t.Context(), owner, household.Leaving{}); err != nil {
		t.Fatal(err)
	}
	for _, found := range storetest.Scan(t, p.db, "Rosenduft") {
		t.Error(found)
	}
	clients, err := p.engine.Inventory.SoundingClients(network)
	if err != nil || clients.Nodes[0].FriendlyName != "" || clients.Nodes[0].Location != "" {
		t.Errorf("node %+v %v", clients.Nodes[0], err)
	}
	if leaf := clients.Leafs[0]; leaf.FriendlyName != leaf.MAC.String() || leaf.Location != "" || leaf.Reason == "MOBILE" ||
		leaf.DeviceInfo.Hostname != "" || leaf.DeviceInfo.Name != "" || leaf.DeviceInfo.Brand != "Acme" {
		t.Errorf("leaf %+v", leaf)
	}
	if s, err := p.engine.Inventory.SoundingSettings(network); err != nil || len(s.ZonePriorityList) != 0 || s.Cooldown != 90 {
		t.Errorf("sounding settings %+v %v, want no zones, and the rest as it was", s, err)
	}
	if s, err := p.engine.Insights.SleepSettings(t.Context(), network); err != nil || s != motion.DefaultApplicationSettings(network) {
		t.Errorf("sleep settings %+v %v", s, err)
	}
	rules, err := p.engine.Alerts.Alerts(t.Context(), network)
	if err != nil || !slices.EqualFunc(rules, []string{kept}, func(r alert.Rule, uuid string) bool { return r.UUID == uuid }) {
		t.Errorf("alerts %+v %v, want the one that only raises events", rules, err)
	}
}

// What a member leaves behind is the home's: it goes on.
func TestHomeWithASuccessorKeepsWhatItSaid(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	house, owner, member := p.home("g", 1), p.user("owner"), p.user("member")
	p.claim(house.ID, owner)
	p.join(house.ID, owner, member, "member")
	p.furnish(house.ExternalID, owner)
	p.alert(house.ExternalID, "Rosenduft insulin", `[{"action":"fcm_push","payload":{"data":{}}}]`)
	if err := p.DeleteUser(t.Context(), owner, household.Leaving{}); err != nil {
		t.Fatal(err)
	}
	rules, err := p.engine.Alerts.Alerts(t.Context(), house.ExternalID)
	clients, failed := p.engine.Inventory.SoundingClients(house.ExternalID)
	if err := errors.Join(err, failed); err != nil || len(rules) != 1 || clients.Leafs[0].FriendlyName != "Rosenduft phone" {
		t.Errorf("alerts %+v, clients %+v, %v", rules, clients, err)
	}
}

// TestVacatedNetworkServesItsHouseholdNoMore wants keys, settings, commands and the status of
// the former household gone, and what fits the rooms kept.
func TestVacatedNetworkServesItsHouseholdNoMore(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	house, owner := p.home("g", 1), p.user("owner")
	network := house.ExternalID
	p.claim(house.ID, owner)
	clients, err := p.engine.Inventory.SoundingClients(network)
	if err != nil || len(clients.Nodes) != 1 {
		t.Fatalf("%+v %v", clients, err)
	}
	var own, all string
	keyed := p.db.Update(t.Context(), func(tx *store.Tx) error {
		_, a, err := tx.CreateAPIKey(store.APIKey{Name: "laptop", NetworkID: network})
		_, b, also := tx.CreateAPIKey(store.APIKey{Name: "administrator"})
		own, all = a, b
		c, made := tx.CreateCommand(command.Command{NetworkID: network, NodeID: clients.Nodes[0].ID, State: command.WaitingForOnline, Payload: map[string]string{"command": "reboot"}})
		return errors.Join(err, also, made, tx.PutStatus(motion.StatusReport{NetworkID: network, TS: 1, GuardianID: "olgas-iphone"}), func() error {
			if c.ID != 1 {
				return errors.New("the command has another id")
			}
			return nil
		}())
	})
	edit := func(text string) (e setting.Edit) {
		if err := json.Unmarshal([]byte(text), &e.Body); err != nil {
			t.Fatal(err)
		}
		return e
	}
	err = errors.Join(keyed,
		p.engine.Inventory.EditGuardian(t.Context(), network, false, edit(`{"olga":"secret","motion_events":{"enabled":0,"sens":3,"cooldown":90},"link_events":{"enabled":0}}`)),
		p.engine.Inventory.EditRadar(t.Context(), network, false, edit(`{"olga":"secret","sounding":{"rate_ms":50,"mode":"deny","clients":{"02:bb:00:00:00:31":{"mode":"deny"}}},"measurement":{"base_threshold":99999}}`)),
		p.engine.Inventory.EditMeta(t.Context(), network, false, edit(`{"gatekeeper_redirect":"https://olga.example/gk","olga_note":"secret","motion_paused":1}`)))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.DeleteUser(t.Context(), owner, household.Leaving{}); err != nil {
		t.Fatal(err)
	}
	_, revoked := p.db.CheckAPIKey(t.Context(), own)
	wantKind(t, "the household's key", revoked, fault.Unauthorized)
	if _, err := p.db.CheckAPIKey(t.Context(), all); err != nil {
		t.Errorf("the administrator's key: %v", err)
	}
	if p.ended.Load() == 0 {
		t.Error("nobody looks at what was opened with the key")
	}
	err = p.db.View(t.Context(), func(tx *store.Tx) error {
		n, err := tx.Network(network)
		if diff := cmp.Diff([]motion.Document{
			{}, {"motion_events": map[string]any{"sens": 3.0, "cooldown": 90.0}}, {"sounding": map[string]any{"rate_ms": 50.0}},
		}, []motion.Document{n.Meta, n.GuardianConfig, n.RadarConfig}); diff != "" {
			t.Error(diff)
		}
		c, also := tx.Command(1)
		if c.State != command.Cancelled {
			t.Errorf("the command is in state %s", c.State)
		}
		_, told := tx.Status(network)
		wantKind(t, "the last report", told, fault.NotFound)
		return errors.Join(err, also)
	})
	if err != nil {
		t.Error(err)
	}
	if state, err := p.engine.Inventory.NetworkState(network); err != nil || state.Paused() || state.Guardian().MotionEvents.Enabled != 1 {
		t.Errorf("the engine goes on with %+v %v", state.Network, err)
	}
}
