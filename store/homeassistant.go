package store

import (
	"maps"
	"slices"

	"sensegate/motion"
)

// roomIDs are the ids of a network's rooms, by name. A room has no record: it is what devices have as
// their location.
type roomIDs struct {
	Last  uint32            `json:"last"` // that was given; none is given twice
	Rooms map[string]uint32 `json:"rooms"`
}

// rooms is the table of the ids of rooms.
var rooms = table[motion.NetworkID, roomIDs]{name: "rooms", noun: "rooms of network", key: key32[motion.NetworkID]}

// RoomIDs returns the ids of rooms of a network, which stay when these are renamed, and whether each
// name has one.
func (tx *Tx) RoomIDs(network motion.NetworkID, names []string) (ids map[string]uint32, all bool, err error) {
	known, _, err := rooms.get(tx, network)
	all = !slices.ContainsFunc(names, func(name string) bool { return known.Rooms[name] == 0 })
	return known.Rooms, all, err
}

// GiveRoomIDs gives an id to each of the rooms that a network has, and forgets all others.
func (tx *Tx) GiveRoomIDs(network motion.NetworkID, names []string) (map[string]uint32, error) {
	known, _, err := rooms.get(tx, network)
	if err != nil {
		return nil, err
	}
	ids := map[string]uint32{}
	for _, name := range slices.Sorted(slices.Values(names)) {
		id := known.Rooms[name]
		if id == 0 {
			known.Last++
			id = known.Last
		}
		ids[name] = id
	}
	known.Rooms = ids
	return ids, rooms.putOf(tx, network, network, known)
}

// RenameRoomID lets a room of a network keep its id under another name.
func (tx *Tx) RenameRoomID(network motion.NetworkID, from, to string) error {
	known, _, err := rooms.get(tx, network)
	id := known.Rooms[from]
	if err != nil || id == 0 {
		return err
	}
	known.Rooms = maps.Clone(known.Rooms)
	delete(known.Rooms, from)
	known.Rooms[to] = id
	return rooms.put(tx, network, known)
}

// forgetRooms forgets the rooms of a network, whose household has left. Their ids are not given again.
func (tx *Tx) forgetRooms(network motion.NetworkID) error {
	if tx.bucket(rooms.name) == nil { // in a migration to a schema before 7
		return nil
	}
	known, ok, err := rooms.get(tx, network)
	if err != nil || !ok {
		return err
	}
	known.Rooms = nil
	return rooms.put(tx, network, known)
}

// published is the table of the topics that brokers keep for Home Assistant, by uplink: of the topic of a device
// that is discovered the platforms of its entities by their keys, of any other topic nothing.
var published = table[string, map[string]map[string]string]{name: "uplink_published", noun: "topics of uplink", key: keyText}

// PublishedTopics returns the topics that an uplink has made its broker keep.
func (tx *Tx) PublishedTopics(uplink string) (map[string]map[string]string, error) {
	topics, _, err := published.get(tx, uplink)
	return topics, err
}

// PutPublishedTopics stores them.
func (tx *Tx) PutPublishedTopics(uplink string, topics map[string]map[string]string) error {
	if len(topics) == 0 {
		return published.delete(tx, uplink)
	}
	return published.put(tx, uplink, topics)
}
