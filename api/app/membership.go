package app

import (
	"context"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/household"
	"sensegate/store"
)

// shownMembership is a membership as answers show it (payloads.md 5.2).
type shownMembership struct {
	ID        home.MembershipID         `json:"id" example:"31"`
	Role      home.Role                 `json:"role" enum:"owner,member"`
	User      expandable[home.User]     `json:"user" doc:"User id; with expand=user the user, but for one whom the owner has added and who has not joined or named the network yet" example:"9"`
	Network   expandable[networkRecord] `json:"network" doc:"App Cloud network id; with expand=network the network" example:"17"`
	IsPresent bool                      `json:"is_present" doc:"Whether they are at home, as far as their phone has told"`
	CreatedAt motion.Stamp              `json:"created_at"`
	UpdatedAt motion.Stamp              `json:"updated_at"`
}

type membershipsIn struct {
	NetworkQuery
	Expand
}

func (a *App) memberships(ctx context.Context, m auth.Member, in *membershipsIn) (*list[shownMembership], error) {
	var shown []shownMembership
	err := a.DB.View(ctx, func(tx *store.Tx) error {
		members, err := tx.MembershipsOfHome(m.Home)
		if err != nil {
			return err
		}
		for _, one := range members {
			s, err := showMembership(tx, one, in.Expand)
			if err != nil {
				return err
			}
			shown = append(shown, s)
		}
		return nil
	})
	return listed(shown, err)
}

// showMembership shows a membership, with the records that are asked for.
func showMembership(tx *store.Tx, m home.Membership, expand interface{ has(string) bool }) (shownMembership, error) {
	s := shownMembership{
		ID: m.ID, Role: m.Role, IsPresent: m.IsPresent, CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt,
		User: expandable[home.User]{ID: int64(m.User)}, Network: expandable[networkRecord]{ID: int64(m.Home)},
	}
	if expand.has("user") && !m.Unasked {
		u, err := tx.User(m.User)
		if err != nil {
			return s, err
		}
		s.User.Whole = &u
	}
	if expand.has("network") {
		n, err := showNetwork(tx, m.Home, Expand{})
		if err != nil {
			return s, err
		}
		s.Network.Whole = &n
	}
	return s, nil
}

type newMembershipIn struct {
	Body struct {
		Role       home.Role            `json:"role" enum:"owner,member" doc:"owner claims a network without people for the caller; member adds a user"`
		Network    api.Lenient[uint32]  `json:"network_id" doc:"App Cloud network id" example:"17"`
		User       *api.Lenient[uint32] `json:"user_id,omitempty" doc:"Who is to be added; default: the caller" example:"10"`
		Invitation string               `json:"invitation,omitempty" maxLength:"64" doc:"The token of the invitation's link" example:"inv_8n6kA1oDgQ2mB5tZ0yWcXfRjUeHsLpVqTnKiGbMdOwE"`
		SetupCode  string               `json:"setup_code,omitempty" maxLength:"64" doc:"Of the appliance; needed to claim while it has no owner at all, and a network that was owned before"`
		ExpandBody
	}
}

func (a *App) createMembership(ctx context.Context, u auth.User, in *newMembershipIn) (*api.Answer[shownMembership], error) {
	id, user := home.ID(in.Body.Network.Value), u.ID
	if in.Body.User != nil {
		user = home.UserID(in.Body.User.Value)
	}
	var made home.Membership
	var err error
	switch {
	case in.Body.Role == home.MemberRole && in.Body.SetupCode != "":
		err = fault.At("body.setup_code", nil, "an owner shows it who claims: leave it out")
	case in.Body.Role == home.MemberRole:
		made, err = a.Household.Join(ctx, id, household.Candidate{User: user, By: u.ID, Token: in.Body.Invitation})
	case user != u.ID:
		err = fault.At("body.user_id", int64(user), "an owner claims for themselves: leave it out")
	default:
		made, err = a.claim(ctx, u, id, in.Body.SetupCode)
	}
	if err != nil {
		return nil, err
	}
	return a.membershipAnswer(ctx, made, in.Body.ExpandBody)
}

// membershipAnswer answers with a membership.
func (a *App) membershipAnswer(ctx context.Context, m home.Membership, expand ExpandBody) (*api.Answer[shownMembership], error) {
	return api.Answered(store.Read(ctx, a.DB, func(tx *store.Tx) (shownMembership, error) { return showMembership(tx, m, expand) }))
}

// claim claims a network for the caller. Wrong setup codes are counted.
func (a *App) claim(ctx context.Context, u auth.User, id home.ID, code string) (home.Membership, error) {
	proof := household.Proof{SetupCode: code, Local: u.Local}
	if code == "" {
		return a.Household.Claim(ctx, id, u.ID, proof)
	}
	judge, err := a.Accounts.TryCode(u.Address)
	if err != nil {
		return home.Membership{}, err
	}
	made, err := a.Household.Claim(ctx, id, u.ID, proof)
	judge(err)
	return made, err
}

type membershipIn struct {
	ID home.MembershipID `path:"id" doc:"Membership id" example:"31"`
}

type changeMembershipIn struct {
	ID   home.MembershipID `path:"id" doc:"Membership id" example:"31"`
	Body struct {
		Role            home.Role `json:"role" enum:"owner,member" doc:"owner: the member owns the network from now on, and the caller becomes a member"`
		CurrentPassword string    `json:"current_password,omitempty" maxLength:"512" doc:"The caller's; not needed within ten minutes of a log-in" example:"correct horse battery"`
		ExpandBody
	}
}

// changeMembership hands the network over to a member. Whoever asks for what is so already
// gets the membership as it is.
func (a *App) changeMembership(ctx context.Context, o auth.Owner, in *changeMembershipIn) (*api.Answer[shownMembership], error) {
	m, err := store.Read(ctx, a.DB, func(tx *store.Tx) (home.Membership, error) { return tx.Membership(in.ID) })
	switch {
	case err != nil:
		return nil, err
	case in.Body.Role == home.MemberRole && m.User == o.ID:
		return nil, fault.New(fault.Conflict, "role: a network has an owner; make another member the owner instead")
	case in.Body.Role == home.OwnerRole && m.User != o.ID:
		if err := a.Accounts.StepUp(ctx, o.User, in.Body.CurrentPassword); err != nil {
			return nil, err
		}
		if m, err = a.Household.HandOver(ctx, in.ID, o.ID); err != nil {
			return nil, err
		}
	}
	return a.membershipAnswer(ctx, m, in.Body.ExpandBody)
}

func (a *App) deleteMembership(ctx context.Context, m auth.Member, in *membershipIn) (*struct{}, error) {
	return nil, a.Household.RemoveMember(ctx, in.ID, m.ID)
}
