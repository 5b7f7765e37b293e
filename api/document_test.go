package api_test

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"sensegate/api/sampletest"
)

func TestDocumentIsCurrent(t *testing.T) {
	t.Parallel()
	got, err := sampletest.Interface(sampletest.NoLive()).Document()
	if err != nil {
		t.Fatal(err)
	}
	const path = "testdata/openapi.json"
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not current; look at the change and run go test ./api -update", path)
	}
}

func TestDocumentIsValid(t *testing.T) {
	t.Parallel()
	s, _ := testServer(t, sampletest.NoLive())
	w := sampletest.Do(s, "GET", "/core/openapi.json", "")
	sampletest.WantStatus(t, w, http.StatusOK)
	again, err := sampletest.Interface(sampletest.NoLive()).Document()
	if err != nil || !bytes.Equal(w.Body.Bytes(), again) {
		t.Error("the document is not the same each time")
	}
	doc, err := openapi3.NewLoader().LoadFromData(w.Body.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(context.Background()); err != nil {
		t.Error(err)
	}
	if strings.Contains(w.Body.String(), "$schema") {
		t.Error("answers link to schemas")
	}
	guarded, open := doc.Paths.Find("/whoami").Get, doc.Paths.Find("/device").Put
	if guarded.Security == nil || len(*guarded.Security) != 1 || !strings.Contains(guarded.Description, "core key") {
		t.Errorf("who may call is not in the document: %+v", guarded)
	}
	if open.Security != nil {
		t.Errorf("an operation for anyone asks for %v", open.Security)
	}
	if live := doc.Paths.Find("/network/{id}/live").Get; live.Responses.Value("101") == nil {
		t.Error("the websocket has no answer 101")
	}
}
