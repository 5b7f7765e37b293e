package app

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

func (a *App) anyone(_ context.Context, r *api.Request) (auth.Anyone, error) {
	return auth.Anyone{Address: r.Remote()}, nil
}

// user returns whoever shows a valid session token.
func (a *App) user(ctx context.Context, r *api.Request) (auth.User, error) {
	u, err := a.Sessions.Check(ctx, r.Token(), r.Remote())
	u.Local = r.Local()
	return u, err
}

// member returns a user who belongs to the home that the request is about. An account
// that ends takes its memberships along, perhaps between the two looks: when there is
// no membership the session is looked at again, so that its end is told first.
func (a *App) member(ctx context.Context, r *api.Request, u auth.User) (auth.Member, error) {
	m, err := a.membership(ctx, r, u)
	if fault.KindOf(err) == fault.NotFound {
		_, ended := a.user(ctx, r)
		err = cmp.Or(ended, err)
	}
	return m, err
}

// membership returns a user as a member of the home that the request is about.
func (a *App) membership(ctx context.Context, r *api.Request, u auth.User) (auth.Member, error) {
	m := auth.Member{User: u}
	var membership home.Membership
	err := a.DB.View(ctx, func(tx *store.Tx) error {
		id, err := homeOf(tx, r, u)
		if err != nil {
			return err
		}
		var ok bool
		if membership, ok, err = tx.MembershipOf(id, u.ID); err != nil {
			return err
		}
		if !ok {
			return unknown(r, id)
		}
		h, err := tx.Home(id)
		m.Home, m.Network, m.Since, m.Role = id, h.ExternalID, h.ClaimedAt, membership.Role
		if err == nil && !h.LiveEnabled && r.Route() == liveRoute {
			return &fault.Error{Kind: fault.Forbidden, Code: "live_disabled", Message: "live_enabled: live motion is switched off for this home; its owner switches it on with PUT /networks/{id}"}
		}
		return err
	})
	if err != nil || !membership.Unasked || !takesPart(r) {
		return m, err
	}
	if err := a.Household.Accept(ctx, membership.ID); fault.KindOf(err) != fault.Unavailable { // a full disk stops no reader
		return m, err
	}
	return m, nil
}

// takesPart reports whether somebody who was added without being asked takes part by a
// request: it names the home that it is about. Those about memberships do not count, so
// that they can find theirs and end it.
func takesPart(r *api.Request) bool {
	if strings.HasPrefix(r.Route(), membershipsRoute) {
		return false
	}
	_, byRecord := byPath[r.Route()]
	return byRecord || r.Query("network_id") != "" || r.Field("network_id") != ""
}

// membershipsRoute begins the routes about memberships.
const membershipsRoute = "/api/v1/network_memberships"

// liveRoute is the stream that live_enabled of a home closes to everybody. As it is
// closed here, those who watch are sent away when it is switched off.
const liveRoute = "/api/v1/motions"

// owner returns the member who owns the home.
func (a *App) owner(ctx context.Context, r *api.Request, u auth.User) (auth.Owner, error) {
	m, err := a.member(ctx, r, u)
	if err != nil {
		return auth.Owner{}, err
	}
	return m.Own()
}

// asked reports whether a person has had a say in a membership of theirs.
func asked(m home.Membership) bool { return !m.Unasked }

// homeOf returns the home that a request is about: the one that its path names, by
// itself or by a record of it; else network_id of the query or the body; else the
// caller's only one (payloads.md 1), besides which others may have added them to
// theirs without asking.
func homeOf(tx *store.Tx, r *api.Request, u auth.User) (home.ID, error) {
	if find, ok := byPath[r.Route()]; ok {
		id, err := strconv.ParseUint(r.Path("id"), 10, 32)
		if err != nil {
			return 0, unknown(r, 0)
		}
		found, err := find(tx, uint32(id))
		if fault.KindOf(err) == fault.NotFound {
			err = unknown(r, 0)
		}
		return found, err
	}
	text, said := r.Query("network_id"), r.Field("network_id")
	if text != "" && said != "" && text != said {
		return 0, fault.New(fault.Invalid, "network_id: the query says %.20q and the body %.20q", text, said)
	}
	if text = cmp.Or(text, said); text != "" {
		id, err := strconv.ParseUint(text, 10, 32)
		if err != nil || id == 0 {
			kind := fault.Invalid
			if _, err := strconv.ParseInt(text, 10, 64); err != nil && said == "" {
				kind = fault.Malformed // as other parameters of a query
			}
			return 0, fault.New(kind, "network_id: want a positive integer")
		}
		return home.ID(id), nil
	}
	memberships, err := tx.MembershipsOfUser(u.ID)
	if err != nil {
		return 0, err
	}
	if slices.ContainsFunc(memberships, asked) {
		memberships = slices.DeleteFunc(memberships, func(m home.Membership) bool { return !asked(m) })
	}
	switch {
	case len(memberships) == 0:
		return 0, fault.New(fault.NotFound, "network: you belong to none; claim one, or accept an invitation, with POST /network_memberships")
	case len(memberships) > 1:
		return 0, fault.New(fault.Invalid, "network_id: is needed, because you belong to %d networks", len(memberships))
	}
	return memberships[0].Home, nil
}

// unknown is the answer about a home, or a record of one, that there is not, or that the
// caller does not belong to: the same words for both.
func unknown(r *api.Request, id home.ID) error {
	if named := r.Path("id"); named != "" {
		return fault.New(fault.NotFound, "id %.20q is not known", named)
	}
	return fault.New(fault.NotFound, "network %d is not known", id)
}

// byPath finds the home of a record that a path names by its id.
var byPath = map[string]func(*store.Tx, uint32) (home.ID, error){
	"/api/v1/networks/{id}": func(_ *store.Tx, id uint32) (home.ID, error) { return home.ID(id), nil },
	membershipsRoute + "/{id}": func(tx *store.Tx, id uint32) (home.ID, error) {
		m, err := tx.Membership(home.MembershipID(id))
		return m.Home, err
	},
	"/api/v1/invitations/{id}": func(tx *store.Tx, id uint32) (home.ID, error) {
		i, err := tx.Invitation(home.InvitationID(id))
		return i.Home, err
	},
	"/api/v1/default_locations/{id}": func(tx *store.Tx, id uint32) (home.ID, error) {
		l, err := tx.Location(home.LocationID(id))
		if err != nil {
			return 0, err
		}
		return *l.Home, nil
	},
	"/api/v1/network_scene_configs/{id}": func(tx *store.Tx, id uint32) (home.ID, error) {
		c, err := tx.SceneConfig(home.SceneConfigID(id))
		return c.HomeID, err
	},
}
