package api_test

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"sensegate/api"
	"sensegate/api/sampletest"
)

// URL is a record of the tests.
type URL struct {
	Here string `json:"here"`
}

// Userinfo has the name of a type of package url.
type Userinfo struct {
	Name string `json:"name"`
}

type shapesOut struct {
	Body struct {
		Own     Userinfo                `json:"own"`
		Foreign url.Userinfo            `json:"foreign"`
		One     api.OneOrMany[URL]      `json:"one"`
		Null    api.OrNull[URL]         `json:"null"`
		Series  api.Encoded[api.Series] `json:"series"`
	}
}

func shapes(found ...URL) api.Interface {
	i := sampletest.Interface(sampletest.NoLive())
	i.Base = "/shapes"
	i.Routes = []api.Route{
		api.Get("/all", sampletest.Anyone(func(context.Context, sampletest.Stranger, *sampletest.NoIn) (*shapesOut, error) {
			out := &shapesOut{}
			out.Body.One.Found, out.Body.Series = found, api.Encoded[api.Series](`[[null,1]]`)
			return out, nil
		}), "All shapes"),
		api.Get("/one", sampletest.Anyone(func(context.Context, sampletest.Stranger, *sampletest.NoIn) (*struct{ Body api.OneOrMany[URL] }, error) {
			return &struct{ Body api.OneOrMany[URL] }{api.OneOrMany[URL]{Found: found}}, nil
		}), "One or many"),
		api.Get("/array", sampletest.Anyone(func(context.Context, sampletest.Stranger, *sampletest.NoIn) (*struct{ Body api.OneOrMany[URL] }, error) {
			return &struct{ Body api.OneOrMany[URL] }{api.OneOrMany[URL]{Found: found, Array: true}}, nil
		}), "Always an array"),
	}
	return i
}

func TestOneIsAnObjectAndSeveralAreAnArray(t *testing.T) {
	t.Parallel()
	s, _ := testServer(t, sampletest.NoLive())
	s.Mount(shapes(URL{"a"}))
	sampletest.WantJSON(t, sampletest.Do(s, "GET", "/shapes/one", ""), `{"here":"a"}`)
	sampletest.WantJSON(t, sampletest.Do(s, "GET", "/shapes/array", ""), `[{"here":"a"}]`)
	sampletest.WantJSON(t, sampletest.Do(s, "GET", "/shapes/all", ""), `{"own":{"name":""},"foreign":{},"one":{"here":"a"},"null":null,"series":[[null,1]]}`)
	s, _ = testServer(t, sampletest.NoLive())
	s.Mount(shapes(URL{"a"}, URL{"b"}))
	sampletest.WantJSON(t, sampletest.Do(s, "GET", "/shapes/one", ""), `[{"here":"a"},{"here":"b"}]`)
}

func TestTypesOfOneNameHaveSchemasOfTheirOwn(t *testing.T) {
	t.Parallel()
	doc, err := shapes().Document()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"Userinfo": {`, `"UrlUserinfo": {`} {
		if !strings.Contains(string(doc), want) {
			t.Errorf("the document has no schema %s", want)
		}
	}
}
