package app_test

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"sensegate/api/apitest"
	"sensegate/api/auth"
	"sensegate/motion/home"
	"sensegate/store"
)

func TestLadderOfUsers(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	path := fmt.Sprintf("/users/%d", h.owner.ID)
	foreign := fmt.Sprintf("/users/%d", h.member.ID)
	for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodDelete} {
		body := map[string]string{http.MethodPut: `{"first_name":"Jane"}`}[method]
		h.climb(method,
			step{name: "no token", path: path, body: body, status: 401},
			step{name: "somebody else", who: h.nobody, path: path, body: body, status: 404, says: fmt.Sprintf("user %d: not found", h.owner.ID)},
			step{name: "another of the household", who: h.owner, path: foreign, body: body, status: 404, says: fmt.Sprintf("user %d: not found", h.member.ID)},
			step{name: "nobody", who: h.owner, path: "/users/9999", body: body, status: 404, says: "user 9999: not found"},
			step{name: "no number", who: h.owner, path: "/users/x", body: body, status: 422, says: "id"},
			step{name: "malformed", who: h.owner, path: path + "?x=%zz", body: body, status: 400},
		)
	}
	h.climb(http.MethodGet, step{name: "right", who: h.owner, path: path, status: 200, says: `"email":"jdoe@example.com"`})
	h.climb(http.MethodPut,
		step{name: "malformed body", who: h.owner, path: path, body: `{"first_name"}`, status: 400},
		step{name: "short password", who: h.owner, path: path, body: `{"password":"12345"}`, status: 422, says: "body.password"},
		step{name: "common password", who: h.owner, path: path, body: `{"password":"123456"}`, status: 422, says: "body.password"},
		step{name: "no address", who: h.owner, path: path, body: `{"email":"nobody"}`, status: 422, says: "body.email"},
		step{name: "a number", who: h.owner, path: path, body: `{"first_name":1,"last_name":2}`, status: 422, says: "body.last_name"},
		step{name: "unknown field", who: h.owner, path: path, body: `{"valid_from":0}`, status: 422, says: "valid_from"},
		step{name: "right", who: h.owner, path: path, body: `{"first_name":"Jane","last_name":""}`, status: 200, says: `"first_name":"Jane","last_name":""`},
	)
	h.climb(http.MethodDelete,
		step{name: "a successor who is none", who: h.owner, path: fmt.Sprintf("%s?successor=%d", path, h.nobody.ID), status: 422, says: "successor"},
		step{name: "no successor", who: h.owner, path: path + "?successor=x", status: 400, says: "successor"},
		step{name: "a flag that is none", who: h.nobody, path: fmt.Sprintf("/users/%d?delete_claimed_network=2", h.nobody.ID), status: 400},
		step{name: "right", who: h.nobody, path: fmt.Sprintf("/users/%d", h.nobody.ID), status: 204},
		step{name: "again", who: h.nobody, path: fmt.Sprintf("/users/%d", h.nobody.ID), status: 401},
	)
	h.climb(http.MethodPost,
		step{name: "malformed", path: "/users", body: `{`, status: 400},
		step{name: "all mistakes", path: "/users", body: `{"email":1,"password":"12345"}`, status: 422, says: "body.password"},
		step{name: "no address", path: "/users", body: credentials("nobody", secretWord), status: 422, says: "body.email"},
		step{name: "a common password", path: "/users", body: credentials("new@example.com", "Password1"), status: 422, says: "commonest"},
		step{name: "the own address", path: "/users", body: credentials("new-person@example.com", "New-Person"), status: 422, says: "own address"},
		step{name: "a wrong code", path: "/users", body: `{"email":"a@example.com","password":"correct horse","setup_code":"0000"}`, status: 422, says: "setup_code"},
		step{name: "right", path: "/users", body: credentials("new@example.com", "correct horse"), status: 200, says: `"confirmed_at":null`},
	)
}

func TestKnownAddressLooksLikeANewOne(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	body := `{"email":%q,"password":"correct horse","first_name":"J","last_name":"Doe"}`
	fresh := apitest.Want[home.User](t, h.As("", "POST", "/users", fmt.Sprintf(body, "new@example.com")), 200)
	known := apitest.Want[home.User](t, h.As("", "POST", "/users", fmt.Sprintf(body, h.owner.Email)), 200)
	if known.ID != fresh.ID+1 || known.ID == h.owner.ID || known.Sub == h.owner.Sub || known.Confirmed() || known.FirstName != "J" || known.Username != "jdoe" {
		t.Errorf("known %+v, fresh %+v", known, fresh)
	}
	h.mailedToken("confirm", "new@example.com")
	if list := h.mails(); len(list) != 2 || list[1].Kind != "known_address" || list[1].Address != h.owner.Email {
		t.Errorf("mails %+v", list)
	}
}

func TestAccountIsMadeByForm(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	form := url.Values{"email": {"new@example.com"}, "password": {"correct horse"}, "first_name": {"17"}}.Encode()
	u := apitest.Want[home.User](t, h.Send("", "POST", "/users", "application/x-www-form-urlencoded", form), 200)
	if u.FirstName != "17" {
		t.Errorf("user %+v", u)
	}
}

func TestNullClearsANameAndNothingElse(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	path := fmt.Sprintf("/users/%d", h.owner.ID)
	u := apitest.Want[home.User](t, h.as(h.owner, "PUT", path, `{"first_name":null,"email":null,"password":null}`), 200)
	if u.FirstName != "" || u.LastName != h.owner.LastName || u.Email != h.owner.Email {
		t.Errorf("first_name null: %+v", u)
	}
	u = apitest.Want[home.User](t, h.as(h.owner, "PUT", path, `{"first_name":"Jane","last_name":null}`), 200)
	if u.FirstName != "Jane" || u.LastName != "" {
		t.Errorf("last_name null: %+v", u)
	}
}

func TestFirstOwnerIsMadeWithTheSetupCode(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	code, err := auth.NewSetupCode(t.Context(), h.db)
	if err != nil {
		t.Fatal(err)
	}
	h.vacate(h.other)
	h.update(func(tx *store.Tx) error { return tx.DeleteHome(h.home) })
	u := apitest.Want[home.User](t, h.As("", "POST", "/users", fmt.Sprintf(`{"email":"first@example.com","password":%q,"setup_code":%q}`, secretWord, code)), 200)
	if !u.Confirmed() {
		t.Error("the account is not confirmed")
	}
	apitest.WantProblem(t, h.As("", "POST", "/users", fmt.Sprintf(`{"email":"second@example.com","password":%q,"setup_code":%q}`, secretWord, code)), 422, "setup_code")
	s := h.loginAs("first@example.com", "")
	made := apitest.Want[found](t, h.As(s.Token, "POST", "/find", `{"guardian_id":"`+guardianID+`"}`), 200)
	claimed := apitest.Want[shown](t, h.As(s.Token, "POST", "/network_memberships", fmt.Sprintf(`{"role":"owner","network_id":%d}`, made.ID)), 200)
	if claimed.Role != home.OwnerRole {
		t.Errorf("claimed %+v", claimed)
	}
}

func TestDeletedOwnerMayDisownTheirNetworks(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	if a := h.as(h.owner, "DELETE", fmt.Sprintf("/users/%d?delete_claimed_network=true", h.owner.ID), ""); a.Status != 204 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	h.update(func(tx *store.Tx) error {
		if _, err := tx.Home(h.home); err == nil {
			t.Error("the home is there")
		}
		if _, err := tx.Network(h.network); err == nil {
			t.Error("the network is there")
		}
		return nil
	})
	for _, p := range []person{h.owner, h.member} {
		if a := h.as(p, "GET", "/networks", ""); a.Status != 401 {
			t.Errorf("%s: %d", p.Email, a.Status)
		}
	}
	if a := h.as(h.neighbour, "GET", fmt.Sprintf("/networks/%d", h.other), ""); a.Status != 200 {
		t.Errorf("the neighbour: %d", a.Status)
	}
}
