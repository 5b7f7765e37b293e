package api

import (
	"net/http"

	"sensegate/motion/fault"
)

// What the tests see of the package that the product does not.
const (
	FormType    = formType
	JSONType    = jsonType
	ProblemType = problemType
	MaxValues   = maxValues
)

var Shown = shown

// KindStatus returns the status of a kind of error, 0 when it has none.
func KindStatus(k fault.Kind) int { return answers[k].status }

// Lookup returns a function that looks a path up in the router of rows.
func Lookup(routes []Route) func(method, path string) {
	endpoints := make([]endpoint, len(routes))
	for i := range endpoints {
		endpoints[i] = reached{}
	}
	r := newRouter(routes, endpoints)
	return func(method, path string) {
		r.find(method, path)
		r.allowed(path)
	}
}

type reached struct{}

func (reached) serve(http.ResponseWriter, *http.Request, []param) {}
