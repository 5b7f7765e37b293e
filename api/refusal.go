package api

import (
	"fmt"
	"net/http"
	"reflect"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
)

// refusals are the answers that the server itself gives before an operation runs, by
// their status, for the document.
func refusals(schemas huma.Registry) map[string]*huma.Response {
	problem := schemas.Schema(reflect.TypeFor[Problem](), true, "Problem")
	answer := func(description string) *huma.Response {
		return &huma.Response{Description: description, Content: map[string]*huma.MediaType{problemType: {Schema: problem}}}
	}
	later := answer("Too many requests of this token, or without a valid one of this address or IPv6 /64, or too many of what the operation counts")
	later.Headers = map[string]*huma.Param{"Retry-After": {Description: "Seconds to wait", Schema: &huma.Schema{Type: huma.TypeInteger}}}
	return map[string]*huma.Response{
		refusal(http.StatusForbidden): answer("The caller may not do this; or, with the code `origin`, a web page of another site asks"),
		refusal(http.StatusRequestEntityTooLarge): answer(fmt.Sprintf(
			"The body is larger than %d bytes, or than %d where no credentials are asked for, or holds more than %d values", maxBody, maxAnonymousBody, maxValues)),
		refusal(http.StatusTooManyRequests): later,
	}
}

// refusal names a refusal in the document.
func refusal(status int) string { return "Problem" + strconv.Itoa(status) }

// describeRefusals adds to the row's part of the document how it can be refused.
func describeRefusals(row Route, op *huma.Operation) {
	add := func(status int) {
		op.Responses[strconv.Itoa(status)] = &huma.Response{Ref: "#/components/responses/" + refusal(status)}
	}
	add(http.StatusTooManyRequests)
	if row.Live || !reads(row.Method) {
		add(http.StatusForbidden)
	}
	if op.RequestBody != nil {
		add(http.StatusRequestEntityTooLarge)
	}
}
