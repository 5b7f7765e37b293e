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
	long := strings.Repeat("x", home.MaxMobileToken+1)
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

func TestSameTokenIsTheSameRecordOfWhoeverIsLoggedIn(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	first := h.register(h.owner, phone)
	again := h.register(h.owner, `{"token": "an-instance-token", "platform": "ios", "name": "New name"}`)
	if again.ID != first.ID || again.Name != "New name" || again.CreatedAt != first.CreatedAt {
		t.Errorf("%+v, was %+v", again, first)
	}
	moved := h.register(h.member, phone)
	if moved.ID != first.ID || moved.UserID != h.member.ID {
		t.Errorf("%+v, want %d of user %d", moved, first.ID, h.member.ID)
	}
	path := fmt.Sprintf("/mobile_devices/%d", first.ID)
	h.climb(http.MethodDelete,
		step{"who had it", h.owner, path, "", http.StatusNotFound, ""},
		step{"who has it", h.member, path, "", http.StatusNoContent, ""},
	)
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
