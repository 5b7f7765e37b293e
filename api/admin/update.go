package admin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"sensegate/api/update"
)

// program is the program of a running appliance.
type program struct {
	Path    string `json:"path"`
	Version string `json:"version,omitempty"` // that was installed in its place
}

func (s *Server) serveProgram(*http.Request) (any, error) {
	path, err := update.Program()
	return program{Path: path}, err
}

// serveTryProgram has the running program try the one that is being installed, as its user and with its
// configuration and environment.
func (s *Server) serveTryProgram(*http.Request) (any, error) {
	path, err := update.Program()
	if err != nil {
		return nil, err
	}
	return struct{}{}, s.box.TryUpdate(update.Next(path))
}

func (s *Server) serveRestart(r *http.Request, installed program) (any, error) {
	return struct{}{}, s.box.StartUpdated(r.Context(), installed.Version, actor(r))
}

// packages are what a package manager notes that has installed the program, and what updates it then.
var packages = map[string]string{
	"/var/lib/dpkg/info/sensegate.list": "apt install ./sensegate_….deb",
	"/usr/lib/opkg/info/sensegate.list": "opkg install ./sensegate_….ipk",
}

// packaged is where packages install the program.
const packaged = "/usr/bin/sensegate"

// How long the update command waits: longer than a new program may try to get ready.
const (
	updateTime = 100 * time.Second
	updateLook = 200 * time.Millisecond
)

// updateProgram is the update command. It works whether the appliance runs or not. It replaces the program
// that it runs as, whatever the appliance, which may be another user's, says of itself.
func updateProgram(ctx context.Context, c command, path string) error {
	own, err := update.Program()
	if err != nil {
		return err
	}
	for list, how := range packages {
		if _, err := os.Stat(list); err == nil && own == packaged {
			return fmt.Errorf("%s comes from a package: %s", packaged, how)
		}
	}
	running, err := openRunning(ctx, c.stateDir)
	if err != nil {
		return err
	}
	if running == nil {
		return c.installOnly(own, path)
	}
	defer running.Close()
	var served program
	if err := running.do(ctx, http.MethodGet, "/program", nil, &served); err != nil {
		return err
	}
	if served.Path != own {
		return fmt.Errorf("the appliance of %s runs another program than %s: run the command with that one", c.stateDir, own)
	}
	t, err := update.Install(c.stateDir, own, path, func(string) error {
		return running.do(ctx, http.MethodPost, "/program/try", nil, &struct{}{})
	})
	if err != nil {
		return err
	}
	served.Version = t.Version
	if err := running.do(ctx, http.MethodPost, "/restart", served, &struct{}{}); err != nil {
		return errors.Join(err, t.GiveUp("the appliance could not start anew"))
	}
	return c.await(ctx, t)
}

// installOnly installs the program at a path for the next start.
func (c command) installOnly(own, path string) error {
	parts, err := c.offline("", c.stateDir)
	if err != nil {
		return err
	}
	t, err := update.Install(c.stateDir, own, path, parts.TryProgram)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.out, "%s is installed and runs at the next start.\n", t.Version)
	return nil
}

// await waits until an update is taken or the former program is back.
func (c command) await(ctx context.Context, t *update.Trial) error {
	done := c.waiting("starting " + t.Version)
	defer done()
	why := ""
	for end := time.Now().Add(updateTime); time.Now().Before(end); {
		last, err := update.Last(c.stateDir)
		switch {
		case err != nil:
			return err
		case last == nil || last.New != t.New:
			return errors.New("another program was installed meanwhile")
		case last.State == update.Taken:
			done()
			fmt.Fprintf(c.out, "%s runs. The former program is %s.\n", t.Version, t.FormerPath())
			return nil
		case last.State == update.Returned:
			_ = t.PutBack() // it has done so itself where it may
			return fmt.Errorf("%s does not work here: %s. The former program runs again", t.Version, last.Why)
		case last.State == update.Back:
			_ = t.PutBack()
			why = last.Why
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is on trial, which goes on without this command", t.Version)
		case <-time.After(updateLook):
		}
	}
	if why != "" {
		return fmt.Errorf("%s does not work here: %s. The former program is back, but is not ready yet: see its log", t.Version, why)
	}
	return errors.Join(fmt.Errorf("%s ended and nobody has started it again: start the former program, which is back", t.Version),
		t.GiveUp("it ended before it was ready"))
}

// notOnTrial refuses to open the database with a program that an update has installed and that has not been
// ready yet: what it would migrate had no way back.
func notOnTrial(stateDir string) error {
	t, err := update.Waiting(stateDir)
	if t == nil || err != nil {
		return err
	}
	return fmt.Errorf("%s is on trial and has not been ready yet: start the appliance first", t.Version)
}
