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
	path, err := os.Executable()
	return program{Path: path}, err
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

// updateProgram is the update command. It works whether the appliance runs or not.
func updateProgram(ctx context.Context, c command, path string) error {
	var at program
	running, err := openRunning(ctx, c.stateDir)
	if err != nil {
		return err
	}
	if running != nil {
		defer running.Close()
		err = running.do(ctx, http.MethodGet, "/program", nil, &at)
	} else {
		at.Path, err = os.Executable()
	}
	if err != nil {
		return err
	}
	for list, how := range packages {
		if _, err := os.Stat(list); err == nil && at.Path == packaged {
			return fmt.Errorf("%s comes from a package: %s", packaged, how)
		}
	}
	version, err := update.Install(c.stateDir, at.Path, path)
	if err != nil {
		return err
	}
	if running == nil {
		fmt.Fprintf(c.out, "%s is installed and runs at the next start.\n", version)
		return nil
	}
	at.Version = version
	if err := running.do(ctx, http.MethodPost, "/restart", at, &struct{}{}); err != nil {
		return errors.Join(err, c.takeBack("the appliance could not start anew"))
	}
	done := c.waiting("starting " + version)
	defer done()
	for end := time.Now().Add(updateTime); time.Now().Before(end); {
		t, err := update.Last(c.stateDir)
		switch {
		case err != nil:
			return err
		case t != nil && t.State == update.Taken:
			done()
			fmt.Fprintf(c.out, "%s runs. The former program is %s.\n", version, t.Former())
			return nil
		case t != nil && t.State == update.Back:
			_ = t.Return() // it has done so itself where it may
			return fmt.Errorf("%s does not work here: %s. The former program runs again", version, t.Why)
		}
		select {
		case <-ctx.Done():
			return ctx.Err() // it goes on without this command
		case <-time.After(updateLook):
		}
	}
	return errors.Join(fmt.Errorf("%s ended and nobody has started it again: start the former program, which is back", version),
		c.takeBack("it ended before it was ready"))
}

// takeBack gives an update up that cannot do so itself.
func (c command) takeBack(why string) error {
	t, err := update.Last(c.stateDir)
	if err != nil || t == nil {
		return err
	}
	return t.GiveUp(why)
}
