package api_test

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"sensegate/api"
	"sensegate/api/sampletest"
	"sensegate/api/server"
)

func TestFormsAreReadByTheirSchema(t *testing.T) {
	t.Parallel()
	s, _ := testServer(t, sampletest.NoLive())
	form := []string{"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"}
	w := sampletest.Do(s, "PUT", "/core/device", "name=Kitchen+1&rank=3&on=true&gain=0.5", form...)
	sampletest.WantStatus(t, w, http.StatusOK)
	sampletest.WantJSON(t, w, `{"name":"Kitchen 1","rank":3,"on":true,"gain":0.5}`)
	sampletest.WantStatus(t, sampletest.Do(s, "PUT", "/core/device", "", form...), http.StatusUnprocessableEntity) // it names nothing, not even what it must

	w = sampletest.Do(s, "PUT", "/core/device", "name=5&rank=many&on=perhaps", form...)
	sampletest.WantStatus(t, w, http.StatusUnprocessableEntity)
	sampletest.WantJSON(t, w, `{"type":"about:blank","title":"Unprocessable Entity","status":422,"detail":"request is not valid","code":"invalid","errors":[
		{"location":"body.on","message":"expected boolean","value":"perhaps"},
		{"location":"body.rank","message":"expected integer","value":"many"}]}`)
	for _, unset := range []string{"", "None", "null", "undefined"} {
		sampletest.WantJSON(t, sampletest.Do(s, "PUT", "/core/device", "name=5&rank="+unset, form...), `{"name":"5"}`)
	}
	sampletest.WantStatus(t, sampletest.Do(s, "PUT", "/core/device", "name=%ff", form...), http.StatusBadRequest)
	sampletest.WantStatus(t, sampletest.Do(s, "PUT", "/core/device", "{\"name\":\"\xff\"}"), http.StatusBadRequest)
	sampletest.WantStatus(t, sampletest.Do(s, "PUT", "/core/device", "name=%zz", form...), http.StatusBadRequest)
	for _, json := range []string{`{"name": "Kitchen"}`, ` {}`, `[1]`, `{"name": "Kitchen",}`} {
		sampletest.WantStatus(t, sampletest.Do(s, "PUT", "/core/device", json, form...), http.StatusUnsupportedMediaType)
	}
}

func TestParametersOfTheMediaTypeDoNotMatter(t *testing.T) {
	t.Parallel()
	s, _ := testServer(t, sampletest.NoLive())
	for _, media := range []string{"application/json; charset=utf-8; charset=UTF-8", "Application/JSON ;", "application/merge-patch+json"} {
		sampletest.WantJSON(t, sampletest.Do(s, "PUT", "/core/device", `{"name":"a"}`, "Content-Type", media), `{"name":"a"}`)
	}
}

func TestDataWrapperIsOptional(t *testing.T) {
	t.Parallel()
	s, _ := testServer(t, sampletest.NoLive())
	sampletest.WantJSON(t, sampletest.Do(s, "PUT", "/core/device", `{"data":{"name":"a"}}`), `{"name":"a"}`)
	sampletest.WantJSON(t, sampletest.Do(s, "PUT", "/core/device", `{"name":"a"}`), `{"name":"a"}`)
	sampletest.WantStatus(t, sampletest.Do(s, "PUT", "/core/device", `{"data":{"name":"a"},"more":1}`), http.StatusUnprocessableEntity)
	sampletest.WantStatus(t, sampletest.Do(s, "PUT", "/core/device", `{"data":`), http.StatusBadRequest)
}

func TestFormsAreAnOption(t *testing.T) {
	t.Parallel()
	i := sampletest.Interface(sampletest.NoLive())
	i.Base, i.Forms, i.DataWrapper = "/strict", false, false
	s, _ := testServer(t, sampletest.NoLive())
	s.Mount(i)
	sampletest.WantStatus(t, sampletest.Do(s, "PUT", "/strict/device", "name=a", "Content-Type", api.FormType), http.StatusUnsupportedMediaType)
	sampletest.WantStatus(t, sampletest.Do(s, "PUT", "/strict/device", `{"data":{"name":"a"}}`), http.StatusUnprocessableEntity)
	sampletest.WantStatus(t, sampletest.Do(s, "PUT", "/strict/device", strings.Repeat(" ", 3*api.MaxBody)), http.StatusRequestEntityTooLarge)
}

func FuzzForm(f *testing.F) {
	c := server.Defaults()
	c.Rate, c.Burst = 1e9, 1e9
	s := server.New(c, slog.New(slog.DiscardHandler))
	s.Mount(sampletest.Interface(sampletest.NoLive()))
	f.Add("name=a&rank=3&on=1")
	f.Add("rank=1e999&gain=.5&name=%ff")
	f.Fuzz(func(t *testing.T, body string) {
		if w := sampletest.Do(s, "PUT", "/core/device", body, "Content-Type", api.FormType); w.Code >= 500 || w.Code == 0 {
			t.Errorf("%q: %d %s", body, w.Code, w.Body)
		}
	})
}
