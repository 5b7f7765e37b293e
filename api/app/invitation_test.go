package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"sensegate/api/apitest"
	"sensegate/motion/home"
	rules "sensegate/motion/household"
	"sensegate/store"
)

// open returns the invitations that the owner of the first home sees.
func (h *household) open() []home.Invitation {
	h.T.Helper()
	return apitest.Want[struct{ Data []home.Invitation }](h.T, h.as(h.owner, "GET", "/invitations", ""), 200).Data
}

func TestLadderOfInvitations(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	body := fmt.Sprintf(`{"network_id":"%d","emails":["a@example.com"]}`, h.home)
	h.climb(http.MethodPost,
		step{name: "no token", path: "/member_invites", body: body, status: 401},
		step{name: "stranger", who: h.nobody, path: "/member_invites", body: body, status: 404},
		step{name: "foreign", who: h.neighbour, path: "/member_invites", body: body, status: 404},
		step{name: "member", who: h.member, path: "/member_invites", body: body, status: 403},
		step{name: "malformed", who: h.owner, path: "/member_invites", body: `{]`, status: 400},
		step{name: "invalid", who: h.owner, path: "/member_invites", body: `{"emails":[1]}`, status: 422, says: "body.emails"},
		step{name: "nobody", who: h.owner, path: "/member_invites", body: `{"emails":[]}`, status: 422},
		step{name: "right", who: h.owner, path: "/member_invites", body: body, status: 200, says: `{"failed_emails":[]}`},
	)
	h.climb(http.MethodGet,
		step{name: "no token", path: "/invitations", status: 401},
		step{name: "stranger", who: h.nobody, path: "/invitations", status: 404},
		step{name: "malformed", who: h.owner, path: "/invitations?x=%zz", status: 400},
		step{name: "invalid", who: h.owner, path: "/invitations?network_id=-1", status: 422},
		step{name: "member", who: h.member, path: "/invitations", status: 200, says: "a@example.com"},
		step{name: "right", who: h.owner, path: "/invitations", status: 200, says: `"role":"member"`},
	)
	path := fmt.Sprintf("/invitations/%d", h.open()[0].ID)
	h.climb(http.MethodDelete,
		step{name: "no token", path: path, status: 401},
		step{name: "foreign", who: h.neighbour, path: path, status: 404},
		step{name: "member", who: h.member, path: path, status: 403},
		step{name: "no id", who: h.owner, path: "/invitations/x", status: 404},
		step{name: "right", who: h.owner, path: path, status: 204},
		step{name: "again", who: h.owner, path: path, status: 404},
	)
}

func TestOnlyAddressesThatCanBeInvitedAre(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	body := `{"emails":["new@example.com","NEW@example.com","no address","` + strings.ToUpper(h.member.Email) + `","x@","` + strings.Repeat("a", 300) + `@example.com"]}`
	failed := apitest.Want[struct {
		Failed []string `json:"failed_emails"`
	}](t, h.as(h.owner, "POST", "/member_invites", body), 200).Failed
	if len(failed) != 4 || failed[0] != "no address" || failed[1] != strings.ToUpper(h.member.Email) {
		t.Errorf("failed %q", failed)
	}
	if open := h.open(); len(open) != 1 || open[0].Email != "new@example.com" || open[0].Home != h.home ||
		open[0].ExpiresAt.Since(open[0].CreatedAt) != home.InvitationTime {
		t.Errorf("open %+v", open)
	}
}

func TestInvitationIsMailed(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.invite("new@example.com")
	h.invite("new@example.com") // within the minute: not again
	h.update(func(tx *store.Tx) error {
		mails, err := tx.Mails()
		if len(mails) != 1 || mails[0].Address != "new@example.com" || mails[0].HomeID != h.home || !strings.Contains(mails[0].Text, "jdoe Doe") {
			t.Errorf("mails %+v", mails)
		}
		return err
	})
}

func TestInvitationsAreBounded(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	for round, want := range []int{0, 0, 10} {
		var emails []string
		for i := range 20 {
			emails = append(emails, fmt.Sprintf(`"p%d-%d@example.com"`, round, i))
		}
		a := h.as(h.owner, "POST", "/member_invites", `{"emails":[`+strings.Join(emails, ",")+`]}`)
		if got := strings.Count(string(a.Body), "@"); a.Status != 200 || got != want {
			t.Errorf("round %d: %d refused, want %d: %s", round, got, want, a.Body)
		}
	}
}

func TestInvitationEndsAfterSevenDays(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.invite(h.nobody.Email)
	h.update(func(tx *store.Tx) error { // as if it had been made seven days ago
		list, err := tx.InvitationsOfHome(h.home)
		if err != nil {
			return err
		}
		list[0].ExpiresAt = tx.Now().Stamp()
		_, err = tx.PutInvitation(list[0])
		return err
	})
	if open := h.open(); len(open) != 0 {
		t.Errorf("still open: %+v", open)
	}
	apitest.WantProblem(t, h.as(h.nobody, "POST", "/network_memberships", fmt.Sprintf(`{"role":"member","network_id":%d}`, h.home)), 403, "not_invited")
}

func TestInvitationsDieWithTheOwnersRole(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.invite(h.nobody.Email)
	if err := h.parts.Household.DeleteUser(t.Context(), h.owner.ID, rules.Leaving{}); err != nil {
		t.Fatal(err)
	}
	apitest.WantProblem(t, h.as(h.nobody, "POST", "/network_memberships", fmt.Sprintf(`{"role":"member","network_id":%d}`, h.home)), 403, "not_invited")
}
