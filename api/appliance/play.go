package appliance

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"

	"sensegate/api/auth"
	"sensegate/api/browser"
	"sensegate/motion"
	"sensegate/motion/alert"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/household"
	"sensegate/motion/sensor"
	"sensegate/motion/sensor/zigbee2mqtt"
	"sensegate/motion/setting"
	"sensegate/store"
)

// What follows is for a caller in the same process, such as the demo.

// HTTP returns the address of the HTTP listener.
func (a *Appliance) HTTP() net.Addr { return a.http.Addr() }

// MQTT returns the address of the MQTT listener.
func (a *Appliance) MQTT() net.Addr { return a.broker.Addr() }

// MQTTS returns the address of the MQTT listener with TLS, nil without one.
func (a *Appliance) MQTTS() net.Addr { return a.broker.TLSAddr() }

// HTTPS returns the address of the HTTP listener with TLS, nil without one.
func (a *Appliance) HTTPS() net.Addr { return a.http.TLSAddr() }

// coreHere returns the URL of the Core interface for programs on this machine.
func (a *Appliance) coreHere() string {
	server := a.http
	if a.core != nil {
		server = a.core
	}
	address := server.Addr().(*net.TCPAddr)
	host := address.IP.String()
	if address.IP.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, strconv.Itoa(address.Port)) + "/core"
}

// Key makes an API key that may do everything and returns its secret.
func (a *Appliance) Key(ctx context.Context) (secret string, err error) {
	err = a.db.Update(ctx, func(tx *store.Tx) error {
		_, secret, err = tx.CreateAPIKey(store.APIKey{Name: "demo", Scopes: auth.Scopes()})
		return err
	})
	return secret, err
}

// Import stores history and events of the past; see engine.Import.
func (a *Appliance) Import(ctx context.Context, network motion.NetworkID, history []motion.History, events []motion.Event) error {
	return a.engine.Sensing.Import(ctx, network, history, events)
}

// PlaceNode sets the location and name of a node, by its deviceId; see engine.PlaceNode.
func (a *Appliance) PlaceNode(ctx context.Context, device, location, friendlyName string) error {
	node, err := a.engine.Inventory.NodeByDevice(ctx, device)
	if err != nil {
		return err
	}
	return a.engine.Inventory.PlaceNode(ctx, node.ID, location, friendlyName)
}

// PlaceLeaf sets the location and name of a leaf; see engine.PlaceLeaf.
func (a *Appliance) PlaceLeaf(ctx context.Context, network motion.NetworkID, mac motion.MAC, location, friendlyName string) error {
	return a.engine.Inventory.PlaceLeaf(ctx, network, mac, location, friendlyName)
}

// SetCooldown sets after how many seconds without motion the motion event ends.
func (a *Appliance) SetCooldown(ctx context.Context, network motion.NetworkID, seconds int) error {
	cooldown := int32(seconds)
	return a.engine.Inventory.EditSounding(ctx, network, true, setting.SoundingChange{Cooldown: &cooldown}, nil)
}

// Watch calls see for every event of a network, in order, until ctx ends.
func (a *Appliance) Watch(ctx context.Context, network motion.NetworkID, see func(motion.Event)) error {
	events, err := a.engine.Sensing.LiveEvents(network)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, events.Close)()
	defer events.Close()
	for m := range events.All() {
		see(*m.Event)
	}
	return nil
}

// Settle makes an account that looks after the appliance and owns the home of a network, as if it had claimed that at since, has
// nights looked at, and returns a code for POST /web/v1/demo-login.
func (a *Appliance) Settle(ctx context.Context, network motion.NetworkID, since motion.Time) (code string, err error) {
	u, err := a.parts.Accounts.Create(ctx, auth.Registration{Email: "demo@localhost", Password: rand.Text(), FirstName: "Alex"})
	if err != nil {
		return "", err
	}
	state, err := a.engine.Inventory.NetworkState(network)
	if err != nil {
		return "", err
	}
	house, _, err := a.parts.Household.ByGuardian(ctx, state.GuardianID)
	if err != nil {
		return "", err
	}
	if _, err := a.parts.Household.Claim(ctx, house.ID, u.ID, household.Proof{Local: true}); err != nil {
		return "", err
	}
	settings := motion.DefaultApplicationSettings(network)
	settings.Enabled = true
	if err := a.engine.Insights.CreateApplicationSettings(ctx, settings); err != nil {
		return "", err
	}
	err = a.db.Update(ctx, func(tx *store.Tx) error {
		house, err := tx.Home(house.ID)
		if err != nil {
			return err
		}
		house.Name, house.ClaimedAt = "Demo home", since
		return errors.Join(tx.PutHome(house), tx.SetAdministrator(u.ID, true))
	})
	return a.guest.Invite(u.ID), err
}

// Play lets people set the simulated home of a demo in motion; see browser.Stage.
func (a *Appliance) Play(walk, unplug func(), unplugged func() string) {
	a.play.Begin(browser.Stage{Walk: walk, Unplug: unplug, Unplugged: unplugged})
}

// demoAlerts returns the rules of the demo's home: two of the app's presets, as the app writes them.
func demoAlerts() (edits []alert.Edit, err error) {
	const tell = `[{"action":"event","payload":{}},{"action":"fcm_push","user_ids":[],"payload":{"data":{"title":%[1]q,"body":%[1]q,"click_action":"CustomAlertEvent","sound":"default"},
		"apns":{"headers":{"apns-push-type":"alert"},"payload":{"aps":{"alert":{"title":%[1]q,"body":%[1]q},"sound":"default","category":"CustomAlertEvent"}}}}}]`
	const rule = `{"alert_name":%[1]q,"rrule":"DTSTART;TZID=UTC:20260101T%[2]s0000\nRRULE:FREQ=DAILY","analytics_tag":"sensegate","meta":{"sensegate":%[4]s},
		"monitor":{"monitor_mode":"SIMPLE","duration_minutes":%[3]d,"inactive_minutes":0,"repeat_monitoring":false},
		"no_motion_actions":%[5]s,"motion_actions":%[6]s,"no_history_actions":%[7]s}`
	const morning, night = "Nobody moved by 10:00", "Quiet time 23:00–06:00"
	err = json.Unmarshal([]byte("["+
		fmt.Sprintf(rule, morning, "10", 4*60, `{"scene":"home"}`, fmt.Sprintf(tell, morning), "[]", fmt.Sprintf(tell, morning+": not known"))+","+
		fmt.Sprintf(rule, night, "06", 7*60, `{"at_once":true}`, "[]", fmt.Sprintf(tell, night), "[]")+"]"), &edits)
	return edits, err
}

// Bridge makes a user of the MQTT broker for a Zigbee2MQTT bridge, and returns its password.
func (a *Appliance) Bridge(ctx context.Context, user string) (password string, err error) {
	err = a.db.Update(ctx, func(tx *store.Tx) error {
		_, password, err = tx.CreateIntegrationUser(store.IntegrationUser{Name: user, TopicPrefix: user})
		return err
	})
	return password, err
}

// PlaceSensor follows the sensors of the bridge for the home of a network, and sets the location and
// name of one of them, by its thing name. What it detects is kept.
func (a *Appliance) PlaceSensor(ctx context.Context, network motion.NetworkID, thing, location, friendlyName string) error {
	var house home.Home
	var people []home.Membership
	err := a.db.View(ctx, func(tx *store.Tx) (err error) {
		if house, _, err = tx.HomeOfNetwork(network); err == nil {
			people, err = tx.MembershipsOfHome(house.ID)
		}
		return err
	})
	owner := slices.IndexFunc(people, func(m home.Membership) bool { return m.Role == home.OwnerRole })
	switch {
	case err != nil:
		return err
	case owner < 0:
		return fault.New(fault.Conflict, "network %d: nobody owns its home", network)
	}
	if _, err := a.sensors.Create(ctx, house.ID, people[owner].User, true, zigbee2mqtt.Name); err != nil {
		return err
	}
	keep := true
	_, err = a.sensors.ChangeDevice(ctx, house.ID, thing, sensor.DeviceEdit{Notify: &keep, FriendlyName: &friendlyName, Location: &location})
	return err
}

// demoPresence is how long ago the phones of the demo's household told whether they are at home.
const demoPresence motion.Seconds = 2 * 3600

// Befriend makes Sam, a second member of the home of a network, who is away, and two alerts of it.
func (a *Appliance) Befriend(ctx context.Context, network motion.NetworkID) error {
	sam, err := a.parts.Accounts.Create(ctx, auth.Registration{Email: "sam@localhost", Password: rand.Text(), FirstName: "Sam"})
	if err != nil {
		return err
	}
	err = a.db.Update(ctx, func(tx *store.Tx) error {
		house, _, err := tx.HomeOfNetwork(network)
		if err != nil {
			return err
		}
		if _, err := tx.CreateMembership(home.Membership{Role: home.MemberRole, User: sam.ID, Home: house.ID}); err != nil {
			return err
		}
		members, err := tx.MembershipsOfHome(house.ID)
		for _, m := range members { // as their phones have told
			m.IsPresent, m.PresenceAt = m.Role == home.OwnerRole, tx.Now().Add(-demoPresence)
			m.Devices = []home.DevicePresence{{Present: m.IsPresent, At: m.PresenceAt}}
			if err := tx.PutMembership(m); err != nil {
				return err
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	edits, err := demoAlerts()
	if err != nil {
		return err
	}
	for _, edit := range edits {
		if _, err := a.engine.Alerts.CreateAlert(ctx, network, edit); err != nil {
			return err
		}
	}
	return nil
}
