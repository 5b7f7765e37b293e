package core_test

import (
	"flag"
	"testing"

	"go.uber.org/goleak"

	"sensegate/api/apitest"
	"sensegate/api/core"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var update = flag.Bool("update", false, "rewrite openapi.json and docs/core.md")

func TestDocumentIsCurrent(t *testing.T) {
	t.Parallel()
	apitest.CheckCurrent(t, core.New(nil, nil, nil).Interface(), "openapi.json", *update)
}

func TestDocumentIsValid(t *testing.T) {
	t.Parallel()
	apitest.CheckValid(t, core.New(nil, nil, nil).Interface(), nil)
}

func TestTableIsTheSpecifiedOne(t *testing.T) {
	t.Parallel()
	apitest.CheckTable(t, core.New(nil, nil, nil).Interface(), apitest.Specified(t, "../testdata/routes.tsv", "core"), []string{"GET /networks", "POST /manage/cancel"})
}
