package apitest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"
)

// Client calls a served interface and checks every answer against its document.
type Client struct {
	T       testing.TB
	Address string // host:port
	Base    string // of the interface, such as /core
	Doc     *openapi3.T
}

// Answer is an answer of the interface.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// As sends a request with a token, "" for none; a body of "" is none, any other is
// JSON.
func (c *Client) As(token, method, path, body string) Answer {
	c.T.Helper()
	media := ""
	if body != "" {
		media = "application/json"
	}
	return c.Send(token, method, path, media, body)
}

// Send is As with a media type of its own.
func (c *Client) Send(token, method, path, media, body string) Answer {
	c.T.Helper()
	request, err := http.NewRequestWithContext(c.T.Context(), method, "http://"+c.Address+c.Base+path, strings.NewReader(body))
	if err != nil {
		c.T.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", token)
	}
	if media != "" {
		request.Header.Set("Content-Type", media)
	}
	return c.Do(request)
}

// Do sends a request as it is.
func (c *Client) Do(request *http.Request) Answer {
	c.T.Helper()
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		c.T.Fatal(err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		c.T.Fatal(err)
	}
	a := Answer{response.StatusCode, response.Header, raw}
	c.Conforms(request.Method, request.URL.EscapedPath(), a)
	return a
}

// Conforms checks an answer against the document; path has the base and no query.
func (c *Client) Conforms(method, path string, a Answer) {
	c.T.Helper()
	operation := c.Operation(method, strings.TrimPrefix(path, c.Base))
	if operation == nil {
		c.T.Fatalf("%s %s is not in the document", method, path)
	}
	if a.Status == http.StatusNoContent {
		if operation.Responses.Value("204") == nil || len(a.Body) > 0 {
			c.T.Errorf("%s %s: 204 is not documented, or has a body: %s", method, path, a.Body)
		}
		return
	}
	media, response := "application/json", successOf(operation)
	if a.Status >= 400 {
		media, response = "application/problem+json", operation.Responses.Value("default").Value
		if operation.Responses.Value(strconv.Itoa(a.Status)) == nil {
			c.T.Errorf("%s %s: status %d is not documented: %s", method, path, a.Status, a.Body)
		}
	}
	if response != nil && response.Content[media] == nil && a.Status < 400 { // such as an image
		return
	}
	if got := a.Header.Get("Content-Type"); got != media {
		c.T.Errorf("%s %s: content type %q", method, path, got)
	}
	var value any
	if err := json.Unmarshal(a.Body, &value); err != nil {
		c.T.Fatalf("%s %s: %v: %s", method, path, err, a.Body)
	}
	if response == nil { // a websocket
		return
	}
	if err := response.Content[media].Schema.Value.VisitJSON(value, openapi3.MultiErrors(), openapi3.VisitAsResponse()); err != nil {
		c.T.Errorf("%s %s: the answer is not as documented: %v\n%s", method, path, err, a.Body)
	}
}

// Operation returns the documented operation of a path: of several the one with
// the most fixed segments. nil: there is none.
func (c *Client) Operation(method, path string) (found *openapi3.Operation) {
	segments, best := strings.Split(strings.TrimSuffix(path, "/"), "/"), -1
	for template, item := range c.Doc.Paths.Map() {
		parts, fixed := strings.Split(template, "/"), 0
		fits := len(parts) == len(segments) && item.GetOperation(method) != nil
		for i := 0; fits && i < len(parts); i++ {
			isParameter := strings.HasPrefix(parts[i], "{")
			fits = isParameter || parts[i] == segments[i]
			if !isParameter {
				fixed++
			}
		}
		if fits && fixed > best {
			found, best = item.GetOperation(method), fixed
		}
	}
	return found
}

// successOf returns the documented answer of an operation when all is well, nil of a
// websocket.
func successOf(operation *openapi3.Operation) *openapi3.Response {
	for _, status := range []string{"200", "201", "202"} {
		if r := operation.Responses.Value(status); r != nil {
			return r.Value
		}
	}
	return nil
}

// Want checks the status and decodes the answer.
func Want[T any](t testing.TB, a Answer, status int) (value T) {
	t.Helper()
	if a.Status != status {
		t.Fatalf("status %d, want %d: %s", a.Status, status, a.Body)
	}
	if err := json.Unmarshal(a.Body, &value); err != nil {
		t.Fatalf("%v: %s", err, a.Body)
	}
	return value
}

// Tally counts the points of a history above 0, at 0 and without data.
func Tally(points [][2]*float64) (moving, quiet, null int) {
	for _, point := range points {
		switch v := point[0]; {
		case v == nil:
			null++
		case *v > 0:
			moving++
		default:
			quiet++
		}
	}
	return moving, quiet, null
}

// WantJSON checks the whole answer, whose status is to be 200.
func WantJSON(t testing.TB, a Answer, exact string) {
	t.Helper()
	got := Want[any](t, a, http.StatusOK)
	var expected any
	if err := json.Unmarshal([]byte(exact), &expected); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(expected, got); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
}

// WantProblem checks that an answer is a problem that says something.
func WantProblem(t testing.TB, a Answer, status int, says string) {
	t.Helper()
	if a.Status != status || !bytes.Contains(a.Body, []byte(says)) {
		t.Errorf("status %d %s, want %d with %q", a.Status, a.Body, status, says)
	}
}
