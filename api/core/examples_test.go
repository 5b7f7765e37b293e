package core_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"sensegate/api/apitest"
	"sensegate/api/core"
	"sensegate/motion"
)

func TestEveryOperationIsDescribedWithExamples(t *testing.T) {
	t.Parallel()
	apitest.CheckDescribed(t, core.New(nil, nil, nil).Interface())
}

func TestExamplesAreAccepted(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.reportStatus()
	h.change(func(n *motion.Network) {
		n.Meta = motion.Document{"guardian_env": "local", "dwm": map[string]any{"systemName": "demo-home"}}
	})
	record := apitest.Want[networkAnswer](t, h.get(fmt.Sprintf("/network/find/id/%d", h.network)), http.StatusOK)
	table := core.New(nil, nil, nil).Interface()
	var last []string
	for _, route := range table.Routes {
		if route.Method == http.MethodDelete || strings.HasSuffix(route.Path, "/config/reset") {
			last = append(last, route.Method+" "+route.Path)
		}
	}
	rehearsal := apitest.Rehearsal{
		Client: h.Client, Interface: table, Token: func(string) string { return h.all }, Last: last,
		IDs: map[string]string{"1042": fmt.Sprint(h.network), "133": fmt.Sprint(record.MasterID), "134": fmt.Sprint(record.MasterID)},
		Creates: []apitest.Creation{
			{Row: "POST /network/{network_id}/events/create", Field: "_id", ID: "01976b3e-9a3c-7b61-8a52-3b1f0c6d2e11"},
			{Row: "POST /api/v1/universal-alert", Field: "uuid", ID: "01976b40-0d4e-7c11-9f02-77aa10c2e0b1"},
			{Row: "POST /network/{network_id}/application/settings", Field: "network_id", ID: "1042"},
			{Row: "POST /manage/create", Field: "id", ID: "901"},
			{Row: "POST /manage/batch", Field: "batch_id", ID: "77"},
		},
		Refused: map[string]int{ // nothing outside is configured
			"POST /network/{network_id}/motion/{realtime_provider}": http.StatusNotFound,
		},
	}
	rehearsal.Check()
}
