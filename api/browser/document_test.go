package browser_test

import (
	"flag"
	"testing"

	"go.uber.org/goleak"

	"sensegate/api"
	"sensegate/api/apitest"
	"sensegate/api/browser"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var update = flag.Bool("update", false, "rewrite openapi.json")

func table() api.Interface { return browser.New(browser.Parts{}).Interface() }

func TestDocumentIsCurrent(t *testing.T) {
	t.Parallel()
	apitest.CheckCurrent(t, table(), "openapi.json", *update)
}

func TestDocumentIsValid(t *testing.T) {
	t.Parallel()
	apitest.CheckValid(t, table(), []string{"GET /boot", "POST /session", "POST /demo-login", "POST /join-account", "POST /setup/code-check"})
}

func TestEveryOperationIsDescribedWithExamples(t *testing.T) {
	t.Parallel()
	apitest.CheckDescribed(t, table())
}
