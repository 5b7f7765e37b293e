package store

import (
	"encoding/json"
	"slices"
	"strings"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/sensor"
)

// NetworkCopy is all of a network that goes to another box, but for its history. Its ids are those
// of the box that it comes from.
type NetworkCopy struct {
	Network   motion.Network                 `json:"network"`
	Nodes     []motion.Node                  `json:"nodes"`
	Radars    map[motion.NodeID]motion.Radar `json:"radars"`
	Leafs     []motion.Leaf                  `json:"leafs"`
	Links     []motion.Link                  `json:"links"`
	Status    *motion.StatusReport           `json:"status,omitempty"`
	Devices   []deviceCopy                   `json:"devices"`
	Learned   json.RawMessage                `json:"learned,omitempty"` // by its links
	Detecting json.RawMessage                `json:"detecting,omitempty"`
	Settings  *motion.ApplicationSettings    `json:"settings,omitempty"`
	Alerts    []Alert                        `json:"alerts"`
	Household *householdCopy                 `json:"household,omitempty"`
	Summed    int64                          `json:"summed"` // second before which its samples are summed up
}

// deviceCopy is an adopted device with its tokens.
type deviceCopy struct {
	motion.Device
	Tokens tokens `json:"tokens"`
}

// householdCopy is a home with its people and what is theirs there.
type householdCopy struct {
	Home        home.Home           `json:"home"`
	Meta        motion.Document     `json:"meta,omitempty"`
	Scenes      home.SceneConfig    `json:"scenes"`
	Locations   []home.Location     `json:"locations"`
	People      []personCopy        `json:"people"`
	Integration *sensor.Integration `json:"integration,omitempty"`
	Sensors     []sensor.Device     `json:"sensors"`
}

// personCopy is an account with its membership in the home.
type personCopy struct {
	Account    userRecord      `json:"account"`
	Meta       motion.Document `json:"meta,omitempty"`
	Membership home.Membership `json:"membership"`
}

// LeftBehind is what belongs to a network and does not go to another box.
type LeftBehind struct {
	Keys        []string `json:"keys,omitempty"`        // names of API keys for it alone
	Users       []string `json:"users,omitempty"`       // names of MQTT users that its owners have made
	OtherNodes  []string `json:"other_nodes,omitempty"` // nodes of other makers, which no gatekeeper can send over: their names
	Invitations int      `json:"invitations,omitempty"` // open ones
	Installers  int      `json:"installers,omitempty"`
	Phones      int      `json:"phones,omitempty"`   // of its people: they sign in anew
	Commands    int      `json:"commands,omitempty"` // management commands, done ones too
	Unreadable  int      `json:"unreadable,omitempty"`
}

// CopyNetwork reads what goes of a network to another box, but for its history. NotFound: there
// is none.
func (tx *Tx) CopyNetwork(id motion.NetworkID) (c NetworkCopy, left LeftBehind, err error) {
	unreadable := 0
	steps := []func() error{
		func() (err error) { c.Network, err = tx.Network(id); return err },
		func() error { return tx.copyTopology(id, &c, &unreadable) },
		func() error { return tx.copyDevices(id, &c) },
		func() (err error) { c.Learned, err = tx.DetectorState(id); return err },
		func() (err error) { c.Detecting, err = tx.EventState(id); return err },
		func() error { return tx.copySettings(id, &c, &unreadable) },
		func() error { return tx.copyHousehold(id, &c, &unreadable) },
		func() (err error) { left, err = tx.leftBehind(c); return err },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return c, left, err
		}
	}
	var a age
	err = tx.getMeta(ageKey, &a)
	c.Summed, left.Unreadable = a.Summed, unreadable
	return c, left, err
}

// counted returns the records of a table that begin with prefix, and adds those that cannot be
// read to unreadable.
func counted[K, V any](tx *Tx, t *table[K, V], prefix []byte, unreadable *int) ([]V, error) {
	list, err := t.all(tx, prefix)
	*unreadable += len(t.keys(tx, prefix)) - len(list)
	return list, err
}

func (tx *Tx) copyTopology(id motion.NetworkID, c *NetworkCopy, unreadable *int) (err error) {
	if c.Nodes, err = tx.Nodes(id); err != nil {
		return err
	}
	c.Radars = map[motion.NodeID]motion.Radar{}
	for _, n := range c.Nodes {
		radar, err := tx.Radar(n.ID)
		if err == nil {
			c.Radars[n.ID] = radar
		} else if fault.KindOf(err) != fault.NotFound {
			return err
		}
	}
	if c.Leafs, err = tx.Leafs(id); err != nil {
		return err
	}
	if c.Links, err = counted(tx, &links, key32(id), unreadable); err != nil {
		return err
	}
	report, err := tx.Status(id)
	if err == nil {
		c.Status = &report
	} else if fault.KindOf(err) != fault.NotFound {
		return err
	}
	return nil
}

func (tx *Tx) copyDevices(id motion.NetworkID, c *NetworkCopy) error {
	list, err := tx.NetworkDevices(id)
	return each(list, err, func(d motion.Device) error {
		held, _, err := deviceTokens.get(tx, d.DeviceKey)
		c.Devices = append(c.Devices, deviceCopy{d, held})
		return err
	})
}

func (tx *Tx) copySettings(id motion.NetworkID, c *NetworkCopy, unreadable *int) error {
	settings, err := tx.ApplicationSettings(id)
	if err == nil {
		c.Settings = &settings
	} else if fault.KindOf(err) != fault.NotFound {
		return err
	}
	c.Alerts, err = counted(tx, &alerts, key32(id), unreadable)
	return err
}

func (tx *Tx) copyHousehold(id motion.NetworkID, c *NetworkCopy, unreadable *int) error {
	h, found, err := tx.HomeOfNetwork(id)
	if err != nil || !found {
		return err
	}
	household := &householdCopy{Home: h}
	c.Household = household
	if household.Meta, err = tx.HomeMeta(h.ID); err != nil {
		return err
	}
	household.Scenes, err = tx.SceneConfig(h.SceneConfigID)
	if fault.KindOf(err) == fault.NotFound {
		household.Scenes, err = home.DefaultSceneConfig(), nil
		*unreadable++
	}
	if err != nil {
		return err
	}
	if household.Locations, err = tx.Locations(h.ID); err != nil {
		return err
	}
	members, err := tx.MembershipsOfHome(h.ID)
	err = each(members, err, func(m home.Membership) error {
		account, err := users.must(tx, m.User)
		if err != nil {
			return err
		}
		meta, err := tx.UserMeta(m.User)
		household.People = append(household.People, personCopy{account, meta, m})
		return err
	})
	if err != nil {
		return err
	}
	if i, found, err := tx.IntegrationOf(h.ID); err != nil {
		return err
	} else if found {
		household.Integration = &i
	}
	household.Sensors, err = tx.Sensors(h.ID)
	return err
}

// leftBehind returns what belongs to a network and does not go to another box.
func (tx *Tx) leftBehind(c NetworkCopy) (left LeftBehind, err error) {
	keys, err := tx.APIKeys()
	if err != nil {
		return left, err
	}
	for _, k := range keys {
		if k.NetworkID == c.Network.ID {
			left.Keys = append(left.Keys, k.Name)
		}
	}
	for _, n := range c.Nodes {
		if motion.IsNodeID(n.DeviceID) {
			left.OtherNodes = append(left.OtherNodes, n.Name)
		}
	}
	of, err := commands.allBy(tx, "commands_by_network", key32(c.Network.ID))
	left.Commands = len(of)
	if err != nil || c.Household == nil {
		return left, err
	}
	h := c.Household.Home
	left.Installers = len(h.Installers)
	list, err := tx.InvitationsOfHome(h.ID)
	for _, i := range list {
		if i.Open(tx.now.Stamp()) {
			left.Invitations++
		}
	}
	if err != nil {
		return left, err
	}
	programs, err := tx.IntegrationUsers()
	for _, u := range programs {
		if u.Home == h.ID {
			left.Users = append(left.Users, u.Name)
		}
	}
	slices.SortFunc(left.Users, strings.Compare)
	for _, p := range c.Household.People {
		phones, err := mobiles.allBy(tx, "mobiles_by_user", keyUser(p.Account.ID))
		if err != nil {
			return left, err
		}
		left.Phones += len(phones)
	}
	return left, err
}
