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

// rule says what salvaging does with the records of one table.
type rule struct {
	untyped
	refill refill
	under  func(key []byte, record any) []parent             // what a record belongs to; nil: to nothing
	allow  func(tx *Tx, record any, seen bool) (bool, error) // what else decides about a record of a backup; nil: nothing
}

// belonging is the rule's under of a table whose records say themselves what they belong to.
func belonging[V any](to func(V) []parent) func([]byte, any) []parent {
	return func(_ []byte, record any) []parent { return to(*record.(*V)) }
}

// allowing is the rule's allow in terms of the records of its table.
func allowing[V any](allow func(*Tx, V, bool) (bool, error)) func(*Tx, any, bool) (bool, error) {
	return func(tx *Tx, record any, seen bool) (bool, error) { return allow(tx, *record.(*V), seen) }
}

// knows reports whether every field of a text is one of a record.
func (r rule) knows(text []byte) bool { return decodeStrictly(text, r.kind.fresh()) == nil }

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
		{untyped: networks.untyped(), refill: always},
		{untyped: nodes.untyped(), refill: always, under: belonging(func(n motion.Node) []parent { return ofNetwork(n.NetworkID) })},
		{untyped: radars.untyped(), refill: always, under: ofKey(nodes.name, 4)},
		{untyped: leafs.untyped(), refill: always, under: belonging(func(l motion.Leaf) []parent { return ofNetwork(l.NetworkID) })},
		{untyped: links.untyped(), refill: always, under: ofKey(networks.name, 4)},
		{untyped: status.untyped(), under: ofKey(networks.name, 4)},
		{untyped: statusHeard.untyped(), under: ofKey(networks.name, 4)},
		{untyped: devices.untyped(), refill: always, under: belonging(func(d motion.Device) []parent { return ofNetwork(d.NetworkID) })},
		{untyped: heard.untyped(), under: ofKey(devices.name, 0)},
		{untyped: deviceTokens.untyped(), under: ofKey(devices.name, 0)},
		{untyped: pending.untyped()},
		{untyped: windows.untyped(), under: ofKey(networks.name, 4)},
		{untyped: apiKeys.untyped(), refill: ifSeen, under: belonging(func(k apiKeyRecord) []parent {
			if k.NetworkID == 0 {
				return nil
			}
			return ofNetwork(k.NetworkID)
		})},
		{untyped: integrationUsers.untyped()},
		{untyped: detectorStates.untyped(), refill: always, under: ofKey(networks.name, 4)},
		{untyped: eventStates.untyped(), under: ofKey(networks.name, 4)},
		{untyped: alerts.untyped(), refill: always, under: ofKey(networks.name, 4)},
		{untyped: pushes.untyped(), under: ofKey(networks.name, 4)},
		{untyped: applicationSettings.untyped(), refill: always, under: ofKey(networks.name, 4)},

		{untyped: users.untyped(), refill: always},
		{untyped: homes.untyped(), refill: always, under: belonging(func(h home.Home) []parent { return ofNetwork(h.ExternalID) })},
		{
			untyped: memberships.untyped(), refill: always, allow: allowing(mayReturn),
			under: belonging(func(m home.Membership) []parent { return append(ofHome(m.Home), ofUser(m.User)...) }),
		},
		{untyped: sessions.untyped(), under: belonging(func(s Session) []parent { return ofUser(s.User) })},
		{untyped: familiar.untyped(), under: ofKey(users.name, 8)},
		{untyped: invitations.untyped(), under: belonging(func(i invitationRecord) []parent { return ofHome(i.Home) })},
		{untyped: homeLocations.untyped(), refill: always, under: belonging(func(l home.Location) []parent { return ofHome(homeOf(l)) })},
		{untyped: homeMeta.untyped(), refill: always, under: ofKey(homes.name, 4)},
		{untyped: userMeta.untyped(), refill: always, under: ofKey(users.name, 8)},
		{untyped: sceneConfigs.untyped(), refill: always, under: belonging(func(c home.SceneConfig) []parent { return ofHome(c.HomeID) })},
		{untyped: mails.untyped()},
		{untyped: mobiles.untyped(), under: belonging(func(d MobileDevice) []parent { return ofUser(d.UserID) })},
		{untyped: deliveries.untyped(), under: belonging(func(d Delivery) []parent { return ofNetwork(d.NetworkID) })},
		{untyped: integrations.untyped(), refill: always, under: belonging(func(i sensor.Integration) []parent { return ofHome(i.Home) })},
		{untyped: farewells.untyped(), refill: always},
		{untyped: sensorCursors.untyped(), refill: always},
		{untyped: uplinks.untyped()},
		{untyped: uplinkCursors.untyped(), refill: always},
		{untyped: sensors.untyped(), refill: always, under: belonging(func(d sensor.Device) []parent { return ofHome(d.Home) })},

		{untyped: commands.untyped(), under: belonging(func(c command.Command) []parent { return ofNetwork(c.NetworkID) })},
		{untyped: batches.untyped(), under: belonging(func(b command.Batch) []parent { return ofNetwork(b.NetworkID) })},
		{untyped: armed.untyped(), refill: always, under: ofKey(networks.name, 4)},
		{untyped: events.untyped(), refill: always, allow: allowing(namesNobodyGone), under: ofKey(networks.name, 4)},
		{untyped: detections.untyped(), refill: always, under: ofKey(homes.name, 4)},
		{untyped: audit.untyped(), refill: always},
	}
}

func ofNetwork(id motion.NetworkID) []parent { return []parent{{networks.name, key32(id)}} }
func ofHome(id home.ID) []parent             { return []parent{{homes.name, key32(id)}} }
func ofUser(id home.UserID) []parent         { return []parent{{users.name, keyUser(id)}} }

// ofKey names the parent whose key the first bytes of a record's key are; 0: all of them.
func ofKey(bucket string, length int) func([]byte, any) []parent {
	return func(key []byte, _ any) []parent {
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
