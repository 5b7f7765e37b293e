package admin

import (
	"net/http/httptest"
	"strings"
	"testing"

	"sensegate/api/box"
)

// TestACommandThatHoldsTheDatabaseIsNotUpdated: it answers at the socket, but is no appliance.
func TestACommandThatHoldsTheDatabaseIsNotUpdated(t *testing.T) {
	t.Parallel()
	s := NewServer(box.New(box.Parts{}))
	answer := httptest.NewRecorder()
	s.mux.ServeHTTP(answer, httptest.NewRequest("POST", "/program/try", nil))
	if !strings.Contains(answer.Body.String(), "the appliance does not run") {
		t.Errorf("%d %s", answer.Code, answer.Body)
	}
}
