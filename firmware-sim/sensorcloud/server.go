// Package sensorcloud simulates the HTTP sensor cloud for which motion/sensor/cloud is
// the client: accounts, hubs, sensors and their reports, all in memory. It must not
// know how the appliance works.
package sensorcloud

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"sensegate/motion/sensor/cloud"
)

// maxEntries is the number of entries that the feed keeps.
const maxEntries = 10000

// Server is the cloud, made by New. Its methods may be called concurrently.
type Server struct {
	key  string
	mux  *http.ServeMux
	down atomic.Bool

	mu       sync.Mutex
	accounts map[string]*account
	entries  []cloud.Entry
	first    int           // number of entries[0]
	news     chan struct{} // closed by the next entry
	joined   func(user, hub string)
}

// account is the account of a household.
type account struct {
	things   map[string]*cloud.Thing
	settings map[string]cloud.Settings
	pairing  map[string]time.Time // until when, by hub
}

// New returns an empty cloud that serves appliances with the key.
func New(key string) *Server {
	s := &Server{key: key, mux: http.NewServeMux(), accounts: map[string]*account{}, first: 1, news: make(chan struct{})}
	s.mux.HandleFunc("PUT /v1/accounts/{user}", s.putAccount)
	s.mux.HandleFunc("DELETE /v1/accounts/{user}", s.deleteAccount)
	s.mux.HandleFunc("GET /v1/accounts/{user}/things", s.getThings)
	s.mux.HandleFunc("POST /v1/accounts/{user}/things/{thing}/pair", s.pair)
	s.mux.HandleFunc("PATCH /v1/accounts/{user}/things/{thing}", s.patchThing)
	s.mux.HandleFunc("DELETE /v1/accounts/{user}/things/{thing}", s.deleteThing)
	s.mux.HandleFunc("GET /v1/feed", s.feed)
	return s
}

// SetDown makes the cloud answer 503 while down is true.
func (s *Server) SetDown(down bool) { s.down.Store(down) }

// OnPair sets the function that is called when a hub enters pairing mode.
func (s *Server) OnPair(fn func(user, hub string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.joined = fn
}

// ServeHTTP answers a request; a wrong key gets 401.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case s.down.Load():
		w.Header().Set("Retry-After", "7")
		http.Error(w, "down", http.StatusServiceUnavailable)
	case r.Header.Get("Authorization") != "Bearer "+s.key:
		http.Error(w, "wrong key", http.StatusUnauthorized)
	default:
		s.mux.ServeHTTP(w, r)
	}
}

func (s *Server) putAccount(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	user := r.PathValue("user")
	if s.accounts[user] == nil {
		s.accounts[user] = &account{map[string]*cloud.Thing{}, map[string]cloud.Settings{}, map[string]time.Time{}}
	}
	w.WriteHeader(http.StatusNoContent)
}

func (s *Server) deleteAccount(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.accounts, r.PathValue("user"))
	w.WriteHeader(http.StatusNoContent)
}

// of returns the account and the thing that a request names; if ok is false, it has
// answered. s.mu is held.
func (s *Server) of(w http.ResponseWriter, r *http.Request) (a *account, thing string, ok bool) {
	a, thing = s.accounts[r.PathValue("user")], r.PathValue("thing")
	if a == nil || thing != "" && a.things[thing] == nil {
		http.Error(w, "not found", http.StatusNotFound)
		return nil, "", false
	}
	return a, thing, true
}

func (s *Server) getThings(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, _, ok := s.of(w, r)
	if !ok {
		return
	}
	list := cloud.List{Things: []cloud.Thing{}}
	for _, name := range slices.Sorted(maps.Keys(a.things)) {
		list.Things = append(list.Things, *a.things[name])
	}
	answer(w, list)
}

func (s *Server) pair(w http.ResponseWriter, r *http.Request) {
	var body cloud.Pairing
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || body.Timeout < 1 {
		http.Error(w, "want a timeout", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	a, hub, ok := s.of(w, r)
	if !ok {
		s.mu.Unlock()
		return
	}
	a.pairing[hub] = time.Now().Add(time.Duration(body.Timeout) * time.Second)
	joined := s.joined
	s.mu.Unlock()
	w.WriteHeader(http.StatusNoContent)
	if joined != nil {
		joined(r.PathValue("user"), hub)
	}
}

func (s *Server) patchThing(w http.ResponseWriter, r *http.Request) {
	var body cloud.Settings
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, "want settings", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a, thing, ok := s.of(w, r)
	if !ok {
		return
	}
	a.settings[thing] = body
	w.WriteHeader(http.StatusNoContent)
}

func (s *Server) deleteThing(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, thing, ok := s.of(w, r)
	if !ok {
		return
	}
	maps.DeleteFunc(a.things, func(name string, t *cloud.Thing) bool { return name == thing || t.HubThingName == thing })
	s.append(cloud.Entry{Account: r.PathValue("user"), ListChanged: true})
	w.WriteHeader(http.StatusNoContent)
}

// feed answers with the entries after the cursor, as soon as there are any.
func (s *Server) feed(w http.ResponseWriter, r *http.Request) {
	after, err := strconv.Atoi(r.FormValue("after"))
	wait, _ := strconv.Atoi(r.FormValue("wait"))
	limit, _ := strconv.Atoi(r.FormValue("limit"))
	timer := time.NewTimer(time.Duration(wait) * time.Second)
	defer timer.Stop()
	for done := false; ; {
		s.mu.Lock()
		last, news := s.first+len(s.entries)-1, s.news
		if r.FormValue("after") == "" {
			after, err, done = last, nil, true
		}
		if err != nil || after < s.first-1 || after > last {
			s.mu.Unlock()
			http.Error(w, "unknown cursor", http.StatusGone)
			return
		}
		fresh := slices.Clone(s.entries[after-s.first+1:])
		s.mu.Unlock()
		if len(fresh) > 0 || done {
			fresh = fresh[:min(len(fresh), cmp.Or(limit, maxEntries))]
			answer(w, cloud.Feed{Cursor: strconv.Itoa(after + len(fresh)), Entries: fresh})
			return
		}
		select {
		case <-news:
		case <-timer.C:
			done = true
		case <-r.Context().Done():
			return
		}
	}
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // after a lost connection the client asks again
}

// append adds an entry to the feed; s.mu is held.
func (s *Server) append(e cloud.Entry) {
	s.entries = append(s.entries, e)
	if n := len(s.entries) - maxEntries; n > 0 {
		s.entries, s.first = slices.Delete(s.entries, 0, n), s.first+n
	}
	close(s.news)
	s.news = make(chan struct{})
}

// Accounts returns the names of the accounts.
func (s *Server) Accounts() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.accounts))
}

// Settings returns the settings of a thing, and false if there are none.
func (s *Server) Settings(user, thing string) (cloud.Settings, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.accounts[user]
	if a == nil {
		return cloud.Settings{}, false
	}
	set, ok := a.settings[thing]
	return set, ok
}

// PairingUntil returns the end of a hub's pairing mode, zero if it had none.
func (s *Server) PairingUntil(user, hub string) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.accounts[user]; a != nil {
		return a.pairing[hub]
	}
	return time.Time{}
}

// Add adds a thing to an account, if that exists. A thing of type Hub has no hub.
func (s *Server) Add(user string, thing cloud.Thing) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.accounts[user]; a != nil {
		a.things[thing.ThingName] = &thing
		s.append(cloud.Entry{Account: user, ListChanged: true})
	}
}

// Tell makes a thing report told, if it exists.
func (s *Server) Tell(user string, told cloud.Told) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.accounts[user]
	if a == nil || a.things[told.ThingName] == nil {
		return
	}
	t := &a.things[told.ThingName].Told
	t.TS = told.TS
	if told.Online != nil {
		t.Online = told.Online
	}
	if told.BatteryLevel != nil {
		t.BatteryLevel = told.BatteryLevel
	}
	if told.Temperature != nil {
		t.Temperature = told.Temperature
	}
	if told.Humidity != nil {
		t.Humidity = told.Humidity
	}
	t.Status = cmp.Or(told.Status, t.Status)
	s.append(cloud.Entry{Account: user, Told: told})
}

// Forget drops the feed, so that all earlier cursors are unknown.
func (s *Server) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.first, s.entries = s.first+len(s.entries)+1000, nil
	close(s.news)
	s.news = make(chan struct{})
}
