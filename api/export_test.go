package api

import "sensegate/motion/fault"

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
	r := newRouter(routes, make([]*typed, len(routes)))
	return func(method, path string) {
		r.find(method, path)
		r.allowed(path)
	}
}
