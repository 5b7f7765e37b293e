package app_test

import (
	"flag"
	"testing"

	"go.uber.org/goleak"

	"sensegate/api"
	"sensegate/api/apitest"
	"sensegate/api/app"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var update = flag.Bool("update", false, "rewrite openapi.json and docs/app.md")

func table() api.Interface { return app.New(app.Parts{}).Interface() }

// extra are the rows that api/testdata/routes.tsv does not have (payloads.md 1 and 6,
// the outbox and adoption).
func extra() []string {
	return []string{
		"GET /adoption", "POST /adoption", "DELETE /adoption", "POST /adoption/{device_id}",
		"PUT /confirmations", "GET /users/{id}/identities", "POST /users/{id}/identities", "DELETE /users/{id}/identities/{identity_id}",
		"GET /outbox", "GET /outbox/{id}/qr", "GET /mobile_devices", "PATCH /default_locations/{id}", "DELETE /default_locations/{id}", "PATCH /network_memberships/{id}",
		"GET /universal-alert", "POST /universal-alert", "GET /universal-alert/status", "GET /universal-alert/{uuid}",
		"DELETE /universal-alert/{uuid}", "PATCH /universal-alert/{uuid}", "PATCH /universal-alert-bulk",
	}
}

// open are the rows that need no credentials.
func open() []string {
	return []string{
		"GET /version", "GET /healthz",
		"POST /sessions", "PATCH /sessions", "POST /sessions/sso/{provider}", "PUT /password_resets", "POST /password_resets",
		"POST /users", "POST /confirmations", "GET /confirmations", "PUT /confirmations", "POST /confirmation_mails",
	}
}

func TestDocumentIsCurrent(t *testing.T) {
	t.Parallel()
	apitest.CheckCurrent(t, table(), "openapi.json", *update)
}

func TestDocumentIsValid(t *testing.T) {
	t.Parallel()
	apitest.CheckValid(t, table(), open())
}

func TestTableIsTheSpecifiedOne(t *testing.T) {
	t.Parallel()
	apitest.CheckTable(t, table(), apitest.Specified(t, "../testdata/routes.tsv", "app"), extra())
}

func TestEveryOperationIsDescribedWithExamples(t *testing.T) {
	t.Parallel()
	apitest.CheckDescribed(t, table())
}
