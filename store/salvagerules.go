package store

import (
	"bytes"
	"encoding/json"
	"slices"

	"sensegate/motion"
	"sensegate/motion/command"
	"sensegate/motion/home"
	"sensegate/motion/sensor"
)

// refill says when a record of a backup takes the place of one that cannot be read any
// more. Where the damaged file shows that the record was removed since, it never does.
type refill int

const (
	never  refill = iota // it may have ended, been sent or replaced since, and can be made anew
	ifSeen               // when an index shows that it is there still, as it was
	always
)

// parent is a record, or an index entry, without which one that belongs to it is not kept.
type parent struct {
	bucket string
	key    []byte
}

// rule says what salvaging does with the records of one table. Its functions take them as
// what decode returns: the code below is the same for every kind.
type rule struct {
	untyped
	refill refill
	decode func(key, value []byte) (any, error)
	knows  func(text []byte) bool // every field of a record
	under  func(key []byte, v any) []parent
	allow  func(tx *Tx, v any, seen bool) (bool, error)
}

// ruled is the rule of a table in the terms of its records.
type ruled[K, V any] struct {
	table  table[K, V]
	refill refill
	under  func(key []byte, v V) []parent             // what a record belongs to; nil: to nothing
	allow  func(tx *Tx, v V, seen bool) (bool, error) // what else decides about a record of a backup; nil: nothing
}

// rule returns it as the one of any table.
func (r ruled[K, V]) rule() rule {
	made := rule{
		untyped: r.table.untyped(), refill: r.refill,
		decode: func(key, value []byte) (any, error) { return r.table.decode(key, value) },
		knows:  func(text []byte) bool { return decodeStrictly(text, new(V)) == nil },
	}
	if r.under != nil {
		made.under = func(key []byte, v any) []parent { return r.under(key, v.(V)) }
	}
	if r.allow != nil {
		made.allow = func(tx *Tx, v any, seen bool) (bool, error) { return r.allow(tx, v.(V), seen) }
	}
	return made
}

// decodeStrictly decodes the text of a record that has no field that v does not know.
func decodeStrictly(text []byte, v any) error {
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	return strict.Decode(v)
}

// salvageRules returns what is salvaged how, a table before those that belong to it, the
// history last. What lets somebody in, or would be done or sent a second time, does not come
// back from a backup unless an index shows that it is there still; who owns a home does,
// because a home that nobody owns could be claimed by anybody.
func salvageRules() []rule {
	return []rule{
		ruled[motion.NetworkID, motion.Network]{table: networks, refill: always}.rule(),
		ruled[motion.NodeID, motion.Node]{table: nodes, refill: always, under: func(_ []byte, n motion.Node) []parent { return ofNetwork(n.NetworkID) }}.rule(),
		ruled[motion.NodeID, motion.Radar]{table: radars, refill: always, under: ofKey[motion.Radar](nodes.name, 4)}.rule(),
		ruled[motion.NodeID, motion.Leaf]{table: leafs, refill: always, under: func(_ []byte, l motion.Leaf) []parent { return ofNetwork(l.NetworkID) }}.rule(),
		ruled[linkKey, motion.Link]{table: links, refill: always, under: ofKey[motion.Link](networks.name, 4)}.rule(),
		ruled[motion.NetworkID, motion.StatusReport]{table: status, under: ofKey[motion.StatusReport](networks.name, 4)}.rule(),
		ruled[motion.NetworkID, StatusHeard]{table: statusHeard, under: ofKey[StatusHeard](networks.name, 4)}.rule(),
		ruled[motion.DeviceKey, motion.Device]{table: devices, refill: always, under: func(_ []byte, d motion.Device) []parent { return ofNetwork(d.NetworkID) }}.rule(),
		ruled[motion.DeviceKey, sign]{table: heard, under: ofKey[sign](devices.name, 0)}.rule(),
		ruled[motion.DeviceKey, tokens]{table: deviceTokens, under: ofKey[tokens](devices.name, 0)}.rule(),
		ruled[string, motion.PendingDevice]{table: pending}.rule(),
		ruled[motion.NetworkID, window]{table: windows, under: ofKey[window](networks.name, 4)}.rule(),
		ruled[uint32, apiKeyRecord]{table: apiKeys, refill: ifSeen, under: func(_ []byte, k apiKeyRecord) []parent {
			if k.NetworkID == 0 {
				return nil
			}
			return ofNetwork(k.NetworkID)
		}}.rule(),
		ruled[string, integrationUserRecord]{table: integrationUsers}.rule(),
		ruled[motion.NetworkID, json.RawMessage]{table: detectorStates, refill: always, under: ofKey[json.RawMessage](networks.name, 4)}.rule(),
		ruled[motion.NetworkID, json.RawMessage]{table: eventStates, under: ofKey[json.RawMessage](networks.name, 4)}.rule(),
		ruled[AlertKey, Alert]{table: alerts, refill: always, under: ofKey[Alert](networks.name, 4)}.rule(),
		ruled[pushKey, Push]{table: pushes, under: ofKey[Push](networks.name, 4)}.rule(),
		ruled[motion.NetworkID, motion.ApplicationSettings]{table: applicationSettings, refill: always, under: ofKey[motion.ApplicationSettings](networks.name, 4)}.rule(),

		ruled[home.UserID, userRecord]{table: users, refill: always}.rule(),
		ruled[home.ID, home.Home]{table: homes, refill: always, under: func(_ []byte, h home.Home) []parent { return ofNetwork(h.ExternalID) }}.rule(),
		ruled[home.MembershipID, home.Membership]{
			table: memberships, refill: always, allow: mayReturn,
			under: func(_ []byte, m home.Membership) []parent { return append(ofHome(m.Home), ofUser(m.User)...) },
		}.rule(),
		ruled[string, Session]{table: sessions, under: func(_ []byte, s Session) []parent { return ofUser(s.User) }}.rule(),
		ruled[home.UserID, []digest]{table: familiar, under: ofKey[[]digest](users.name, 8)}.rule(),
		ruled[home.InvitationID, invitationRecord]{table: invitations, under: func(_ []byte, i invitationRecord) []parent { return ofHome(i.Home) }}.rule(),
		ruled[home.LocationID, home.Location]{table: homeLocations, refill: always, under: func(_ []byte, l home.Location) []parent { return ofHome(*l.Home) }}.rule(),
		ruled[home.ID, motion.Document]{table: homeMeta, refill: always, under: ofKey[motion.Document](homes.name, 4)}.rule(),
		ruled[home.UserID, motion.Document]{table: userMeta, refill: always, under: ofKey[motion.Document](users.name, 8)}.rule(),
		ruled[home.SceneConfigID, home.SceneConfig]{table: sceneConfigs, refill: always, under: func(_ []byte, c home.SceneConfig) []parent { return ofHome(c.HomeID) }}.rule(),
		ruled[uint64, Mail]{table: mails}.rule(),
		ruled[home.MobileID, MobileDevice]{table: mobiles, under: func(_ []byte, d MobileDevice) []parent { return ofUser(d.UserID) }}.rule(),
		ruled[uint64, Delivery]{table: deliveries, under: func(_ []byte, d Delivery) []parent { return ofNetwork(d.NetworkID) }}.rule(),
		ruled[sensor.ID, sensor.Integration]{table: integrations, refill: always, under: func(_ []byte, i sensor.Integration) []parent { return ofHome(i.Home) }}.rule(),
		ruled[string, sensor.PendingDeletion]{table: farewells, refill: always}.rule(),
		ruled[string, string]{table: sensorCursors, refill: always}.rule(),
		ruled[sensor.DeviceID, sensor.Device]{table: sensors, refill: always, under: func(_ []byte, d sensor.Device) []parent { return ofHome(d.Home) }}.rule(),

		ruled[command.ID, command.Command]{table: commands, under: func(_ []byte, c command.Command) []parent { return ofNetwork(c.NetworkID) }}.rule(),
		ruled[command.BatchID, command.Batch]{table: batches, under: func(_ []byte, b command.Batch) []parent { return ofNetwork(b.NetworkID) }}.rule(),
		ruled[armedKey, armedRecord]{table: armed, refill: always, under: ofKey[armedRecord](networks.name, 4)}.rule(),
		ruled[eventKey, eventRecord]{table: events, refill: always, allow: namesNobodyGone, under: ofKey[eventRecord](networks.name, 4)}.rule(),
		ruled[detectionKey, detectionRecord]{table: detections, refill: always, under: ofKey[detectionRecord](homes.name, 4)}.rule(),
	}
}

func ofNetwork(id motion.NetworkID) []parent { return []parent{{networks.name, key32(id)}} }
func ofHome(id home.ID) []parent             { return []parent{{homes.name, key32(id)}} }
func ofUser(id home.UserID) []parent         { return []parent{{users.name, keyUser(id)}} }

// ofKey names the parent whose key the first bytes of a record's key are; 0: all of them.
func ofKey[V any](bucket string, length int) func([]byte, V) []parent {
	return func(key []byte, _ V) []parent {
		if length == 0 || length > len(key) {
			return []parent{{bucket, key}}
		}
		return []parent{{bucket, key[:length]}}
	}
}

// mayReturn reports whether a membership of a backup may come back: the owner's where the
// home has no other, a member's where an index shows that they are one still.
func mayReturn(tx *Tx, m home.Membership, seen bool) (bool, error) {
	if m.Role != home.OwnerRole {
		return seen, nil
	}
	others, err := tx.MembershipsOfHome(m.Home)
	return !slices.ContainsFunc(others, owns), err
}

func owns(m home.Membership) bool { return m.Role == home.OwnerRole }

// namesNobodyGone reports whether the people that an event of a backup names are users
// still: deleted ones are gone from the history too (ForgetInEvents).
func namesNobodyGone(tx *Tx, e eventRecord, _ bool) (bool, error) {
	if sub, _ := e.Data["sub"].(string); sub != "" && tx.bucket("users_by_sub").Get(keyText(sub)) == nil {
		return false, nil
	}
	user, _ := e.Data["user"].(map[string]any)
	id, isUser := user["id"].(float64)
	return !isUser || tx.bucket(users.name).Get(keyUser(home.UserID(id))) != nil, nil
}
