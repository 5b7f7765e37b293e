package api

import (
	"net/http"
	"strings"
	"testing"
)

func TestFormsAreReadByTheirSchema(t *testing.T) {
	t.Parallel()
	s, _ := testServer(t, noLive())
	form := []string{"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"}
	w := do(s, "PUT", "/core/device", "name=Kitchen+1&rank=3&on=true&gain=0.5", form...)
	wantStatus(t, w, http.StatusOK)
	wantJSON(t, w, `{"name":"Kitchen 1","rank":3,"on":true,"gain":0.5}`)
	wantStatus(t, do(s, "PUT", "/core/device", "", form...), http.StatusUnprocessableEntity) // it names nothing, not even what it must

	w = do(s, "PUT", "/core/device", "name=5&rank=many&on=perhaps", form...)
	wantStatus(t, w, http.StatusUnprocessableEntity)
	wantJSON(t, w, `{"type":"about:blank","title":"Unprocessable Entity","status":422,"detail":"request is not valid","code":"invalid","errors":[
		{"location":"body.on","message":"expected boolean","value":"perhaps"},
		{"location":"body.rank","message":"expected integer","value":"many"}]}`)
	for _, unset := range []string{"", "None", "null", "undefined"} {
		wantJSON(t, do(s, "PUT", "/core/device", "name=5&rank="+unset, form...), `{"name":"5"}`)
	}
	wantStatus(t, do(s, "PUT", "/core/device", "name=%ff", form...), http.StatusBadRequest)
	wantStatus(t, do(s, "PUT", "/core/device", "{\"name\":\"\xff\"}"), http.StatusBadRequest)
	wantStatus(t, do(s, "PUT", "/core/device", "name=%zz", form...), http.StatusBadRequest)
	for _, json := range []string{`{"name": "Kitchen"}`, ` {}`, `[1]`, `{"name": "Kitchen",}`} {
		wantStatus(t, do(s, "PUT", "/core/device", json, form...), http.StatusUnsupportedMediaType)
	}
}

func TestParametersOfTheMediaTypeDoNotMatter(t *testing.T) {
	t.Parallel()
	s, _ := testServer(t, noLive())
	for _, media := range []string{"application/json; charset=utf-8; charset=UTF-8", "Application/JSON ;", "application/merge-patch+json"} {
		wantJSON(t, do(s, "PUT", "/core/device", `{"name":"a"}`, "Content-Type", media), `{"name":"a"}`)
	}
}

func TestDataWrapperIsOptional(t *testing.T) {
	t.Parallel()
	s, _ := testServer(t, noLive())
	wantJSON(t, do(s, "PUT", "/core/device", `{"data":{"name":"a"}}`), `{"name":"a"}`)
	wantJSON(t, do(s, "PUT", "/core/device", `{"name":"a"}`), `{"name":"a"}`)
	wantStatus(t, do(s, "PUT", "/core/device", `{"data":{"name":"a"},"more":1}`), http.StatusUnprocessableEntity)
	wantStatus(t, do(s, "PUT", "/core/device", `{"data":`), http.StatusBadRequest)
}

func TestFormsAreAnOption(t *testing.T) {
	t.Parallel()
	i := testInterface(noLive())
	i.Base, i.Forms, i.DataWrapper = "/strict", false, false
	s, _ := testServer(t, noLive())
	s.Mount(i)
	wantStatus(t, do(s, "PUT", "/strict/device", "name=a", "Content-Type", formType), http.StatusUnsupportedMediaType)
	wantStatus(t, do(s, "PUT", "/strict/device", `{"data":{"name":"a"}}`), http.StatusUnprocessableEntity)
	wantStatus(t, do(s, "PUT", "/strict/device", strings.Repeat(" ", 3*maxBody)), http.StatusRequestEntityTooLarge)
}

func FuzzForm(f *testing.F) {
	s, _ := testServer(f, noLive())
	f.Add("name=a&rank=3&on=1")
	f.Add("rank=1e999&gain=.5&name=%ff")
	f.Fuzz(func(t *testing.T, body string) {
		s.env.limiter = newLimiter(1e9, 1e9)
		if w := do(s, "PUT", "/core/device", body, "Content-Type", formType); w.Code >= 500 || w.Code == 0 {
			t.Errorf("%q: %d %s", body, w.Code, w.Body)
		}
	})
}
