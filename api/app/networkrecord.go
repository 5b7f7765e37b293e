package app

import (
	"sensegate/motion"
	"sensegate/motion/home"
	"sensegate/store"
)

// networkRecord is a network as its members see it (payloads.md 5.3).
type networkRecord struct {
	ID             home.ID                      `json:"id" doc:"App Cloud network id" example:"17"`
	ExternalID     motion.NetworkID             `json:"external_id" doc:"Core network id" example:"1042"`
	Name           *string                      `json:"name" nullable:"true" example:"Home"`
	Address        *string                      `json:"address" nullable:"true" example:"1 Main St"`
	Latitude       *string                      `json:"latitude" nullable:"true" doc:"Decimal degrees, north is positive" example:"43.4643"`
	Longitude      *string                      `json:"longitude" nullable:"true" doc:"Decimal degrees, east is positive" example:"-80.5204"`
	Timezone       string                       `json:"timezone" doc:"IANA name of the time zone" example:"America/Toronto"`
	PetSize        string                       `json:"pet_size" enum:"none,small,medium,large"`
	BuildingType   *string                      `json:"building_type" nullable:"true" example:"house"`
	BuildingSize   *string                      `json:"building_size" nullable:"true" example:"medium"`
	LiveEnabled    bool                         `json:"live_enabled" doc:"Whether live motion can be watched with /motions"`
	SubscriptionID *string                      `json:"subscription_id" nullable:"true"`
	SceneID        home.Scene                   `json:"scene_id" enum:"1,4" doc:"1 away, 4 home"`
	SceneConfig    expandable[home.SceneConfig] `json:"network_scene_config" doc:"Scene configuration id; with expand=network_scene_config the configuration" example:"23"`
	OwnerEmail     *string                      `json:"owner_email" nullable:"true" doc:"null: it has no owner" example:"jdoe@example.com"`
	UserCount      int                          `json:"user_count" minimum:"0" doc:"Members"`
	PresentCount   int                          `json:"present_count" minimum:"0" doc:"Members at home"`
	Claimed        bool                         `json:"claimed" doc:"Whether it has an owner"`
	CreatedAt      motion.Stamp                 `json:"created_at"`
	UpdatedAt      motion.Stamp                 `json:"updated_at"`
}

// showNetwork shows a home to one of its members.
func showNetwork(tx *store.Tx, id home.ID, expand Expand) (networkRecord, error) {
	one, err := tx.Home(id)
	if err != nil {
		return networkRecord{}, err
	}
	n := networkRecord{
		ID: one.ID, ExternalID: one.ExternalID, Name: orNull(one.Name), Address: orNull(one.Address),
		Latitude: orNull(one.Latitude), Longitude: orNull(one.Longitude),
		PetSize: one.PetSize, BuildingType: orNull(one.BuildingType), BuildingSize: orNull(one.BuildingSize),
		LiveEnabled: one.LiveEnabled, SubscriptionID: one.SubscriptionID, SceneID: one.Scene,
		SceneConfig: expandable[home.SceneConfig]{ID: int64(one.SceneConfigID)},
		Claimed:     one.Claimed(), CreatedAt: one.CreatedAt, UpdatedAt: one.UpdatedAt,
	}
	if expand.has("network_scene_config") {
		config, err := tx.SceneConfig(one.SceneConfigID)
		if err != nil {
			return n, err
		}
		n.SceneConfig.Whole = &config
	}
	settings, err := tx.SettingsInForce(one.ExternalID)
	if err != nil {
		return n, err
	}
	n.Timezone = settings.Timezone
	return n, n.showPeople(tx)
}

// showPeople fills in who lives there.
func (n *networkRecord) showPeople(tx *store.Tx) error {
	members, err := tx.MembershipsOfHome(n.ID)
	if err != nil {
		return err
	}
	n.UserCount, n.PresentCount = len(members), home.CountPresent(members)
	for _, m := range members {
		if m.Role != home.OwnerRole {
			continue
		}
		owner, err := tx.User(m.User)
		if err != nil {
			return err
		}
		n.OwnerEmail = &owner.Email
	}
	return nil
}
