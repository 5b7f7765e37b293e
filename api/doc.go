// Package api is the serving layer: route tables, the router, typed operations
// with their OpenAPI document, problem+json errors, the websocket pump, limits,
// the access log and the http.Server itself.
//
// An interface of the product is an [Interface]: a table of [Route] rows. A row
// holds a typed operation wrapped by [Guarded], which binds it to the kind of
// caller it takes; the interface's principals say how such a caller shows who
// they are. [Server.Mount] checks the whole table and panics when it is wrong, so
// that a mistake never outlives the start.
//
// The package knows HTTP, websockets and the kinds of [fault.Error]. It must not
// know any rule of the product: no network, no key, no role. Kinds of errors
// become status codes here and nowhere else.
//
// Operations run concurrently. A [Server] is assembled by one goroutine and
// then only read.
package api
