package app_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"sensegate/store"
)

func TestLadderOfIdentities(t *testing.T) {
	t.Parallel()
	h, later := lateHousehold(t)
	h.giveWord(h.owner)
	identity := store.Identity{Issuer: "https://id.example.com", Subject: "jdoe"}
	h.update(func(tx *store.Tx) error { return tx.AddIdentity(h.owner.ID, identity) })
	path := fmt.Sprintf("/users/%d/identities", h.owner.ID)
	one := path + "/" + identity.ID()
	const right = `"current_password":"correct horse battery"`
	for method, to := range map[string]string{http.MethodGet: path, http.MethodPost: path, http.MethodDelete: one} {
		body := map[string]string{http.MethodPost: `{"provider":"idp_a","access_token":"x"}`}[method]
		h.climb(method,
			step{name: "no token", path: to, body: body, status: 401},
			step{name: "somebody else", who: h.member, path: to, body: body, status: 404, says: "not found"},
		)
	}
	later.Store(int64(11 * time.Minute))
	h.climb(http.MethodPost,
		step{name: "malformed", who: h.owner, path: path, body: `{`, status: 400},
		step{name: "nothing in it", who: h.owner, path: path, body: `{}`, status: 422, says: "access_token"},
		step{name: "old log-in", who: h.owner, path: path, body: `{"provider":"idp_a","access_token":"x"}`, status: 403, says: `"code":"step_up"`},
		step{name: "not configured", who: h.owner, path: path, body: `{"provider":"idp_a","access_token":"x",` + right + `}`, status: 404, says: "identity provider"},
	)
	h.climb(http.MethodGet, step{name: "right", who: h.owner, path: path, status: 200, says: `"provider":null,"issuer":"https://id.example.com"`})
	h.climb(http.MethodDelete,
		step{name: "old log-in", who: h.owner, path: one, status: 403, says: `"code":"step_up"`},
		step{name: "unknown", who: h.owner, path: path + "/x", body: `{` + right + `}`, status: 404, says: "not known"},
		step{name: "right", who: h.owner, path: one, body: `{` + right + `}`, status: 204},
		step{name: "again", who: h.owner, path: one, body: `{` + right + `}`, status: 404},
	)
	h.climb(http.MethodGet, step{name: "none", who: h.owner, path: path, status: 200, says: `{"data":[]}`})
}
