package home

// LocationID identifies a default location. Ids are positive and fit 32 bits.
type LocationID uint32

// Location is a name of a place that an app offers for devices (payloads.md 5.3).
type Location struct {
	ID   LocationID `json:"id" example:"41"`
	Name string     `json:"name" example:"Workshop"`
	Home *ID        `json:"network_id" nullable:"true" doc:"App Cloud network id; null: built in" example:"17"`
}

// FirstLocation is the id of the first location that a household adds; those below it
// are built in, or kept for it.
const FirstLocation LocationID = 41

// MaxLocations bounds the locations that one home adds.
const MaxLocations = 100

// BuiltInLocations returns the locations that every home has.
func BuiltInLocations() []Location {
	names := []string{"Kitchen", "Living room", "Bedroom", "Hallway", "Bathroom", "Office", "Basement", "Garage"}
	list := make([]Location, len(names))
	for i, name := range names {
		list[i] = Location{ID: LocationID(i + 1), Name: name}
	}
	return list
}
