// Package home defines users and homes, memberships and roles, and their rules (interfaces.md
// 2.3, 2.4 and 5; payloads.md 5). A home is the record of a motion-sensing network as its
// household sees it; the network itself is [motion.Network].
//
// It must not do I/O, read the clock, or know HTTP.
package home

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sensegate/motion"
	"sensegate/motion/fault"
)

// ID identifies a home: the App Cloud id of a network, which differs from its Core id. Ids are
// positive and fit 32 bits.
type ID uint32

// Scene is the state of a household, set by its members or their phones.
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

// Home is a network as its household sees it (payloads.md 5.3). The time zone is in
// [motion.ApplicationSettings], the members are in [Membership].
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
	ClaimedAt      motion.Time      `json:"claimed_at"`             // when it was last claimed; 0: no owner
	OwnedBefore    bool             `json:"owned_before,omitempty"` // it has or had an owner
	OwnerUntold    bool             `json:"owner_untold,omitempty"` // a database migration chose its owner, and no event reports it yet
	CreatedAt      motion.Stamp     `json:"created_at"`
	UpdatedAt      motion.Stamp     `json:"updated_at"`

	SceneAt   motion.Time `json:"scene_at,omitempty"`   // when the scene was last changed; 0: not known
	SceneBy   UserID      `json:"scene_by,omitempty"`   // who changed it; 0: not known, or no longer a member
	AwayAt    motion.Time `json:"away_at,omitempty"`    // when the scene changes to away, as somebody has asked for; 0: it does not
	AwayBy    UserID      `json:"away_by,omitempty"`    // who asked for it; 0: no longer a member
	RoomOrder []string    `json:"room_order,omitempty"` // locations in the order in which they are shown; others follow by name

	Installers []Installer `json:"installers,omitempty"` // who sets the home up, and does not belong to it
	SetupStep  SetupStep   `json:"setup_step,omitempty"` // what is to be done next to set the home up
}

// LeaveDelay is the time between asking for the scene away and its change.
const LeaveDelay motion.Seconds = 30

// AwayDue reports whether the home changes to away at now. One that would wait for longer than
// LeaveDelay is due: the clock was set back.
func (h Home) AwayDue(now motion.Time) bool {
	return !h.AwayAt.IsZero() && (h.AwayAt <= now || h.AwayAt.Since(now) > LeaveDelay)
}

// Rooms returns the order of rooms: negative if a comes before b.
func (h Home) Rooms(a, b string) int {
	place := func(name string) int {
		if i := slices.Index(h.RoomOrder, name); i >= 0 {
			return i
		}
		return len(h.RoomOrder)
	}
	return cmp.Or(cmp.Compare(place(a), place(b)), strings.Compare(a, b))
}

// Forget removes what the home says of a user.
func (h *Home) Forget(id UserID) (changed bool) {
	_, changed = h.EndInstaller(id)
	for i := range h.Installers {
		if by := &h.Installers[i].By; *by == id {
			*by, changed = 0, true
		}
	}
	for _, user := range []*UserID{&h.SceneBy, &h.AwayBy} {
		if *user == id {
			*user, changed = 0, true
		}
	}
	return changed
}

// Claimed reports whether the home has an owner.
func (h Home) Claimed() bool { return h.ClaimedAt != 0 }

// NoPet is the pet size of a home without a pet.
const NoPet = "none"

// New returns the home of a network with default values.
func New(network motion.NetworkID) Home {
	return Home{ExternalID: network, PetSize: NoPet, LiveEnabled: true, Scene: AtHome}
}

// SetupCodeLetters are the letters of setup codes: digits and capitals except I, L, O and U,
// which are easily misread (Crockford's base 32).
const SetupCodeLetters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// SetupCode returns the canonical form of a typed setup code: without dashes and spaces, in
// capitals, with 0 for O and 1 for I and L.
func SetupCode(text string) string {
	return strings.NewReplacer("-", "", " ", "", "O", "0", "I", "1", "L", "1").Replace(strings.ToUpper(text))
}

// MaxMeta is the limit of an area of meta storage, in bytes of JSON.
const MaxMeta = 64 << 10

// MergeMeta returns an area of meta storage with the keys of change set in it; null deletes a key
// (payloads.md 5.8: a shallow merge). TooLarge: the area would exceed MaxMeta.
func MergeMeta(area string, before, change motion.Document) (motion.Document, error) {
	after := motion.Document{}
	for key, value := range before {
		after[key] = value
	}
	for key, value := range change {
		if after[key] = value; value == nil {
			delete(after, key)
		}
	}
	raw, err := json.Marshal(after)
	if err != nil {
		return nil, fmt.Errorf("encode meta: %w", err)
	}
	if len(raw) > MaxMeta {
		return nil, fault.New(fault.TooLarge, "%s: an area holds at most %d bytes of JSON", area, MaxMeta)
	}
	return after, nil
}
