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
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"sensegate/api/box"
	"sensegate/motion/fault"
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
	box      *box.Box
	mux      http.ServeMux
	listener net.Listener
}

// NewServer returns a server of the commands.
func NewServer(b *box.Box) *Server {
	s := &Server{box: b}
	s.handle("GET /apikeys", s.serveKeys)
	s.handle("POST /apikeys", withBody(s.serveCreateKey))
	s.handle("DELETE /apikeys/{id}", s.serveRevokeKey)
	s.handle("GET /devices", s.serveDevices)
	s.handle("POST /devices/{id}/adopt", s.serveAdoptDevice)
	s.handle("DELETE /devices/{id}", s.serveRemoveDevice)
	s.handle("POST /devices/{id}/connect", s.serveConnectNode)
	s.handle("POST /adoption", withBody(s.serveOpenAdoption))
	s.handle("GET /links", s.serveLinks)
	s.handle("POST /calibration", withBody(s.serveCalibrate))
	s.handle("GET /log/level", s.serveLogLevel)
	s.handle("PUT /log/level", withBody(s.serveSetLogLevel))
	s.handle("GET /program", s.serveProgram)
	s.handle("POST /program/try", s.serveTryProgram)
	s.handle("POST /restart", withBody(s.serveRestart))
	s.handle("GET /mqttusers", s.serveMQTTUsers)
	s.handle("POST /mqttusers", withBody(s.serveCreateMQTTUser))
	s.handle("DELETE /mqttusers/{id}", s.serveRemoveMQTTUser)
	s.handle("GET /outbox", s.serveOutbox)
	s.handle("GET /outbox/{id}", s.serveMail)
	s.handle("GET /recordings", s.serveRecordings)
	s.handle("POST /recordings", withBody(s.serveRecord))
	s.handle("POST /recordings/label", withBody(s.serveLabelRecording))
	s.handle("POST /recordings/stop", s.serveStopRecording)
	s.handle("POST /recordings/{name}/read", s.serveReadRecording)
	s.handle("DELETE /recordings/{name}", s.serveDeleteRecording)
	s.handle("GET /networks", s.serveNetworks)
	s.handle("POST /networks/{id}/handover", s.serveSetAside)
	s.handle("PUT /networks/{id}/handover", withBody(s.serveHandOver))
	s.handle("DELETE /networks/{id}/handover", s.serveTakeBack)
	s.handle("DELETE /networks/{id}", s.serveDeleteNetwork)
	s.handle("POST /setup-code", s.serveSetupCode)
	s.handle("GET /uplinks", s.serveUplinks)
	s.handle("POST /uplinks", withBody(s.serveAddUplink))
	s.handle("PUT /uplinks/{name}", withBody(s.serveChangeUplink))
	s.handle("DELETE /uplinks/{name}", s.serveRemoveUplink)
	s.handle("POST /uplinks/{name}/test", s.serveTestUplink)
	s.handle("GET /users", s.serveAccounts)
	s.handle("POST /users", withBody(s.serveCreateAccount))
	s.handle("POST /users/password", withBody(s.serveSetPassword))
	s.handle("POST /users/delete", withBody(s.serveDeleteAccount))
	s.handle("POST /users/administrator", withBody(s.serveSetAdministrator))
	s.handle("GET /audit", s.serveAudit)
	s.handle("GET /status", s.serveStatus)
	s.handle("GET /db/stat", s.serveLayout)
	s.handle("GET /db/check", s.serveCheck)
	s.mux.HandleFunc("GET /backup", s.serveBackup)
	s.mux.HandleFunc("GET /support", s.serveSupport)
	s.mux.HandleFunc("GET /networks/{id}/copy", s.serveExport)
	s.mux.HandleFunc("POST /networks", s.serveImport)
	s.mux.HandleFunc("GET /recordings/{name}/{file}", s.serveRecordingFile)
	return s
}

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
	server := &http.Server{Handler: &s.mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second}
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

// handle adds a command that answers with JSON.
func (s *Server) handle(pattern string, command func(*http.Request) (any, error)) {
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		answer, err := command(r)
		if err != nil {
			s.refuse(w, pattern, err)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(answer)
	})
}

// refuse writes the answer to a command that failed.
func (s *Server) refuse(w http.ResponseWriter, pattern string, err error) {
	if fault.KindOf(err) == 0 {
		s.box.Log.Error("administration command failed", "command", pattern, "err", err)
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

// withBody decodes the body of a command.
func withBody[T any](command func(*http.Request, T) (any, error)) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		var body T
		if err := json.NewDecoder(http.MaxBytesReader(nil, r.Body, 64<<10)).Decode(&body); err != nil {
			return nil, fault.New(fault.Malformed, "body: %v", err)
		}
		return command(r, body)
	}
}
