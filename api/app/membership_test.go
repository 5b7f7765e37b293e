package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sensegate/api/apitest"
	"sensegate/motion"
	"sensegate/motion/engine"
	"sensegate/motion/home"
	"sensegate/store"
)

// shown is a membership of an answer.
type shown struct {
	ID      home.MembershipID
	Role    home.Role
	User    any
	Network any
}

// membershipOf returns the membership of a person in a home.
func (h *household) membershipOf(p person, in home.ID) (m home.Membership) {
	h.T.Helper()
	h.update(func(tx *store.Tx) (err error) {
		m, _, err = tx.MembershipOf(in, p.ID)
		return err
	})
	return m
}

// eventsOf returns the events of the first network of some kinds, oldest first.
func (h *household) eventsOf(kinds ...string) (list []motion.Event) {
	h.T.Helper()
	h.update(func(tx *store.Tx) (err error) {
		list, err = tx.Events(store.EventQuery{Network: h.network, Kinds: kinds, Last: 100, Ascending: true})
		return err
	})
	return list
}

// invite lets an address join the first home.
func (h *household) invite(address string) {
	h.T.Helper()
	a := h.as(h.owner, "POST", "/member_invites", fmt.Sprintf(`{"network_id":"%d","emails":[%q]}`, h.home, address))
	if a.Status != 200 || strings.Contains(string(a.Body), address) {
		h.T.Fatalf("invite %s: %d %s", address, a.Status, a.Body)
	}
}

func TestLadderOfMemberships(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	of, foreign := h.membershipOf(h.member, h.home), h.membershipOf(h.neighbour, h.other)
	query := fmt.Sprintf("?network_id=%d", h.home)
	h.climb(http.MethodGet,
		step{name: "no token", path: "/network_memberships", status: 401},
		step{name: "no network", who: h.nobody, path: "/network_memberships", status: 404},
		step{name: "foreign network", who: h.neighbour, path: "/network_memberships" + query, status: 404},
		step{name: "malformed", who: h.member, path: "/network_memberships?x=%zz", status: 400},
		step{name: "malformed", who: h.member, path: "/network_memberships?network_id=x", status: 400},
		step{name: "right", who: h.member, path: "/network_memberships" + query, status: 200},
		step{name: "right, the only network", who: h.owner, path: "/network_memberships/", status: 200},
	)
	h.climb(http.MethodPost,
		step{name: "no token", path: "/network_memberships", body: `{"role":"member","network_id":1}`, status: 401},
		step{name: "malformed", who: h.nobody, path: "/network_memberships", body: `{"role"`, status: 400},
		step{name: "invalid", who: h.nobody, path: "/network_memberships", body: `{"role":"king","network_id":"x"}`, status: 422, says: "body.network_id"},
		step{name: "all mistakes", who: h.nobody, path: "/network_memberships", body: `{"role":"king","network_id":"x"}`, status: 422, says: "body.role"},
		step{name: "no network", who: h.nobody, path: "/network_memberships", body: `{"role":"owner"}`, status: 422},
	)
	path := fmt.Sprintf("/network_memberships/%d", of.ID)
	h.climb(http.MethodDelete,
		step{name: "no token", path: path, status: 401},
		step{name: "stranger", who: h.nobody, path: path, status: 404},
		step{name: "foreign", who: h.owner, path: fmt.Sprintf("/network_memberships/%d", foreign.ID), status: 404},
		step{name: "malformed", who: h.owner, path: path + "?x=%zz", status: 400},
		step{name: "no id", who: h.owner, path: "/network_memberships/x", status: 404},
		step{name: "right", who: h.owner, path: path, status: 204},
		step{name: "again", who: h.owner, path: path, status: 404},
	)
}

func TestUnknownAndForeignRecordsAnswerTheSame(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.invite("a@example.com")
	foreign := map[string]string{
		"/network_memberships/": fmt.Sprint(h.membershipOf(h.member, h.home).ID), "/invitations/": "1", "/networks/": fmt.Sprint(h.home),
	}
	for path, id := range foreign {
		theirs := h.as(h.neighbour, "DELETE", path+id, "")
		unknown := h.as(h.neighbour, "DELETE", path+"77", "")
		if theirs.Status != 404 || string(theirs.Body) != strings.Replace(string(unknown.Body), "77", id, 1) {
			t.Errorf("%s: %d %s, and unknown %d %s", path, theirs.Status, theirs.Body, unknown.Status, unknown.Body)
		}
	}
	theirs, unknown := h.as(h.neighbour, "GET", fmt.Sprintf("/networks?id=%d", h.home), ""), h.as(h.neighbour, "GET", "/networks?id=77", "")
	if theirs.Status != 404 || string(theirs.Body) != strings.Replace(string(unknown.Body), "77", fmt.Sprint(h.home), 1) {
		t.Errorf("%s, and unknown %s", theirs.Body, unknown.Body)
	}
}

func TestExpandHasThreeSpellings(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	for query, want := range map[string]string{
		"":                                  "float64 float64",
		"expand=user":                       "map[string]interface {} float64",
		"expand[]=user":                     "map[string]interface {} float64",
		`expand=["user"]`:                   "map[string]interface {} float64",
		`expand=%5B%22user%22%5D`:           "map[string]interface {} float64",
		"expand=user,network":               "map[string]interface {} map[string]interface {}",
		"expand=network&expand=user":        "map[string]interface {} map[string]interface {}",
		"expand[]=network&expand[]=user":    "map[string]interface {} map[string]interface {}",
		`expand=["network","user"]`:         "map[string]interface {} map[string]interface {}",
		"expand=weather&expand[]=network":   "float64 map[string]interface {}",
		"expand=network_scene_config&x=%5B": "float64 float64",
	} {
		list := apitest.Want[struct{ Data []shown }](t, h.as(h.member, "GET", "/network_memberships?"+strings.ReplaceAll(query, `"`, "%22"), ""), 200)
		if len(list.Data) != 2 {
			t.Fatalf("%s: %+v", query, list)
		}
		if got := fmt.Sprintf("%T %T", list.Data[0].User, list.Data[0].Network); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	own := apitest.Want[struct {
		Config home.SceneConfig `json:"network_scene_config"`
	}](t, h.as(h.member, "GET", fmt.Sprintf("/networks/%d?expand[]=network_scene_config", h.home), ""), 200)
	if own.Config.HomeID != h.home {
		t.Errorf("expanded %+v", own)
	}
}

func TestSecondMemberJoinsByInvitation(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	join := fmt.Sprintf(`{"role":"member","network_id":"%d","expand":["user"]}`, h.home)
	apitest.WantProblem(t, h.as(h.nobody, "POST", "/network_memberships", join), 403, "not_invited")
	apitest.WantProblem(t, h.as(h.nobody, "POST", "/network_memberships", `{"role":"member","network_id":77}`), 403, "not_invited")
	h.invite(strings.ToUpper(h.nobody.Email))
	joined := apitest.Want[shown](t, h.as(h.nobody, "POST", "/network_memberships", join), 200)
	user, _ := joined.User.(map[string]any)
	if joined.Role != home.MemberRole || joined.Network != float64(h.home) || user["email"] != h.nobody.Email {
		t.Errorf("joined %+v", joined)
	}
	apitest.WantProblem(t, h.as(h.nobody, "POST", "/network_memberships", join), 409, "member")
	if list := h.as(h.owner, "GET", "/invitations", ""); !strings.Contains(string(list.Body), `"data":[]`) {
		t.Errorf("the invitation is still open: %s", list.Body)
	}
	events := h.eventsOf(motion.MemberJoinedEvent)
	if len(events) != 1 || events[0].Category != motion.CategorySystem || events[0].GuardianID != guardianID ||
		events[0].Data["sub"] != h.nobody.Sub || events[0].Data["id"] != float64(h.nobody.ID) || events[0].Data["first_name"] != h.nobody.FirstName {
		t.Errorf("events %+v", events)
	}
}

func TestOwnerAddsAnInvitedUserByID(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	add := func(by, who person) apitest.Answer {
		return h.Send(by.token, "POST", "/network_memberships", "application/x-www-form-urlencoded",
			fmt.Sprintf("role=member&network_id=%d&user_id=%d", h.home, who.ID))
	}
	apitest.WantProblem(t, add(h.member, h.nobody), 403, "not_invited")
	apitest.WantProblem(t, add(h.neighbour, h.nobody), 403, "not_invited")
	apitest.WantProblem(t, add(h.owner, person{User: home.User{ID: 77}}), 404, "77")
	h.update(func(tx *store.Tx) error {
		_, err := tx.CreateUser(home.User{Email: "new@example.com", Sub: "s"})
		return err
	})
	apitest.WantProblem(t, add(h.owner, person{User: home.User{ID: h.nobody.ID + 1}}), 404, "is not known")
	apitest.WantProblem(t, add(h.owner, h.neighbour), 404, "is not known") // who lives elsewhere is nobody's to find
	h.invite(h.nobody.Email)
	if added := apitest.Want[shown](t, add(h.owner, h.nobody), 200); added.User != float64(h.nobody.ID) {
		t.Errorf("added %+v", added)
	}
	apitest.WantProblem(t, add(h.owner, h.nobody), 409, "member")
}

func TestOwnerRemovesAnyoneButThemselvesAndAMemberOnlyThemselves(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.join(h.nobody, h.home, home.MemberRole)
	path := func(p person) string { return fmt.Sprintf("/network_memberships/%d", h.membershipOf(p, h.home).ID) }
	h.climb(http.MethodDelete,
		step{name: "the owner themselves", who: h.owner, path: path(h.owner), status: 409, says: "disown"},
		step{name: "a member another", who: h.member, path: path(h.nobody), status: 403},
		step{name: "a member the owner", who: h.member, path: path(h.owner), status: 403},
		step{name: "a member themselves", who: h.member, path: path(h.member), status: 204},
		step{name: "the owner a member", who: h.owner, path: path(h.nobody), status: 204},
	)
	for _, p := range []person{h.member, h.nobody} {
		apitest.WantProblem(t, h.as(p, "GET", fmt.Sprintf("/networks/%d", h.home), ""), 404, "is not known")
	}
	events := h.eventsOf(motion.MemberRemovedEvent)
	if len(events) != 2 || events[0].Data["sub"] != h.member.Sub || events[1].Data["sub"] != h.nobody.Sub {
		t.Errorf("events %+v", events)
	}
}

func TestPersonWhomAnOwnerHasAddedKeepsTheirAccount(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	invite := fmt.Sprintf(`{"network_id":%d,"emails":[%q]}`, h.other, h.nobody.Email)
	apitest.Want[map[string]any](t, h.as(h.neighbour, "POST", "/member_invites", invite), 200)
	add := fmt.Sprintf(`{"role":"member","network_id":%d,"user_id":%d}`, h.other, h.nobody.ID)
	apitest.Want[shown](t, h.as(h.neighbour, "POST", "/network_memberships", add), 200)
	h.addMail(h.resetMail(h.nobody))
	if a := h.as(h.neighbour, "GET", "/outbox", ""); a.Status != 200 || strings.Contains(string(a.Body), h.nobody.Email) {
		t.Errorf("the owner reads %s", a.Body)
	}
	if a := h.as(h.neighbour, "DELETE", fmt.Sprintf("/networks/%d", h.other), ""); a.Status != 204 {
		t.Fatal(a.Status)
	}
	if a := h.as(h.nobody, "GET", fmt.Sprintf("/users/%d", h.nobody.ID), ""); a.Status != 200 {
		t.Errorf("after the network was disowned: %d %s", a.Status, a.Body)
	}
}

func TestOwnerHandsTheNetworkOver(t *testing.T) {
	t.Parallel()
	var ahead atomic.Int64
	h := newHousehold(t, func(o *store.Options, _ *engine.Options) {
		o.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	})
	if _, err := h.accounts.SetPassword(t.Context(), h.owner.Email, examplePassword); err != nil {
		t.Fatal(err)
	}
	tokens, err := h.sessions.Start(t.Context(), h.owner.ID, true)
	if err != nil {
		t.Fatal(err)
	}
	h.owner.token = tokens.Token
	h.invite("guest@example.com")
	of := func(p person) string { return fmt.Sprintf("/network_memberships/%d", h.membershipOf(p, h.home).ID) }
	ahead.Store(int64(11 * time.Minute)) // the log-in no longer speaks for them
	const owner, member = `{"role":"owner"}`, `{"role":"member"}`
	h.climb(http.MethodPatch,
		step{name: "no token", path: of(h.member), body: owner, status: 401},
		step{name: "stranger", who: h.nobody, path: of(h.member), body: owner, status: 404},
		step{name: "a member", who: h.member, path: of(h.member), body: owner, status: 403},
		step{name: "foreign", who: h.owner, path: fmt.Sprintf("/network_memberships/%d", h.membershipOf(h.neighbour, h.other).ID), body: owner, status: 404},
		step{name: "malformed", who: h.owner, path: of(h.member), body: `{"role"`, status: 400},
		step{name: "another role", who: h.owner, path: of(h.member), body: `{"role":"king"}`, status: 422, says: "body.role"},
		step{name: "the owner to a member", who: h.owner, path: of(h.owner), body: member, status: 409, says: "make another member the owner"},
		step{name: "a member to one", who: h.owner, path: of(h.member), body: member, status: 200, says: `"role":"member"`},
		step{name: "the owner to one", who: h.owner, path: of(h.owner), body: owner, status: 200, says: `"role":"owner"`},
		step{name: "without a step-up", who: h.owner, path: of(h.member), body: owner, status: 403, says: "step_up"},
		step{name: "with a wrong password", who: h.owner, path: of(h.member), body: `{"role":"owner","current_password":"another"}`, status: 403},
		step{name: "right", who: h.owner, path: of(h.member), body: `{"role":"owner","current_password":"` + examplePassword + `","expand":"user"}`, status: 200, says: `"role":"owner","user":{"id":` + fmt.Sprint(h.member.ID)},
		step{name: "by who owned it", who: h.owner, path: of(h.owner), body: owner, status: 403},
	)
	if former := h.membershipOf(h.owner, h.home); former.Role != home.MemberRole {
		t.Errorf("the former owner: %+v", former)
	}
	if open := h.as(h.member, "GET", "/invitations", ""); !strings.Contains(string(open.Body), `"data":[]`) {
		t.Errorf("what the former owner offered is open: %s", open.Body)
	}
	h.mailTo("owner_changed", h.owner.Email)
	h.mailTo("owner_changed", h.member.Email)
	if events := h.eventsOf(motion.OwnerChangedEvent); len(events) != 1 || events[0].Data["sub"] != h.member.Sub || events[0].Detail["reason"] != "handed_over" {
		t.Errorf("events %+v", events)
	}
}

func TestPersonAddedByIDShowsNoNameUntilTheyJoin(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	add := fmt.Sprintf(`{"role":"member","network_id":%d,"user_id":%d,"expand":"user"}`, h.home, h.nobody.ID)
	added := h.as(h.owner, "POST", "/network_memberships", add)
	if got := apitest.Want[shown](t, added, 200); got.User != float64(h.nobody.ID) || got.Role != home.MemberRole {
		t.Errorf("added %s", added.Body)
	}
	for _, path := range []string{"/network_memberships?expand=user", "/events", "/outbox"} {
		if a := h.as(h.owner, "GET", path, ""); a.Status != 200 || strings.Contains(string(a.Body), h.nobody.FirstName) {
			t.Errorf("%s names who was not asked: %d %s", path, a.Status, a.Body)
		}
	}
	apitest.Want[any](t, h.as(h.nobody, "GET", fmt.Sprintf("/networks/%d", h.home), ""), 200)
	joins := fmt.Sprintf(`{"role":"member","network_id":%d}`, h.home)
	apitest.Want[shown](t, h.as(h.nobody, "POST", "/network_memberships", joins), 200)
	if a := h.as(h.owner, "GET", "/network_memberships?expand=user", ""); !strings.Contains(string(a.Body), h.nobody.Email) {
		t.Errorf("who has joined: %s", a.Body)
	}
	apitest.Want[shown](t, h.as(h.nobody, "POST", "/network_memberships", joins), 200) // once more
	apitest.WantProblem(t, h.as(h.member, "POST", "/network_memberships", joins), 409, "member")
}

// addNeighbour has the owner invite the neighbour, who lives elsewhere, and add them by their id.
func (h *household) addNeighbour() shown {
	h.T.Helper()
	h.invite(h.neighbour.Email)
	add := fmt.Sprintf(`{"role":"member","network_id":%d,"user_id":%d}`, h.home, h.neighbour.ID)
	return apitest.Want[shown](h.T, h.as(h.owner, "POST", "/network_memberships", add), 200)
}

// TestInvitedUserWhoIsAddedByIDHasNoPartUntilTheyNameTheNetwork: the invitation is the
// owner's doing, not theirs.
func TestInvitedUserWhoIsAddedByIDHasNoPartUntilTheyNameTheNetwork(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	added := h.addNeighbour()
	promote := func() apitest.Answer {
		return h.as(h.owner, "PATCH", fmt.Sprintf("/network_memberships/%d", added.ID), `{"role":"owner"}`)
	}
	apitest.WantProblem(t, promote(), 409, "has not joined")
	if m := h.membershipOf(h.neighbour, h.home); !m.Unasked || !m.Muted {
		t.Errorf("added %+v", m)
	}
	if a := h.as(h.owner, "GET", "/network_memberships?expand=user", ""); a.Status != 200 || strings.Contains(string(a.Body), h.neighbour.Sub) {
		t.Errorf("the owner reads %s", a.Body)
	}
	scene := apitest.Want[map[string]any](t, h.as(h.neighbour, "GET", "/network_statuses", ""), 200)
	if scene["network_id"] != float64(h.other) {
		t.Errorf("a request that names no network is about %v, want their own home %d", scene["network_id"], h.other)
	}
	apitest.Want[any](t, h.as(h.neighbour, "GET", fmt.Sprintf("/network_statuses?network_id=%d", h.home), ""), 200)
	if m := h.membershipOf(h.neighbour, h.home); m.Unasked || m.Muted {
		t.Errorf("after a request that names the network %+v", m)
	}
	if a := h.as(h.owner, "GET", "/network_memberships?expand=user", ""); !strings.Contains(string(a.Body), h.neighbour.Sub) {
		t.Errorf("the owner reads %s", a.Body)
	}
	apitest.Want[any](t, promote(), 200)
}

func TestAddedUserIsMutedUntilARequestNamesTheNetwork(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		method, path, body string // %d is the network
		muted              bool
	}{
		"nothing asked":     {"GET", "/version", "", true},
		"own networks":      {"GET", "/networks", "", true},
		"no network named":  {"GET", "/scenes", "", true},
		"query":             {"GET", "/scenes?network_id=%d", "", false},
		"body":              {"PUT", "/scenes", `{"scene_id":4,"network_id":%d}`, false},
		"path":              {"GET", "/networks/%d", "", false},
		"what owners may":   {"PUT", "/networks/%d", `{"name":"x"}`, false},
		"presence":          {"POST", "/bulk_user_presences", `{"user_presences":[{"network_id":%d,"event":"enter"}]}`, false},
		"joined themselves": {"POST", "/network_memberships", `{"role":"member","network_id":%d}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHousehold(t)
			apitest.Want[shown](t, h.as(h.owner, "POST", "/network_memberships", fmt.Sprintf(`{"role":"member","network_id":%d,"user_id":%d}`, h.home, h.nobody.ID)), 200)
			fill := func(text string) string { return strings.Replace(text, "%d", fmt.Sprint(h.home), 1) }
			answer := h.as(h.nobody, c.method, fill(c.path), fill(c.body))
			if answer.Status != 200 && name != "what owners may" {
				t.Fatalf("%d %s", answer.Status, answer.Body)
			}
			if m := h.membershipOf(h.nobody, h.home); m.Muted != c.muted {
				t.Errorf("muted is %t, want %t: %+v", m.Muted, c.muted, m)
			}
		})
	}
}

func TestWhoDeclinesIsNotNamed(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	added := h.addNeighbour()
	if a := h.as(h.neighbour, "DELETE", fmt.Sprintf("/network_memberships/%d", added.ID), ""); a.Status != 204 {
		t.Fatalf("%d: %s", a.Status, a.Body)
	}
	events := h.eventsOf(motion.MemberRemovedEvent)
	if len(events) != 1 {
		t.Fatalf("%d events tell of it", len(events))
	}
	if told := fmt.Sprint(events[0].Data); strings.Contains(told, h.neighbour.Sub) || strings.Contains(told, h.neighbour.Email) {
		t.Errorf("the network is told %s", told)
	}
}

// TestWhoIsAddedFindsTheirMembershipUnnamed: neither looking for it, with a home of their own,
// nor what is refused tells the owner who they are; reporting where they are by the home's
// number does.
func TestWhoIsAddedFindsTheirMembershipUnnamed(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	added := h.addNeighbour()
	own := fmt.Sprintf("/network_memberships/%d", added.ID)
	found := h.as(h.neighbour, "GET", fmt.Sprintf("/network_memberships?network_id=%d", h.home), "")
	if found.Status != 200 || !strings.Contains(string(found.Body), fmt.Sprintf(`"id":%d`, added.ID)) {
		t.Errorf("their list: %d %s", found.Status, found.Body)
	}
	apitest.WantProblem(t, h.as(h.neighbour, "PATCH", own, `{"role":"owner"}`), 403, "")
	if m := h.membershipOf(h.neighbour, h.home); !m.Unasked || !m.Muted {
		t.Errorf("they take part: %+v", m)
	}
	report := fmt.Sprintf(`{"user_presences":[{"network_id":%d,"event":"enter"}]}`, h.home)
	apitest.Want[any](t, h.as(h.neighbour, "POST", "/bulk_user_presences", report), 200)
	if m := h.membershipOf(h.neighbour, h.home); m.Unasked || m.Muted {
		t.Errorf("they do not take part: %+v", m)
	}
}
