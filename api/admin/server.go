// Package admin administers the appliance from the machine it runs on: the commands for API
// keys, devices, MQTT users, the outbox, backups and the database, the unix socket over which
// they reach the running appliance, and the reading of its configuration file. When no
// appliance runs, a command opens the database itself; a running one holds the file's lock.
//
// It must not hold a rule of the engine.
package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/engine"
	"sensegate/motion/engine/devices"
	"sensegate/motion/fault"
	"sensegate/store"
)

// Socket returns the path of the administration socket of a state directory.
func Socket(stateDir string) string { return filepath.Join(stateDir, "sensegate.sock") }

// Database returns the path of the database of a state directory.
func Database(stateDir string) string { return filepath.Join(stateDir, "sensegate.db") }

// SigningKeys returns the path of the keys that sign the tokens of a state directory.
func SigningKeys(stateDir string) string { return filepath.Join(stateDir, "signing.json") }

// Certificates returns the directory of the authority and the certificates of a state
// directory.
func Certificates(stateDir string) string { return filepath.Join(stateDir, "tls") }

// Beside returns the paths of what an appliance keeps beside the database.
func Beside(stateDir string) []string {
	return []string{SigningKeys(stateDir), Certificates(stateDir)}
}

// Server answers administration commands. Whoever can open the socket (its
// owner) may do everything.
type Server struct {
	engine *engine.Engine
	db     *store.DB
	people People
	ready  func() error  // nil: the appliance does not run
	trust  func() string // nil until Trust is called
	ended  func()        // nil until OnRevoke is called
	core   func() string // nil until Core is called
	log    *slog.Logger
	mux    http.ServeMux

	listener net.Listener
}

// NewServer returns a server of the commands over an engine, its database and its people.
// ready returns why the appliance cannot work; it is nil when the appliance does not run.
func NewServer(e *engine.Engine, db *store.DB, people People, ready func() error, log *slog.Logger) *Server {
	s := &Server{engine: e, db: db, people: people, ready: ready, log: log}
	s.handle("GET /apikeys", s.serveKeys)
	s.handle("POST /apikeys", s.serveCreateKey)
	s.handle("DELETE /apikeys/{id}", s.serveRevokeKey)
	s.handle("GET /devices", s.serveDevices)
	s.handle("POST /devices/{id}/adopt", s.serveAdoptDevice)
	s.handle("DELETE /devices/{id}", s.serveRemoveDevice)
	s.handle("POST /adoption", s.serveOpenAdoption)
	s.handle("GET /links", s.serveLinks)
	s.handle("POST /calibration", s.serveCalibrate)
	s.handle("GET /mqttusers", s.serveMQTTUsers)
	s.handle("POST /mqttusers", s.serveCreateMQTTUser)
	s.handle("DELETE /mqttusers/{id}", s.serveRemoveMQTTUser)
	s.handle("GET /outbox", s.serveOutbox)
	s.handle("GET /outbox/{id}", s.serveMail)
	s.handle("POST /setup-code", s.serveSetupCode)
	s.handle("GET /users", s.serveAccounts)
	s.handle("POST /users", s.serveCreateAccount)
	s.handle("POST /users/password", s.serveSetPassword)
	s.handle("POST /users/delete", s.serveDeleteAccount)
	s.handle("GET /status", s.serveStatus)
	s.handle("GET /db/stat", s.serveLayout)
	s.handle("GET /db/check", s.serveCheck)
	s.mux.HandleFunc("GET /backup", s.serveBackup)
	return s
}

// Trust makes status show the fingerprint of the authority that clients are to trust. It is
// called before Run; fingerprint is called concurrently.
func (s *Server) Trust(fingerprint func() string) { s.trust = fingerprint }

// Core adds the address of the Core interface to the answer with a new key. It is called
// before Run; address is called concurrently.
func (s *Server) Core(address func() string) { s.core = address }

// OnRevoke calls ended after an API key was revoked, so that connections opened with it end.
// It is called before Run.
func (s *Server) OnRevoke(ended func()) { s.ended = ended }

// ServeHTTP answers a command.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// Listen opens the socket in a state directory, before Run.
func (s *Server) Listen(stateDir string) error {
	path := Socket(stateDir)
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("administration socket: %w", err)
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		return fmt.Errorf("administration socket: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return errors.Join(fmt.Errorf("administration socket: %w", err), listener.Close())
	}
	s.listener = listener
	return nil
}

// Run serves the commands until ctx ends.
func (s *Server) Run(ctx context.Context) error {
	server := &http.Server{Handler: s, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second}
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		<-ctx.Done()
		limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		_ = server.Shutdown(limit)
	}()
	if err := server.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("administration socket: %w", err)
	}
	<-stopped
	return nil
}

// handle adds a command that answers with JSON; a change is logged, as an audit
// record.
func (s *Server) handle(pattern string, command func(*http.Request) (any, error)) {
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		answer, err := command(r)
		if err != nil {
			s.refuse(w, pattern, err)
			return
		}
		if r.Method != http.MethodGet {
			s.log.Info("administration command done", "command", r.Method+" "+r.URL.Path)
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer)
	})
}

// refuse writes the answer to a command that failed.
func (s *Server) refuse(w http.ResponseWriter, pattern string, err error) {
	if fault.KindOf(err) == 0 {
		s.log.Error("administration command failed", "command", pattern, "err", err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusUnprocessableEntity)
	_ = json.NewEncoder(w).Encode(failure{Error: inFull(err)})
}

// inFull returns the text of an error with all its details.
func inFull(err error) string {
	var f *fault.Error
	if !errors.As(err, &f) || len(f.Details) == 0 {
		return err.Error()
	}
	mistakes := make([]string, len(f.Details))
	for i, d := range f.Details {
		mistakes[i] = d.Message
	}
	return strings.Join(mistakes, "; ")
}

// failure is the answer to a command that failed.
type failure struct {
	Error string `json:"error"`
}

// apiKey is a new key: its secret is shown this once.
type apiKey struct {
	store.APIKey
	Secret string `json:"secret,omitempty"`
	Core   string `json:"core,omitempty"` // where it opens something, such as http://127.0.0.1:8080/core; "": nothing runs
}

// newKey is the body of a command that creates a key.
type newKey struct {
	Name        string           `json:"name"`
	Scopes      []string         `json:"scopes"`
	NetworkID   motion.NetworkID `json:"network_id"`   // 0: the only one there is
	AllNetworks bool             `json:"all_networks"` // instead
	ExpiresIn   motion.Seconds   `json:"expires_in_s"` // 0 = never
}

func (s *Server) serveKeys(r *http.Request) (any, error) {
	var keys []store.APIKey
	err := s.db.View(r.Context(), func(tx *store.Tx) (err error) {
		keys, err = tx.APIKeys()
		return err
	})
	return keys, err
}

func (s *Server) serveCreateKey(r *http.Request) (any, error) {
	var body newKey
	if err := read(r, &body); err != nil {
		return nil, err
	}
	for _, scope := range body.Scopes {
		if !slices.Contains(auth.Scopes(), scope) {
			return nil, fault.New(fault.Invalid, "scope %q: want %s", scope, strings.Join(auth.Scopes(), " or "))
		}
	}
	var key apiKey
	err := s.db.Update(r.Context(), func(tx *store.Tx) (err error) {
		wanted := store.APIKey{Name: body.Name, Scopes: body.Scopes, NetworkID: body.NetworkID}
		if body.ExpiresIn > 0 {
			wanted.ExpiresAt = tx.Now().Add(body.ExpiresIn)
		}
		if wanted.NetworkID, err = networkOfKey(tx, body); err != nil {
			return err
		}
		key.APIKey, key.Secret, err = tx.CreateAPIKey(wanted)
		return err
	})
	if s.core != nil {
		key.Core = s.core()
	}
	if fault.KindOf(err) == fault.Conflict {
		return nil, fault.New(fault.Conflict, "there is a key named %q already: choose another name, or revoke it", body.Name)
	}
	return key, err
}

// networkOfKey returns the network that a new key is bound to, 0 when it opens all, as every
// key does that is made before the first network.
func networkOfKey(tx *store.Tx, k newKey) (motion.NetworkID, error) {
	if k.AllNetworks && k.NetworkID != 0 {
		return 0, fault.New(fault.Invalid, "name one network, or all of them, not both")
	}
	if k.AllNetworks {
		return 0, nil
	}
	if k.NetworkID != 0 {
		_, err := tx.Network(k.NetworkID)
		return k.NetworkID, err
	}
	all, err := tx.Networks()
	switch {
	case err != nil || len(all) == 0:
		return 0, err
	case len(all) > 1:
		return 0, fault.New(fault.Invalid, "there are %d networks: add -network ID for the one that the key is to open, or -all-networks", len(all))
	}
	return all[0].ID, nil
}

func (s *Server) serveRevokeKey(r *http.Request) (any, error) {
	id, err := strconv.ParseUint(r.PathValue("id"), 10, 32)
	if err != nil {
		return nil, fault.New(fault.Invalid, "key id %q: want the number that apikey list shows", r.PathValue("id"))
	}
	err = s.db.Update(r.Context(), func(tx *store.Tx) error { return tx.RevokeAPIKey(uint32(id)) })
	if err == nil && s.ended != nil {
		s.ended()
	}
	return struct{}{}, err
}

// deviceList is the answer of the device list.
type deviceList struct {
	Devices       []devices.DeviceState `json:"devices"`
	AdoptionUntil motion.Time           `json:"adoption_until"` // networks without an owner adopt devices by themselves until then
	Open          bool                  `json:"adoption_open"`
	Windows       []devices.Window      `json:"adoption_windows"` // open ones of single networks
}

func (s *Server) serveDevices(r *http.Request) (any, error) {
	devices, until, err := s.engine.Devices.DeviceList(r.Context())
	if err != nil {
		return nil, err
	}
	windows, err := s.engine.Devices.Windows(r.Context())
	return deviceList{Devices: devices, AdoptionUntil: until, Open: until > motion.TimeOf(time.Now()), Windows: windows}, err
}

func (s *Server) serveAdoptDevice(r *http.Request) (any, error) {
	return s.engine.Devices.Adopt(r.Context(), r.PathValue("id"), 0)
}

func (s *Server) serveRemoveDevice(r *http.Request) (any, error) {
	return struct{}{}, s.engine.Devices.RemoveDevice(r.Context(), r.PathValue("id"))
}

// window is the body and the answer of opening an adoption window.
type window struct {
	NetworkID motion.NetworkID `json:"network_id,omitempty"` // 0: of networks without an owner
	Seconds   motion.Seconds   `json:"seconds,omitempty"`
	Until     motion.Time      `json:"until"`
}

func (s *Server) serveOpenAdoption(r *http.Request) (any, error) {
	var body window
	if err := read(r, &body); err != nil {
		return nil, err
	}
	until, err := s.engine.Devices.OpenAdoption(r.Context(), body.NetworkID, body.Seconds)
	return window{NetworkID: body.NetworkID, Until: until}, err
}

// mqttUser is an integration user; its secret is shown once.
type mqttUser struct {
	store.IntegrationUser
	Secret string `json:"secret,omitempty"`
}

func (s *Server) serveMQTTUsers(r *http.Request) (any, error) {
	var users []store.IntegrationUser
	err := s.db.View(r.Context(), func(tx *store.Tx) (err error) {
		users, err = tx.IntegrationUsers()
		return err
	})
	return users, err
}

func (s *Server) serveCreateMQTTUser(r *http.Request) (any, error) {
	var body store.IntegrationUser
	if err := read(r, &body); err != nil {
		return nil, err
	}
	var user mqttUser
	err := s.db.Update(r.Context(), func(tx *store.Tx) (err error) {
		user.IntegrationUser, user.Secret, err = tx.CreateIntegrationUser(body)
		return err
	})
	return user, err
}

func (s *Server) serveRemoveMQTTUser(r *http.Request) (any, error) {
	return struct{}{}, s.engine.Devices.RemoveUser(r.Context(), r.PathValue("id"))
}

// read decodes the body of a command.
func read(r *http.Request, body any) error {
	if err := json.NewDecoder(http.MaxBytesReader(nil, r.Body, 64<<10)).Decode(body); err != nil {
		return fault.New(fault.Malformed, "body: %v", err)
	}
	return nil
}
