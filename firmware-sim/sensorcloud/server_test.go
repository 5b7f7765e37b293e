package sensorcloud

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"sensegate/motion/sensor"
	"sensegate/motion/sensor/cloud"
)

// call makes a call with the key "k" and returns the status and the decoded answer.
func call[T any](t *testing.T, s *Server, method, path, body string) (int, T) {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	request.Header.Set("Authorization", "Bearer k")
	recorder := httptest.NewRecorder()
	s.ServeHTTP(recorder, request)
	var answer T
	_ = json.Unmarshal(recorder.Body.Bytes(), &answer) // where the answer has a body
	return recorder.Code, answer
}

func TestWrongKeyIsRefused(t *testing.T) {
	t.Parallel()
	recorder := httptest.NewRecorder()
	New("k").ServeHTTP(recorder, httptest.NewRequest(http.MethodPut, "/v1/accounts/a", nil))
	if recorder.Code != http.StatusUnauthorized {
		t.Errorf("%d", recorder.Code)
	}
}

func TestFeedGoesOnFromItsCursor(t *testing.T) {
	t.Parallel()
	s := New("k")
	call[struct{}](t, s, http.MethodPut, "/v1/accounts/a", "{}")
	if code, feed := call[cloud.Feed](t, s, http.MethodGet, "/v1/feed?after=&wait=25", ""); code != 200 || feed.Cursor != "0" || len(feed.Entries) != 0 {
		t.Errorf("%d %+v", code, feed)
	}
	s.Add("a", cloud.Thing{DeviceType: sensor.Hub, Told: cloud.Told{ThingName: "HUB_1"}})
	s.Tell("a", cloud.Told{ThingName: "HUB_1", Status: sensor.Ready})
	if _, feed := call[cloud.Feed](t, s, http.MethodGet, "/v1/feed?after=0&wait=25&limit=1", ""); feed.Cursor != "1" || !feed.Entries[0].ListChanged {
		t.Errorf("%+v", feed)
	}
	if _, feed := call[cloud.Feed](t, s, http.MethodGet, "/v1/feed?after=1&wait=25", ""); feed.Cursor != "2" || feed.Entries[0].Status != sensor.Ready {
		t.Errorf("%+v", feed)
	}
	if code, _ := call[cloud.Feed](t, s, http.MethodGet, "/v1/feed?after=9&wait=25", ""); code != http.StatusGone {
		t.Errorf("a cursor of the future: %d", code)
	}
}

func TestAccountsAreFurnishedAndAlive(t *testing.T) {
	t.Parallel()
	s := New("k")
	call[struct{}](t, s, http.MethodPut, "/v1/accounts/a", "{}")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var told atomic.Int32
	s.Play(ctx, time.Millisecond, func(line string) {
		if strings.Contains(line, " tells ") && told.Add(1) == 20 {
			cancel()
		}
	})
	_, list := call[cloud.List](t, s, http.MethodGet, "/v1/accounts/a/things", "")
	if len(list.Things) != len(sensor.Types()) || told.Load() < 20 {
		t.Errorf("%d things, %d told", len(list.Things), told.Load())
	}
	hub := list.Things[0]
	if code, _ := call[struct{}](t, s, http.MethodPost, "/v1/accounts/a/things/"+hub.ThingName+"/pair", `{"timeout":60}`); code != 204 {
		t.Errorf("pair: %d", code)
	}
	if _, list = call[cloud.List](t, s, http.MethodGet, "/v1/accounts/a/things", ""); len(list.Things) != len(sensor.Types())+1 {
		t.Errorf("after pairing: %d things", len(list.Things))
	}
}
