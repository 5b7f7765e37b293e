package store

import (
	"sensegate/motion"
	"sensegate/motion/home"
)

// The meta storage of App Cloud (interfaces.md 4.2 no. 9): what apps keep for
// themselves, an area for each home and one for each user.
var (
	homeMeta = table[home.ID, motion.Document]{name: "home_meta", noun: "meta of network", key: key32[home.ID]}
	userMeta = table[home.UserID, motion.Document]{name: "user_meta", noun: "meta of user", key: keyUser}
)

// HomeMeta returns the meta storage of a home, empty when nothing is kept.
func (tx *Tx) HomeMeta(h home.ID) (motion.Document, error) { return areaOf(tx, &homeMeta, h) }

// PutHomeMeta stores the meta storage of an existing home; an empty one is removed.
func (tx *Tx) PutHomeMeta(h home.ID, d motion.Document) error {
	if _, err := tx.Home(h); err != nil {
		return err
	}
	return putArea(tx, &homeMeta, h, d)
}

// UserMeta returns the meta storage of a user, empty when nothing is kept.
func (tx *Tx) UserMeta(id home.UserID) (motion.Document, error) { return areaOf(tx, &userMeta, id) }

// PutUserMeta stores the meta storage of an existing user; an empty one is removed.
func (tx *Tx) PutUserMeta(id home.UserID, d motion.Document) error {
	if _, err := tx.User(id); err != nil {
		return err
	}
	return putArea(tx, &userMeta, id, d)
}

// areaOf returns an area, empty when there is none.
func areaOf[K any](tx *Tx, area *table[K, motion.Document], key K) (motion.Document, error) {
	d, ok, err := area.get(tx, key)
	if !ok {
		d = motion.Document{}
	}
	return d, err
}

// putArea stores an area, or removes it when nothing is in it.
func putArea[K any](tx *Tx, area *table[K, motion.Document], key K, d motion.Document) error {
	if len(d) > 0 {
		return area.put(tx, key, d)
	}
	return area.delete(tx, key)
}

// homeLocations is the table of locations that households have added.
var homeLocations = table[home.LocationID, home.Location]{
	name: "home_locations", noun: "location", key: key32[home.LocationID],
	indexes: []index[home.Location]{{
		name: "home_locations_by_home", noun: "network",
		keys: func(l home.Location) [][]byte { return [][]byte{key32(homeOf(l))} },
	}},
}

// homeOf returns the home that has added a location, 0 of a record that is no such location.
func homeOf(l home.Location) home.ID {
	if l.Home == nil {
		return 0
	}
	return *l.Home
}

// AddLocation stores a new location of an existing home under the next id and returns
// it.
func (tx *Tx) AddLocation(h home.ID, name string) (home.Location, error) {
	l := home.Location{Name: name, Home: &h}
	if _, err := tx.Home(h); err != nil {
		return l, err
	}
	sequence, err := tx.bucket(homeLocations.name).NextSequence()
	if err != nil {
		return l, err
	}
	l.ID = home.FirstLocation + home.LocationID(sequence) - 1
	return l, homeLocations.put(tx, l.ID, l)
}

// Location returns a location that a home has added, or a NotFound fault.
func (tx *Tx) Location(id home.LocationID) (home.Location, error) { return homeLocations.must(tx, id) }

// PutLocation stores a location that is there already.
func (tx *Tx) PutLocation(l home.Location) error { return homeLocations.put(tx, l.ID, l) }

// DeleteLocation removes a location. NotFound: there is none of that id.
func (tx *Tx) DeleteLocation(id home.LocationID) error {
	return homeLocations.mustDelete(tx, id)
}

// Locations returns the locations that a home has added, by id.
func (tx *Tx) Locations(h home.ID) ([]home.Location, error) {
	return homeLocations.allBy(tx, "home_locations_by_home", key32(h))
}

// deleteLocations removes the locations of a home.
func (tx *Tx) deleteLocations(h home.ID) error {
	list, err := tx.Locations(h)
	return each(list, err, func(l home.Location) error { return homeLocations.delete(tx, l.ID) })
}

// sceneConfigs is the table of scene configurations, one for each home.
var sceneConfigs = table[home.SceneConfigID, home.SceneConfig]{
	name: "scene_configs", noun: "scene config", key: key32[home.SceneConfigID],
}

// createSceneConfig stores the configuration that a new home begins with under the
// next id and returns it.
func (tx *Tx) createSceneConfig(h home.ID) (home.SceneConfig, error) {
	sequence, err := tx.bucket(sceneConfigs.name).NextSequence()
	if err != nil {
		return home.SceneConfig{}, err
	}
	c := home.DefaultSceneConfig()
	c.ID, c.HomeID = home.SceneConfigID(sequence), h
	c.CreatedAt, c.UpdatedAt = tx.now.Stamp(), tx.now.Stamp()
	return c, sceneConfigs.put(tx, c.ID, c)
}

// SceneConfig returns the scene configuration with the id.
func (tx *Tx) SceneConfig(id home.SceneConfigID) (home.SceneConfig, error) {
	return sceneConfigs.must(tx, id)
}

// PutSceneConfig stores c over the scene configuration with its id, as given.
func (tx *Tx) PutSceneConfig(c home.SceneConfig) error {
	if err := tx.HereHome(c.HomeID); err != nil {
		return err
	}
	return sceneConfigs.replace(tx, c.ID, c)
}
