package household

import (
	"slices"
	"strconv"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

// takeOver makes a user the owner of a home by a code of its owner, who leaves it, and stays as
// installer for as long as the code says. The history stays, open invitations become void. For a
// user from outside the installers of the former owner go too: the new household has not let them
// in. Members stay, and the new owner is told who they are. Who looks after the appliance passes that on
// with its only home. It returns the events, and whether the scene changed.
func (h *Household) takeOver(tx *store.Tx, c joinCode, former home.Membership, user home.UserID) (scene bool, events []motion.Event, err error) {
	if user == former.User {
		return false, nil, belongsAlready()
	}
	_, member, err := tx.MembershipOf(c.home, user)
	if err != nil {
		return false, nil, err
	}
	outside := !member
	next, events, err := nextOwner(tx, c.home, user)
	if err != nil {
		return false, nil, err
	}
	former.Role, former.UpdatedAt = home.MemberRole, tx.Now().Stamp()
	if err := tx.PutMembership(former); err != nil {
		return false, nil, err
	}
	next, changed, err := h.promote(tx, next, handedOver)
	if err != nil {
		return false, nil, err
	}
	scene, left, err := leave(tx, former, true)
	if err != nil {
		return false, nil, err
	}
	var stay []string
	if outside {
		told := []motion.Event(nil)
		if stay, told, err = staying(tx, next); err != nil {
			return false, nil, err
		}
		left = append(left, told...)
	}
	events = slices.Concat(events, changed, left)
	if err := h.passAdministration(tx, former.User, next.User); err != nil {
		return false, nil, err
	}
	former.Unasked = true // so that the new owner does not read their address in the outbox
	if err := h.mailOwner(tx, next, []home.Membership{former, next}, stay); err != nil || c.Days == 0 {
		return scene, events, err
	}
	stays, err := letIn(tx, c.home, former.User, former.User, c.Days)
	return scene, append(events, stays...), err
}

// leaveAdministration passes the administration on when an administrator leaves the only home of the
// appliance, which has another owner by then, unless somebody else who belongs to it has it.
func (h *Household) leaveAdministration(tx *store.Tx, left home.Membership) error {
	is, err := tx.IsAdministrator(left.User)
	if err != nil || !is {
		return err
	}
	members, err := tx.MembershipsOfHome(left.Home)
	for _, m := range members {
		other, failed := tx.IsAdministrator(m.User)
		if failed != nil || other {
			return failed
		}
	}
	owner := slices.IndexFunc(members, func(m home.Membership) bool { return m.Role == home.OwnerRole })
	if err != nil || owner < 0 {
		return err
	}
	return h.passAdministration(tx, left.User, members[owner].User)
}

// passAdministration makes who gets the only home of the appliance its only administrator, whoever was
// before, and ends what they could have kept: an administrator could read the mails of the
// new household, set passwords, and watch it by an API key or an MQTT user.
func (h *Household) passAdministration(tx *store.Tx, former, next home.UserID) error {
	homes, err := tx.Homes()
	owned := 0
	for _, h := range homes {
		if h.Claimed() {
			owned++
		}
	}
	if err != nil || owned != 1 {
		return err
	}
	users, err := tx.IntegrationUsers()
	if err != nil {
		return err
	}
	passed, err := tx.PassAdministration(former, next, map[string]string{"mqtt_users_ended": strconv.Itoa(len(users))})
	if err != nil || !passed {
		return err
	}
	for _, u := range users {
		if err := h.engine.Devices.EndUser(tx, u.Name); err != nil {
			return err
		}
	}
	return nil
}

// staying returns the names of the members beside the owner of a home, and an event about each. Those who
// were added without being asked are not named, as in the list of members.
func staying(tx *store.Tx, owner home.Membership) (names []string, events []motion.Event, err error) {
	house, err := tx.Home(owner.Home)
	if err != nil {
		return nil, nil, err
	}
	members, err := tx.MembershipsOfHome(owner.Home)
	if err != nil {
		return nil, nil, err
	}
	for _, m := range members {
		if m.User == owner.User {
			continue
		}
		person, err := tx.User(m.User)
		if err != nil {
			return nil, nil, err
		}
		stays, err := memberEvent(tx, house, motion.MemberStaysEvent, person, m)
		if err != nil {
			return nil, nil, err
		}
		events = append(events, stays)
		name, err := nameOf(tx, m.User)
		if err != nil {
			return nil, nil, err
		}
		if !m.Unasked {
			names = append(names, name)
		}
	}
	return names, events, nil
}

// nextOwner returns the membership of a user who is to own a home, as a member of it, and the
// events. It ends the setup, whose next step would be asked of them.
func nextOwner(tx *store.Tx, id home.ID, user home.UserID) (next home.Membership, events []motion.Event, err error) {
	person, err := tx.User(user)
	if err != nil {
		return next, nil, err
	}
	if !person.Confirmed() {
		return next, nil, fault.New(fault.Conflict, "code: only a confirmed account can own the home; open the link that was mailed to you first")
	}
	house, err := tx.Home(id)
	if err != nil {
		return next, nil, err
	}
	if house.SetupStep != home.SetupDone {
		house.SetupStep = home.SetupDone
		if err := tx.PutHome(house); err != nil {
			return next, nil, err
		}
	}
	next, member, err := tx.MembershipOf(id, user)
	switch {
	case err != nil:
		return next, nil, err
	case member:
		next, err = accept(tx, next)
		return next, nil, err
	}
	next, joined, err := enter(tx, house, home.Membership{Role: home.MemberRole, User: user})
	if err != nil {
		return next, nil, err
	}
	if house, err = tx.Home(id); err != nil { // without the user, who may have been an installer
		return next, nil, err
	}
	users := make([]home.UserID, len(house.Installers))
	for i, installer := range house.Installers {
		users[i] = installer.User
	}
	left, err := endInstallers(tx, house, users, handedOver)
	return next, append(joined, left...), err
}
