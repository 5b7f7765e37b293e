package box

import (
	"fmt"
	"os"
	"strings"

	"sensegate/api/box/support"
	"sensegate/motion"
	"sensegate/motion/home"
	"sensegate/store"
)

// nameMachine has the names of this machine and of its people replaced in a support bundle.
func nameMachine(names *support.Names, stateDir string) {
	names.Add("state-dir", stateDir)
	if host, err := os.Hostname(); err == nil && host != "localhost" {
		names.Add("host", host)
	}
	users, err := os.ReadFile("/etc/passwd")
	if err != nil {
		return
	}
	for line := range strings.Lines(string(users)) {
		// Names of people have numbers from 1000 on: four digits or more, and not 65534, which is nobody.
		if f := strings.Split(line, ":"); len(f) > 4 && len(f[2]) > 3 && f[2] != "65534" {
			names.Also(names.Add("user", f[0]), strings.Split(f[4], ",")...)
		}
	}
}

// nameHouseholds has every name that the database knows replaced in a support bundle, and returns the
// leafs that move about.
func nameHouseholds(tx *store.Tx, names *support.Names) (mobile map[motion.NodeID]bool, err error) {
	mobile = map[motion.NodeID]bool{}
	networks, err := tx.Networks()
	if err != nil {
		return nil, err
	}
	for _, n := range networks {
		names.Add("network", "network "+fmt.Sprint(n.ID))
		if err := nameNetwork(tx, names, n, mobile); err != nil {
			return nil, err
		}
	}
	homes, err := tx.Homes()
	if err != nil {
		return nil, err
	}
	for _, h := range homes {
		names.Also(names.Add("home", "home "+fmt.Sprint(h.ID)), h.Name, h.Address)
		if err := nameHome(tx, names, h.ID); err != nil {
			return nil, err
		}
	}
	return mobile, namePeople(tx, names)
}

// nameNetwork names what a network has. Its guardian is a device like the others; what several devices may
// have, such as a maker, names none of them.
func nameNetwork(tx *store.Tx, names *support.Names, network motion.Network, mobile map[motion.NodeID]bool) error {
	id := network.ID
	nodes, err := tx.Nodes(id)
	if err != nil {
		return err
	}
	for _, n := range nodes {
		names.Add("room", n.Location)
		names.Also(names.Add("device", "node "+fmt.Sprint(n.ID), n.DeviceID), n.Name, n.FriendlyName)
		names.Add("maker", n.HWID)
		if n.LocationID != network.GuardianID {
			names.Add("network", "network "+fmt.Sprint(id), n.LocationID)
		}
	}
	names.Add("device", network.GuardianID)
	leafs, err := tx.Leafs(id)
	if err != nil {
		return err
	}
	for _, l := range leafs {
		names.Add("room", l.Location)
		names.Also(names.Add("client", "leaf "+fmt.Sprint(l.ID)), l.FriendlyName, l.Hostname, l.DeviceInfo.Hostname, l.DeviceInfo.Name)
		mobile[l.ID] = l.IsMobile()
	}
	links, err := tx.Links(id)
	if err != nil {
		return err
	}
	for _, l := range links {
		names.Add("link", l.Name)
	}
	alerts, err := tx.Alerts(id)
	for _, a := range alerts {
		names.Also(names.Add("alert", a.Rule.UUID), a.Rule.AlertName)
	}
	return err
}

// nameHome names what a home has.
func nameHome(tx *store.Tx, names *support.Names, id home.ID) error {
	places, err := tx.Locations(id)
	if err != nil {
		return err
	}
	for _, p := range places {
		names.Add("room", p.Name)
	}
	invited, err := tx.InvitationsOfHome(id)
	if err != nil {
		return err
	}
	for _, i := range invited {
		names.Add("person", i.Email)
	}
	sensors, err := tx.Sensors(id)
	for _, s := range sensors {
		names.Add("room", s.Config.Location)
		names.Also(names.Add("sensor", s.ThingName), s.Config.FriendlyName)
		names.Add("hub", s.HubThingName)
		names.Add("account", s.UserThingName)
	}
	return err
}

// namePeople names people, and what they have made for programs.
func namePeople(tx *store.Tx, names *support.Names) error {
	users, err := tx.Users()
	if err != nil {
		return err
	}
	for _, u := range users {
		local, host, _ := strings.Cut(u.Email, "@")
		names.Also(names.Add("person", u.Email, u.Sub), append([]string{u.Username, u.FirstName, u.LastName, local, host},
			strings.FieldsFunc(local, func(r rune) bool { return r == '.' || r == '-' || r == '_' || r == '+' })...)...)
	}
	phones, err := tx.Mobiles()
	if err != nil {
		return err
	}
	for _, p := range phones {
		names.Add("phone", p.Name)
	}
	keys, err := tx.APIKeys()
	if err != nil {
		return err
	}
	for _, k := range keys {
		names.Add("key", k.Name)
	}
	programs, err := tx.IntegrationUsers()
	if err != nil {
		return err
	}
	for _, p := range programs {
		names.Add("mqtt-user", p.Name)
		if p.TopicPrefix != p.Name {
			names.Add("topic", p.TopicPrefix)
		}
	}
	return nil
}
