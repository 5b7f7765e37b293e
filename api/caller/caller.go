// Package caller says who calls an interface of the household, and which home a request is
// about. It knows how a request shows that. It must not know an operation beyond where the
// record of a home stands in its path.
package caller

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
	"sensegate/motion/household"
	"sensegate/store"
)

// Finder tells who calls. Its methods may be called concurrently.
type Finder struct {
	DB        *store.DB
	Sessions  *auth.Sessions
	Household *household.Household

	// ByPath finds the home of a record that the path of a route names by its id.
	ByPath map[string]func(*store.Tx, uint32) (home.ID, error)
	// Memberships begins the routes about memberships.
	Memberships string
	// FirstHome says that a request which names no home is about the first of several; otherwise
	// it is refused.
	FirstHome bool
	// Admin says from where administrators may look after the appliance; "": nowhere.
	Admin string
	// Motion are the streams that live_enabled of a home closes to everybody. As they are
	// closed here, those who watch are sent away when it is switched off.
	Motion []string
}

// Principals are the callers of an interface: anyone, users, members, owners and installers.
// scheme names the credentials in its document, note explains them.
func (f *Finder) Principals(scheme, note string) []api.Principal {
	return []api.Principal{
		api.Authenticate("", "", f.anyone),
		api.Authenticate(scheme, note, f.user),
		api.Authorize(scheme, note, f.user, f.member),
		api.Authorize(scheme, note, f.user, f.owner),
		api.Authorize(scheme, note, f.user, f.installer),
	}
}

func (f *Finder) anyone(_ context.Context, r *api.Request) (auth.Anyone, error) {
	return auth.Anyone{Address: r.Remote()}, nil
}

// user returns whoever shows a valid session token, or both halves of a browser's session, or
// its ticket for a websocket.
func (f *Finder) user(ctx context.Context, r *api.Request) (u auth.User, err error) {
	known, again := r.Known()
	ticket := r.Ticket()
	cookies, proof := r.Halves(f.Sessions.CookieName())
	switch {
	case again && known.(auth.User).Browser:
		u = known.(auth.User)
		err = f.Sessions.StillOpen(ctx, u)
	case ticket != "":
		if u, err = f.Sessions.Redeem(ticket); err == nil {
			err = f.Sessions.StillOpen(ctx, u)
		}
	case proof != "" && r.Token() == "" && !r.SameOrigin():
		err = &fault.Error{Kind: fault.Forbidden, Code: "origin", Message: "origin: the session of a browser is for the appliance's own page alone"}
	case proof != "" && r.Token() == "":
		u, err = f.browser(ctx, r, cookies, proof)
	default:
		u, err = f.Sessions.Check(ctx, r.Token(), r.Remote())
	}
	u.Local, u.Inside = r.Local(), r.Inside()
	return u, err
}

// browser returns the user whose browser shows a proof and, among others, its cookie.
func (f *Finder) browser(ctx context.Context, r *api.Request, cookies []string, proof string) (u auth.User, err error) {
	for _, cookie := range append(cookies, "") {
		u, err = f.Sessions.CheckBrowser(ctx, auth.Halves{Cookie: cookie, Proof: proof}, r.Remote())
		if fault.KindOf(err) != fault.Unauthorized {
			break
		}
	}
	return u, err
}

// member returns a user who belongs to the home that the request is about. An account
// that ends takes its memberships along, perhaps between the two looks: when there is
// no membership the session is looked at again, so that its end is told first.
func (f *Finder) member(ctx context.Context, r *api.Request, u auth.User) (auth.Member, error) {
	m, err := f.membership(ctx, r, u)
	if fault.KindOf(err) == fault.NotFound {
		ended := error(nil)
		if u.Browser { // a ticket is used up
			ended = f.Sessions.StillOpen(ctx, u)
		} else {
			_, ended = f.user(ctx, r)
		}
		err = cmp.Or(ended, err)
	}
	return m, err
}

// membership returns a user as a member of the home that the request is about.
func (f *Finder) membership(ctx context.Context, r *api.Request, u auth.User) (auth.Member, error) {
	m := auth.Member{User: u}
	var membership home.Membership
	err := f.DB.View(ctx, func(tx *store.Tx) error {
		id, err := f.homeOf(tx, r, u)
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
		if err == nil {
			err = tx.Here(h.ExternalID)
		}
		m.Home, m.Network, m.Since, m.Role = id, h.ExternalID, h.ClaimedAt, membership.Role
		if err == nil && !h.LiveEnabled && slices.Contains(f.Motion, r.Route()) {
			return &fault.Error{Kind: fault.Forbidden, Code: "live_disabled", Message: "live_enabled: live motion is switched off for this home; its owner switches it on with PUT /networks/{id}"}
		}
		return err
	})
	if err != nil || !membership.Unasked || !f.takesPart(r) {
		return m, err
	}
	if err := f.Household.Accept(ctx, membership.ID); fault.KindOf(err) != fault.Unavailable { // a full disk stops no reader
		return m, err
	}
	return m, nil
}

// takesPart reports whether somebody who was added without being asked takes part by a
// request: it names the home that it is about. Those about memberships do not count, so
// that they can find theirs and end it.
func (f *Finder) takesPart(r *api.Request) bool {
	if f.Memberships != "" && strings.HasPrefix(r.Route(), f.Memberships) {
		return false
	}
	_, byRecord := f.ByPath[r.Route()]
	return byRecord || r.Query("network_id") != "" || r.Field("network_id") != ""
}

// owner returns the member who owns the home.
func (f *Finder) owner(ctx context.Context, r *api.Request, u auth.User) (auth.Owner, error) {
	m, err := f.member(ctx, r, u)
	if err != nil {
		return auth.Owner{}, err
	}
	return m.Own()
}

// installer returns the owner of the home, or an installer of it. Members are refused, and to
// everybody else the home is not known.
func (f *Finder) installer(ctx context.Context, r *api.Request, u auth.User) (auth.Installer, error) {
	i := auth.Installer{Member: auth.Member{User: u}}
	found := false
	err := f.DB.View(ctx, func(tx *store.Tx) error {
		id, err := f.homeOf(tx, r, u)
		if err != nil {
			return err
		}
		h, err := tx.Home(id)
		if fault.KindOf(err) == fault.NotFound {
			return nil // as for a home that there is
		}
		if _, found = h.InstallerOf(u.ID, tx.Now()); found {
			i.Home, i.Network, i.Since = id, h.ExternalID, h.ClaimedAt
		}
		return err
	})
	if err != nil || found {
		return i, err
	}
	o, err := f.owner(ctx, r, u)
	return auth.Installer(o), err
}

// asked reports whether a person has had a say in a membership of theirs.
func asked(m home.Membership) bool { return !m.Unasked }

// homeOf returns the home that a request is about: the one that its path names, by
// itself or by a record of it; else network_id of the query or the body; else the
// caller's only one (payloads.md 1), besides which others may have added them to
// theirs without asking.
func (f *Finder) homeOf(tx *store.Tx, r *api.Request, u auth.User) (home.ID, error) {
	if find, ok := f.ByPath[r.Route()]; ok {
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
	case len(memberships) > 1 && !f.FirstHome:
		return 0, fault.New(fault.Invalid, "network_id: is needed, because you belong to %d networks", len(memberships))
	}
	if here := slices.IndexFunc(memberships, func(m home.Membership) bool { return tx.HereHome(m.Home) == nil }); here > 0 {
		return memberships[here].Home, nil // others have moved to another box
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
