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
	later := func(description string) *huma.Response {
		r := answer(description)
		r.Headers = map[string]*huma.Param{"Retry-After": {Description: "Seconds to wait", Schema: &huma.Schema{Type: huma.TypeInteger}}}
		return r
	}
	return map[string]*huma.Response{
		refusal(http.StatusBadRequest):   answer("The query or the body cannot be read: a number that is none, JSON that breaks off, text that is not UTF-8"),
		refusal(http.StatusUnauthorized): answer("Credentials are missing, not valid or expired"),
		refusal(http.StatusForbidden):    answer("The caller may not do this; or, with the code `origin`, a web page of another site asks"),
		refusal(http.StatusNotFound):     answer("There is none of that id, or the caller has nothing to do with it"),
		refusal(http.StatusConflict):     answer("The present state does not allow it; the detail says what to do first"),
		refusal(http.StatusRequestEntityTooLarge): answer(fmt.Sprintf(
			"The body is larger than %d bytes, or than %d where no credentials are asked for, or holds more than %d values", MaxBody, MaxAnonymousBody, maxValues)),
		refusal(http.StatusUnsupportedMediaType): answer("The body is neither JSON nor, where that is taken, a form"),
		refusal(http.StatusUnprocessableEntity):  answer("What is asked for is not valid; all mistakes are told, at most 20"),
		refusal(http.StatusUpgradeRequired):      answer("It is a websocket, and the request asks for none"),
		refusal(http.StatusTooManyRequests):      later("Too many requests of this token, or without a valid one of this address or IPv6 /64, or too many of what the operation counts"),
		refusal(http.StatusServiceUnavailable):   later("The appliance is starting or stopping, has too much to do, or has too little room left on its disk to write"),
	}
}

// refusal names a refusal in the document.
func refusal(status int) string { return "Problem" + strconv.Itoa(status) }

// IsSafe reports whether a method changes nothing (RFC 9110 9.2.1).
func IsSafe(method string) bool {
	return method == http.MethodGet || method == http.MethodHead || method == http.MethodOptions
}

// describeRefusals adds to the row's part of the document how it can be refused. What an
// operation that writes finds in its way it may call a conflict.
func describeRefusals(row Route, op *huma.Operation) {
	add := func(may bool, statuses ...int) {
		for _, status := range statuses {
			if may {
				op.Responses[strconv.Itoa(status)] = &huma.Response{Ref: "#/components/responses/" + refusal(status)}
			}
		}
	}
	guarded, takesBody, writes := len(op.Security) > 0, op.RequestBody != nil, row.Live || !IsSafe(row.Method)
	input := takesBody || len(op.Parameters) > 0
	add(true, http.StatusBadRequest, http.StatusTooManyRequests, http.StatusServiceUnavailable)
	add(input, http.StatusUnprocessableEntity)
	add(guarded || input, http.StatusUnauthorized, http.StatusNotFound) // the input may hold a password or a token
	add(guarded || writes, http.StatusForbidden)
	add(writes, http.StatusConflict)
	add(row.Live, http.StatusUpgradeRequired)
	add(takesBody, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
}
