package api

import (
	"context"
	"net/url"
	"strings"
	"testing"
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
		Own     Userinfo        `json:"own"`
		Foreign url.Userinfo    `json:"foreign"`
		One     OneOrMany[URL]  `json:"one"`
		Null    OrNull[URL]     `json:"null"`
		Series  Encoded[Series] `json:"series"`
	}
}

func shapes(found ...URL) Interface {
	i := testInterface(noLive())
	i.Base = "/shapes"
	i.Routes = []Route{
		Get("/all", anyone(func(context.Context, stranger, *noIn) (*shapesOut, error) {
			out := &shapesOut{}
			out.Body.One.Found, out.Body.Series = found, Encoded[Series](`[[null,1]]`)
			return out, nil
		}), "All shapes"),
		Get("/one", anyone(func(context.Context, stranger, *noIn) (*struct{ Body OneOrMany[URL] }, error) {
			return &struct{ Body OneOrMany[URL] }{OneOrMany[URL]{Found: found}}, nil
		}), "One or many"),
		Get("/array", anyone(func(context.Context, stranger, *noIn) (*struct{ Body OneOrMany[URL] }, error) {
			return &struct{ Body OneOrMany[URL] }{OneOrMany[URL]{Found: found, Array: true}}, nil
		}), "Always an array"),
	}
	return i
}

func TestOneIsAnObjectAndSeveralAreAnArray(t *testing.T) {
	t.Parallel()
	s, _ := testServer(t, noLive())
	s.Mount(shapes(URL{"a"}))
	wantJSON(t, do(s, "GET", "/shapes/one", ""), `{"here":"a"}`)
	wantJSON(t, do(s, "GET", "/shapes/array", ""), `[{"here":"a"}]`)
	wantJSON(t, do(s, "GET", "/shapes/all", ""), `{"own":{"name":""},"foreign":{},"one":{"here":"a"},"null":null,"series":[[null,1]]}`)
	s, _ = testServer(t, noLive())
	s.Mount(shapes(URL{"a"}, URL{"b"}))
	wantJSON(t, do(s, "GET", "/shapes/one", ""), `[{"here":"a"},{"here":"b"}]`)
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
