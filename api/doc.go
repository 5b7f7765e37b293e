// Package api binds typed operations to HTTP: tables of operations, their router, how their
// input is read and their answers are written, problem+json errors, and the OpenAPI document.
//
// An interface of the product is an [Interface]: a table of [Route] rows. A row
// holds a typed operation wrapped by [Guarded], which binds it to the kind of
// caller it takes; the interface's principals say how such a caller shows who
// they are. [Environment.Handler] checks the whole table and panics when it is wrong, so
// that a mistake never outlives the start.
//
// The package knows HTTP and the kinds of [fault.Error], which become status codes here and
// nowhere else. It must not know listeners, or any rule of the product: no network, no key,
// no role.
//
// Operations run concurrently.
package api
