package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"sensegate/api/apitest"
	"sensegate/motion/home"
	"sensegate/store"
)

const phone = `{"token": "an-instance-token", "platform": "ios", "name": "J's phone", "app_version": "1.0"}`

// register stores a mobile device of a person and returns its record.
func (h *household) register(p person, body string) home.MobileDevice {
	h.T.Helper()
	return apitest.Want[home.MobileDevice](h.T, h.as(p, http.MethodPost, "/mobile_devices", body), http.StatusOK)
}

func TestLadderOfMobileDevices(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	long := strings.Repeat("x", 4097)
	h.climb(http.MethodPost,
		step{"no token", person{}, "/mobile_devices", phone, http.StatusUnauthorized, "unauthorized"},
		step{"malformed", h.owner, "/mobile_devices", `{"token": `, http.StatusBadRequest, ""},
		step{"no push token", h.owner, "/mobile_devices", `{"platform": "ios"}`, http.StatusUnprocessableEntity, "token"},
		step{"an empty one", h.owner, "/mobile_devices", `{"token": "  "}`, http.StatusUnprocessableEntity, "token"},
		step{"all mistakes", h.owner, "/mobile_devices", `{"token": "` + long + `", "platform": 1}`, http.StatusUnprocessableEntity, "body.platform"},
		step{"too long", h.owner, "/mobile_devices", `{"token": "` + long + `"}`, http.StatusUnprocessableEntity, "body.token"},
		step{"right", h.owner, "/mobile_devices", phone, http.StatusOK, `"name":"J's phone"`},
		step{"right of one who belongs nowhere", h.nobody, "/mobile_devices", `{"token": "another"}`, http.StatusOK, `"platform":""`},
	)
	own := h.register(h.owner, phone)
	path := fmt.Sprintf("/mobile_devices/%d", own.ID)
	h.climb(http.MethodDelete,
		step{"no token", person{}, path, "", http.StatusUnauthorized, "unauthorized"},
		step{"another member's", h.member, path, "", http.StatusNotFound, fmt.Sprintf("mobile device %d is not known", own.ID)},
		step{"unknown", h.owner, "/mobile_devices/4711", "", http.StatusNotFound, "mobile device 4711 is not known"},
		step{"no id", h.owner, "/mobile_devices/x", "", http.StatusUnprocessableEntity, ""},
		step{"right", h.owner, path, "", http.StatusNoContent, ""},
		step{"once more", h.owner, path, "", http.StatusNotFound, ""},
	)
}

func TestMobileDeviceComesAsAFormToo(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	a := h.Send(h.owner.token, http.MethodPost, "/mobile_devices", "application/x-www-form-urlencoded", "token=abc&platform=android&name=Tablet")
	if d := apitest.Want[home.MobileDevice](t, a, http.StatusOK); d.Token != "abc" || d.UserID != h.owner.ID || d.Name != "Tablet" {
		t.Errorf("%+v", d)
	}
}

func TestSameTokenIsTheSameRecordAndKeepsWhatIsNotSent(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	first := h.register(h.owner, phone)
	again := h.register(h.owner, `{"token": "an-instance-token", "name": "New name"}`)
	if again.ID != first.ID || again.Name != "New name" || again.Platform != "ios" || again.AppVersion != "1.0" || again.CreatedAt != first.CreatedAt {
		t.Errorf("%+v, was %+v", again, first)
	}
	if blanked := h.register(h.owner, `{"token": "an-instance-token", "name": ""}`); blanked.Name != "" {
		t.Errorf("an empty name that is sent: %+v", blanked)
	}
}

func TestTokenMovesToAnotherUserOnlyWhenTheFormerOneIsOff(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		off  func(h *household, id home.MobileID)
		want int
	}{
		"nothing happened": {func(*household, home.MobileID) {}, http.StatusConflict},
		"logged in elsewhere": {func(h *household, _ home.MobileID) {
			if _, err := h.sessions.Start(h.T.Context(), h.owner.ID, false); err != nil {
				h.T.Fatal(err)
			}
		}, http.StatusConflict},
		"logged out elsewhere": {func(h *household, _ home.MobileID) {
			tokens, err := h.sessions.Start(h.T.Context(), h.owner.ID, true)
			if err != nil {
				h.T.Fatal(err)
			}
			h.As(tokens.Token, http.MethodPost, "/logout", "")
		}, http.StatusConflict},
		"logged out":        {func(h *household, _ home.MobileID) { h.as(h.owner, http.MethodPost, "/logout", "") }, http.StatusOK},
		"logged out of all": {func(h *household, _ home.MobileID) { h.as(h.owner, http.MethodPost, "/logout?all=true", "") }, http.StatusOK},
		"removed": {func(h *household, id home.MobileID) {
			h.as(h.owner, http.MethodDelete, fmt.Sprintf("/mobile_devices/%d", id), "")
		}, http.StatusOK},
		"account deleted": {func(h *household, _ home.MobileID) {
			h.as(h.owner, http.MethodDelete, fmt.Sprintf("/users/%d", h.owner.ID), "")
		}, http.StatusOK},
		"password set anew": {func(h *household, _ home.MobileID) {
			if _, err := h.accounts.SetPassword(h.T.Context(), h.owner.Email, examplePassword); err != nil {
				h.T.Fatal(err)
			}
		}, http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHousehold(t)
			first := h.register(h.owner, phone)
			apitest.WantProblem(t, h.as(h.member, http.MethodPost, "/mobile_devices", phone), http.StatusConflict, "taken")
			c.off(h, first.ID)
			if a := h.as(h.member, http.MethodPost, "/mobile_devices", phone); a.Status != c.want {
				t.Errorf("%d %s, want %d", a.Status, a.Body, c.want)
			}
		})
	}
}

func TestUserSeesTheirOwnMobileDevices(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	own := h.register(h.owner, phone)
	h.register(h.member, `{"token": "the member's"}`)
	h.climb(http.MethodGet,
		step{"no token", person{}, "/mobile_devices", "", http.StatusUnauthorized, "unauthorized"},
		step{"malformed", h.owner, "/mobile_devices?x=%zz", "", http.StatusBadRequest, ""},
		step{"none", h.nobody, "/mobile_devices", "", http.StatusOK, `"data":[]`},
	)
	list := apitest.Want[struct{ Data []home.MobileDevice }](t, h.as(h.owner, http.MethodGet, "/mobile_devices", ""), http.StatusOK)
	if len(list.Data) != 1 || list.Data[0] != own {
		t.Errorf("%+v, want %+v", list.Data, own)
	}
}

func TestMobileDevicesGoWithTheUser(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.register(h.member, phone)
	h.register(h.owner, `{"token": "the owner's"}`)
	h.update(func(tx *store.Tx) error { return tx.DeleteUser(h.member.ID) })
	h.update(func(tx *store.Tx) error {
		left, err := tx.Mobiles()
		if len(left) != 1 || left[0].UserID != h.owner.ID {
			t.Errorf("left %+v", left)
		}
		return err
	})
}

func TestLoadTestTokenIsARecordOfEachUser(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	const body = `{"token": "` + loadTestToken + `"}`
	first, other := h.register(h.owner, body), h.register(h.member, body)
	if first.ID == other.ID || first.UserID != h.owner.ID || other.UserID != h.member.ID {
		t.Errorf("%+v and %+v", first, other)
	}
	if again := h.register(h.owner, body); again.ID != first.ID {
		t.Errorf("again %+v, want %+v", again, first)
	}
}
