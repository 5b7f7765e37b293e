package home

import "sensegate/motion"

// ID identifies a home: the App Cloud id of a network, which differs from its Core
// id. Ids are positive and fit 32 bits.
type ID uint32

// Scene is the state of a household that its people or their phones set.
type Scene int

// The scenes, with their codes in PUT /scenes (interfaces.md 2.4 no. 2).
const (
	Away   Scene = 1
	AtHome Scene = 4
)

// String returns the name: away or home.
func (s Scene) String() string {
	if s == Away {
		return "away"
	}
	return "home"
}

// Home is a network as its household sees it (payloads.md 5.3). Its time zone stands
// in [motion.ApplicationSettings], its people in [Membership].
type Home struct {
	ID             ID               `json:"id"`
	ExternalID     motion.NetworkID `json:"external_id"` // the Core id
	Name           string           `json:"name"`
	Address        string           `json:"address"`
	Latitude       string           `json:"latitude"` // decimal degrees, as text
	Longitude      string           `json:"longitude"`
	PetSize        string           `json:"pet_size"`
	BuildingType   string           `json:"building_type"`
	BuildingSize   string           `json:"building_size"`
	LiveEnabled    bool             `json:"live_enabled"`
	SubscriptionID *string          `json:"subscription_id"`
	Scene          Scene            `json:"scene_id"`
	SceneConfigID  SceneConfigID    `json:"network_scene_config"`
	ClaimedAt      motion.Time      `json:"claimed_at"`             // when it was last claimed; 0: it has no owner
	OwnedBefore    bool             `json:"owned_before,omitempty"` // it has, or has had, an owner
	OwnerUntold    bool             `json:"owner_untold,omitempty"` // an update of the database chose its owner; nobody was told yet
	CreatedAt      motion.Stamp     `json:"created_at"`
	UpdatedAt      motion.Stamp     `json:"updated_at"`
}

// Claimed reports whether the home has an owner.
func (h Home) Claimed() bool { return h.ClaimedAt != 0 }
