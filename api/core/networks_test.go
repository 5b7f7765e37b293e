package core_test

import (
	"fmt"
	"testing"

	"sensegate/api/apitest"
	"sensegate/api/auth"
	people "sensegate/motion/home"
	"sensegate/store"
)

func TestListHasTheNetworksThatTheKeyOpens(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	err := h.db.Update(t.Context(), func(tx *store.Tx) error {
		one := people.New(h.network)
		one.Name, one.ClaimedAt = "Seaside", tx.Now()
		_, err := tx.CreateHome(one)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	const own = `{"id":%d,"name":"Seaside","guardian_id":"a41f00c2d97b4e5580136c2e","online":true,"owned":true}`
	const other = `{"id":%d,"name":"","guardian_id":"b52f00c2d97b4e5580136c2e","online":true,"owned":false}`
	apitest.WantJSON(t, h.get("/networks"), fmt.Sprintf("["+own+","+other+"]", h.network, h.other))
	bound := h.key("bound", h.network, auth.ScopeRead)
	apitest.WantJSON(t, h.As(bound, "GET", "/networks", ""), fmt.Sprintf("["+own+"]", h.network))
	apitest.WantProblem(t, h.As("", "GET", "/networks", ""), 401, "authorization")
}
