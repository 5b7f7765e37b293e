package store

import "sensegate/motion/home"

// homeLocations is the table of locations that households have added.
var homeLocations = table[home.LocationID, home.Location]{
	name: "home_locations", noun: "location", key: key32[home.LocationID],
	indexes: []index[home.Location]{{
		name: "home_locations_by_home", noun: "network",
		keys: func(l home.Location) [][]byte { return [][]byte{key32(*l.Home)} },
	}},
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
	if _, err := tx.Location(id); err != nil {
		return err
	}
	_, err := homeLocations.delete(tx, id)
	return err
}

// Locations returns the locations that a home has added, by id.
func (tx *Tx) Locations(h home.ID) ([]home.Location, error) {
	return homeLocations.allBy(tx, "home_locations_by_home", key32(h))
}

// deleteLocations removes the locations of a home.
func (tx *Tx) deleteLocations(h home.ID) error {
	list, err := tx.Locations(h)
	if err != nil {
		return err
	}
	for _, l := range list {
		if _, err := homeLocations.delete(tx, l.ID); err != nil {
			return err
		}
	}
	return nil
}
