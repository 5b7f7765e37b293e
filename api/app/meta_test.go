package app_test

import (
	"net/http"
	"strings"
	"testing"

	"sensegate/api/apitest"
)

func TestLadderOfMeta(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	for _, path := range []string{"/meta", "/user/meta"} {
		stranger := 404
		if path == "/user/meta" {
			stranger = 200
		}
		h.climb(http.MethodGet,
			step{name: "no token", path: path, status: 401},
			step{name: "stranger", who: h.nobody, path: path, status: stranger},
			step{name: "malformed", who: h.member, path: path + "?x=%zz", status: 400},
			step{name: "right", who: h.member, path: path, status: 200},
		)
		h.climb(http.MethodPatch,
			step{name: "no token", path: path, body: `{}`, status: 401},
			step{name: "malformed", who: h.member, path: path, body: `{`, status: 400},
			step{name: "no object", who: h.member, path: path, body: `[1]`, status: 422},
		)
	}
	h.climb(http.MethodPatch,
		step{name: "stranger", who: h.nobody, path: "/meta", body: `{}`, status: 404},
		step{name: "member, the network's", who: h.member, path: "/meta", body: `{"network":{"a":1},"user":{"a":1}}`, status: 403},
		step{name: "another area", who: h.owner, path: "/meta", body: `{"guests":{}}`, status: 422},
		step{name: "no object", who: h.owner, path: "/meta", body: `{"network":7,"user":"x"}`, status: 422, says: "body.user"},
		step{name: "malformed", who: h.owner, path: "/user/meta?overwrite=perhaps", body: `{}`, status: 400},
	)
	apitest.WantJSON(t, h.as(h.member, "GET", "/meta", ""), `{"network":{},"user":{}}`)
	h.climb(http.MethodDelete,
		step{name: "no token", path: "/meta", status: 401},
		step{name: "stranger", who: h.nobody, path: "/meta", status: 404},
		step{name: "member", who: h.member, path: "/meta", status: 403},
		step{name: "right", who: h.owner, path: "/meta", status: 204},
		step{name: "own, no token", path: "/user/meta", status: 401},
		step{name: "own", who: h.nobody, path: "/user/meta", status: 204},
	)
}

func TestAreasOfMetaAreMergedKeyByKey(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	h.as(h.owner, "PATCH", "/meta", `{"network":{"config":true,"old":{"deep":1}},"user":{"theme":"dark"}}`)
	apitest.WantJSON(t, h.as(h.owner, "PATCH", "/meta", `{"network":{"old":{"other":2},"config":null,"n":1.5}}`),
		`{"network":{"old":{"other":2},"n":1.5},"user":{"theme":"dark"}}`)
	apitest.WantJSON(t, h.as(h.member, "PATCH", "/meta", `{"user":{"theme":"light"}}`),
		`{"network":{"old":{"other":2},"n":1.5},"user":{"theme":"light"}}`)
	apitest.WantJSON(t, h.as(h.owner, "GET", "/meta", ""), `{"network":{"old":{"other":2},"n":1.5},"user":{"theme":"dark"}}`)
	apitest.WantJSON(t, h.as(h.neighbour, "GET", "/meta", ""), `{"network":{},"user":{}}`)
	h.as(h.owner, "DELETE", "/meta", "")
	apitest.WantJSON(t, h.as(h.owner, "GET", "/meta", ""), `{"network":{},"user":{"theme":"dark"}}`)
}

func TestUserMetaIsAppendedToOrOverwritten(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	patch := func(query, body, want string) {
		t.Helper()
		a := h.as(h.nobody, "PATCH", "/user/meta"+query, body)
		if a.Status != http.StatusCreated {
			t.Errorf("%s %s: status %d, want 201: %s", query, body, a.Status, a.Body)
		}
		a.Status = http.StatusOK
		apitest.WantJSON(t, a, want)
		apitest.WantJSON(t, h.as(h.nobody, "GET", "/user/meta", ""), want)
	}
	patch("", `{"theme":"dark","size":2}`, `{"theme":"dark","size":2}`)
	patch("?overwrite=false", `{"size":3}`, `{"theme":"dark","size":3}`)
	patch("?overwrite=true", `{"only":"this"}`, `{"only":"this"}`)
	patch("", `{"only":null}`, `{}`)
	apitest.WantJSON(t, h.as(h.owner, "GET", "/user/meta", ""), `{}`)
}

func TestAreasOfMetaAreBounded(t *testing.T) {
	t.Parallel()
	h := newHousehold(t)
	half := `"` + strings.Repeat("x", 40<<10) + `"`
	apitest.Want[any](t, h.as(h.owner, "PATCH", "/meta", `{"network":{"a":`+half+`},"user":{"a":`+half+`}}`), 200)
	apitest.WantProblem(t, h.as(h.owner, "PATCH", "/meta", `{"network":{"b":`+half+`}}`), 413, "network")
	apitest.WantProblem(t, h.as(h.owner, "PATCH", "/user/meta", `{"b":`+half+`}`), 413, "65536")
	apitest.Want[any](t, h.as(h.owner, "PATCH", "/user/meta?overwrite=true", `{"b":`+half+`}`), 201)
}
