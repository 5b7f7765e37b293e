package store

import (
	"slices"

	"github.com/google/uuid"

	"sensegate/motion"
	"sensegate/motion/alert"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/sensor"
)

// people says who of another box is who on this one.
type people struct {
	ids    map[home.UserID]home.UserID
	joined map[home.UserID]bool // accounts that this box had already, by their ids there
	subs   map[string]home.User // by the subject of the other box
}

// refusePeople adds the accounts of this box that have the address of somebody who comes and may
// be somebody else's: with the account they would get the home.
func (i *Import) refusePeople(tx *Tx, met *fault.Details) error {
	if i.copied.Household == nil {
		return nil
	}
	for _, p := range i.copied.Household.People {
		if err := home.CheckEmail(p.Account.Email); err != nil {
			return err
		}
		here, found, err := users.by(tx, "users_by_email", keyText(home.EmailKey(p.Account.Email)))
		if err != nil {
			return err
		}
		if found && !i.sameAs(here) {
			met.Add("people", p.Account.Email, "%s has an account on this box, and nothing proves that it is the same person's: when it is, name it by -join; when not, delete that account first (sensegate user delete %[1]s)", p.Account.Email)
		}
	}
	return nil
}

// sameAs reports whether an account of this box may be taken for that of the person who has its
// address on the other one: a mail server, an identity provider or the administrator has vouched
// for the address, or somebody says so who must know.
func (i *Import) sameAs(here userRecord) bool {
	named := slices.ContainsFunc(i.options.Join, func(address string) bool {
		return home.EmailKey(address) == home.EmailKey(here.Email)
	})
	return named || here.Confirmed() && here.Proof.Vouched
}

// beginHousehold gives out ids for the home and who is new here.
func (i *Import) beginHousehold(tx *Tx) error {
	i.people = people{ids: map[home.UserID]home.UserID{}, joined: map[home.UserID]bool{}, subs: map[string]home.User{}}
	i.things = map[sensor.DeviceID]sensor.DeviceID{}
	c := i.copied.Household
	if c == nil {
		return nil
	}
	sequence, err := tx.bucket(homes.name).NextSequence()
	if err != nil {
		return err
	}
	i.staged.Home = home.ID(sequence)
	for at := range c.People {
		if err := i.beginPerson(tx, &c.People[at].Account); err != nil {
			return err
		}
	}
	for _, d := range c.Sensors {
		sequence, err := tx.bucket(sensors.name).NextSequence()
		if err != nil {
			return err
		}
		i.things[d.ID] = sensor.DeviceID(sequence)
	}
	return nil
}

// beginPerson finds the account of a person here, or gives out the id of a new one.
func (i *Import) beginPerson(tx *Tx, account *userRecord) error {
	there := account.User
	here, found, err := users.by(tx, "users_by_email", keyText(home.EmailKey(account.Email)))
	if err != nil {
		return err
	}
	if found {
		i.people.ids[there.ID], i.people.joined[there.ID], i.people.subs[there.Sub] = here.ID, true, here.User
		return nil
	}
	if account.ID, err = tx.NextUserID(); err != nil {
		return err
	}
	if tx.bucket("users_by_sub").Get(keyText(account.Sub)) != nil || account.Sub == "" {
		account.Sub = uuid.NewString()
	}
	i.people.ids[there.ID], i.people.subs[there.Sub] = account.ID, account.User
	return nil
}

// mapActions gives people their ids of this box in the actions of an alert. One that is for others
// alone goes: for nobody means for everybody.
func (p people) mapActions(list []alert.Action) []alert.Action {
	kept := []alert.Action{}
	for _, a := range list {
		here := []int64{}
		for _, id := range a.UserIDs {
			if user, known := p.ids[home.UserID(id)]; known {
				here = append(here, int64(user))
			}
		}
		if len(a.UserIDs) > 0 && len(here) == 0 {
			continue
		}
		if a.UserIDs != nil {
			a.UserIDs = here
		}
		kept = append(kept, a)
	}
	return kept
}

// mapEvent gives people their ids of this box in an event. ok is false for an event about somebody
// who did not come along: what is stored of a person is what their account takes along.
func (p people) mapEvent(e *motion.Event) (ok bool) {
	if sub, _ := e.Data["sub"].(string); sub != "" {
		here, known := p.subs[sub]
		if !known {
			return false
		}
		e.Data = e.Data.Clone()
		e.Data["id"], e.Data["sub"] = int64(here.ID), here.Sub
	}
	user, _ := e.Data["user"].(map[string]any)
	id, named := user["id"].(float64)
	if !named {
		return true
	}
	e.Data = e.Data.Clone()
	if here, known := p.ids[home.UserID(id)]; known {
		e.Data["user"] = map[string]any{"id": int64(here)}
		return true
	}
	forgetDoer(e.Data)
	return true
}

// storeHousehold stores the home with its people.
func (i *Import) storeHousehold(tx *Tx) error {
	c := i.copied.Household
	if c == nil {
		return nil
	}
	h := c.Home
	h.ID, h.ExternalID, h.Installers = i.staged.Home, i.staged.Network, nil
	h.SceneBy, h.AwayBy = i.people.ids[h.SceneBy], i.people.ids[h.AwayBy]
	sequence, err := tx.bucket(sceneConfigs.name).NextSequence()
	if err != nil {
		return err
	}
	h.SceneConfigID = home.SceneConfigID(sequence)
	c.Scenes.ID, c.Scenes.HomeID = h.SceneConfigID, h.ID
	if err := sceneConfigs.put(tx, c.Scenes.ID, c.Scenes); err != nil {
		return err
	}
	if err := homes.put(tx, h.ID, h); err != nil {
		return err
	}
	if err := putArea(tx, &homeMeta, h.ID, c.Meta); err != nil {
		return err
	}
	for _, l := range c.Locations {
		if _, err := tx.AddLocation(h.ID, l.Name); err != nil {
			return err
		}
	}
	for _, p := range c.People {
		if err := i.storePerson(tx, p); err != nil {
			return err
		}
	}
	return i.storeThings(tx)
}

// storePerson stores an account, unless this box has it, and its membership. The account looks
// after no appliance and has shown no setup code here.
func (i *Import) storePerson(tx *Tx, p personCopy) error {
	account, m := p.Account, p.Membership
	there := m.User
	if i.people.joined[there] {
		if _, err := tx.User(i.people.ids[there]); err != nil {
			return err // deleted meanwhile
		}
	} else {
		account.Administrator, account.Trusted = false, false
		vouched, by := account.Proof.Vouched, account.Proof.By
		account.Proof = AddressProof{Vouched: vouched}
		if len(by) == 1 && by[0] == i.copied.Household.Home.ID {
			account.Proof.By = []home.ID{i.staged.Home}
		}
		account.Identities = slices.DeleteFunc(account.Identities, func(identity Identity) bool {
			return tx.bucket("users_by_identity").Get(identity.key()) != nil
		})
		if err := users.put(tx, account.ID, account); err != nil {
			return err
		}
		if err := putArea(tx, &userMeta, account.ID, p.Meta); err != nil {
			return err
		}
	}
	sequence, err := tx.bucket(memberships.name).NextSequence()
	if err != nil {
		return err
	}
	m.ID, m.User, m.Home = home.MembershipID(sequence), i.people.ids[there], i.staged.Home
	m.IsPresent, m.Left, m.PresenceAt, m.Devices = false, false, 0, nil // phones report anew when they have signed in
	return memberships.put(tx, m.ID, m)
}

// storeThings stores the third-party sensors and their account.
func (i *Import) storeThings(tx *Tx) error {
	c := i.copied.Household
	if c.Integration != nil {
		one := *c.Integration
		sequence, err := tx.bucket(integrations.name).NextSequence()
		if err != nil {
			return err
		}
		one.ID, one.Home, one.Network, one.User = sensor.ID(sequence), i.staged.Home, i.staged.Network, i.people.ids[one.User]
		if err := integrations.put(tx, one.ID, one); err != nil {
			return err
		}
	}
	for _, d := range c.Sensors {
		d.ID, d.Home, d.Network = i.things[d.ID], i.staged.Home, i.staged.Network
		if err := sensors.put(tx, d.ID, d); err != nil {
			return err
		}
	}
	return nil
}
