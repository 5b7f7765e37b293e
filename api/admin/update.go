package admin

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"sensegate/api/box/preflight"
	"sensegate/api/update"
	"sensegate/motion/fault"
	"sensegate/store"
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

// Times of the update command.
const (
	updateLook  = 200 * time.Millisecond // between two looks
	updateAsk   = time.Minute            // for an answer of the appliance
	updateQuiet = 90 * time.Second       // for which nothing may run; a supervisor waits up to a minute before a start
)

// updateProgram is the update command. It works whether the appliance runs or not. It replaces the program
// that it runs as, whatever the appliance, which may be another user's, says of itself.
func updateProgram(flags *flag.FlagSet) action {
	older := flags.Bool("older", false, "take one that was built before the present one, too")
	cancel := flags.Bool("cancel", false, "give up an update that was not tried yet, or whose program does not run, or go back from the last one; a damaged note is moved aside")
	return func(ctx context.Context, c command, arguments []string) error {
		if *cancel && len(arguments) > 0 {
			return errors.New("-cancel takes no file")
		}
		u := updating{command: c, gives: *cancel}
		if err := u.begin(ctx); err != nil && (len(arguments) == 0 || !errors.Is(err, update.ErrVoid)) { // a file takes the place of what is void
			return err
		}
		switch {
		case *cancel:
			return u.cancel()
		case len(arguments) == 0 && u.finished:
			return nil
		case len(arguments) == 0:
			return u.goOn(ctx)
		}
		path, err := single(arguments, "the file of the new program; nothing tells how the last update is doing")
		if err != nil {
			return err
		}
		return u.install(ctx, path, *older)
	}
}

// updating is an update command of an appliance.
type updating struct {
	command
	own     string       // path of the program
	running *Client      // nil: it does not run
	last    *update.Note // nil: there was none

	gives    bool // it is to give the last one up
	finished bool // the program of the last one was installed by this command
}

// begin looks what there is, and installs the program of the last update if that was good.
func (u *updating) begin(ctx context.Context) (err error) {
	if u.own, err = update.Program(); err != nil {
		return err
	}
	for list, how := range packages {
		if _, err := os.Stat(list); err == nil && u.own == packaged {
			return fmt.Errorf("%s comes from a package: %s", packaged, how)
		}
	}
	if err := lived(u.stateDir); err != nil || u.gives {
		return err
	}
	const write = 2 // as access(2) has it
	if err := syscall.Access(filepath.Dir(u.own), write); err != nil {
		return fmt.Errorf("replace %s: %w: run the command as root, or as who may write there", u.own, err)
	}
	if u.running, err = openRunning(ctx, u.stateDir); err != nil {
		return err
	}
	u.last, err = update.Last(u.stateDir)
	if err != nil {
		return err
	}
	if u.last == nil || u.last.State != update.Good {
		return nil
	}
	return u.finish()
}

// finish installs the program that was good.
func (u *updating) finish() (err error) {
	if u.last, err = update.Finish(u.stateDir, u.own); err == nil && u.last != nil {
		u.finished = true
		fmt.Fprintf(u.out, "%s is installed. The former program is %s.\n", u.last.Version, update.FormerOf(u.own))
	}
	return err
}

// cancel gives the update up.
func (u *updating) cancel() error {
	n, err := update.Cancel(u.stateDir, u.own, u.usable)
	if err != nil {
		return err
	}
	if n == nil {
		fmt.Fprintln(u.out, "The damaged note of an update is moved aside: the next start runs the present program. If the database is newer than that: sensegate restore, with the backup from before.")
		return nil
	}
	says := "is given up"
	if n.State == update.Failed {
		says += ": the next start of the appliance goes back to the former program, and to the database from before if that was changed: what was stored since is kept aside only"
	}
	fmt.Fprintf(u.out, "%s %s.\n", n.Version, says)
	return nil
}

// usable returns why the appliance, whose user may be another one, could not take back the backup of a name.
func (u *updating) usable(backup string) error {
	database := Database(u.stateDir)
	if err := cmp.Or(Replaceable(u.stateDir), store.CheckBackup(database, backup)); err != nil {
		return err
	}
	if err := preflight.OwnerCannotReplace(u.stateDir, filepath.Join(store.BackupDirectory(database), backup)); err != nil {
		return fmt.Errorf("%w (%s)", err, preflight.Give(u.stateDir, store.BackupDirectory(database)))
	}
	return nil
}

// Replaceable returns why the database of a state directory cannot be replaced by the one from before an update.
func Replaceable(stateDir string) error {
	info, err := os.Lstat(Database(stateDir))
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return nil
	}
	return fault.New(fault.Conflict, "%s is a link, and the database from before could not take its place: stop the appliance and move the file back, or all of its directory to where the link leads (state_dir)", Database(stateDir))
}

// goOn goes on with the last update, and tells how it is doing.
func (u *updating) goOn(ctx context.Context) error {
	if u.last != nil && (u.running != nil || len(update.Serving(u.own)) > 0) {
		switch u.last.State {
		case update.Trying:
			if u.last.Attempts == 0 && u.running != nil {
				return u.start(ctx)
			}
			return u.await(ctx)
		case update.Failed:
			return u.await(ctx)
		}
	}
	if u.last == nil || u.last.State == update.Returned {
		update.RemoveNext(u.own)
	}
	return u.print(u.last, func(w io.Writer) { fmt.Fprintln(w, told(u.last)) })
}

// told says how an update is doing.
func told(n *update.Note) string {
	if n == nil {
		return "No update is under way."
	}
	says, fix := n.Tell()
	if says == "" {
		return n.Version + " was installed."
	}
	return says + ": " + fix
}

// install has the program at a path tried.
func (u *updating) install(ctx context.Context, path string, older bool) (err error) {
	try := u.try
	if u.running == nil {
		if pids := update.Serving(u.own); len(pids) > 0 {
			return fmt.Errorf("process %d runs %s, but no appliance answers in %s: name its state directory with -state-dir, wait until it is ready, or stop it first", pids[0], u.own, u.stateDir)
		}
		parts, err := u.offline("", u.stateDir)
		if err != nil {
			return err
		}
		try = func(_ context.Context, next string) error { return parts.TryProgram(next) }
	}
	u.last, err = update.Install(u.stateDir, u.own, path, older, func(next string) error { return try(ctx, next) })
	if err != nil {
		return err
	}
	if u.running == nil {
		fmt.Fprintln(u.out, told(u.last))
		return nil
	}
	return u.start(ctx)
}

// try lets the running appliance try the next program, as its user and with its configuration.
func (u *updating) try(ctx context.Context, _ string) error {
	ctx, cancel := context.WithTimeout(ctx, updateAsk)
	defer cancel()
	var served program
	if err := u.running.do(ctx, http.MethodGet, "/program", nil, &served); err != nil {
		return err
	}
	if served.Path != u.own {
		return fmt.Errorf("the appliance of %s runs another program than %s: run the command with that one", u.stateDir, u.own)
	}
	return u.running.do(ctx, http.MethodPost, "/program/try", nil, &struct{}{})
}

// start lets the running appliance start anew, and waits what becomes of the new program.
func (u *updating) start(ctx context.Context) error {
	asking, cancel := context.WithTimeout(ctx, updateAsk)
	defer cancel()
	if err := u.running.do(asking, http.MethodPost, "/restart", program{u.own, u.last.Version}, &struct{}{}); err != nil {
		return fmt.Errorf("%s: %w", told(u.last), err)
	}
	return u.await(ctx)
}

// await tells how the update goes on, until the new program is installed or the former one is back, or nothing
// runs any more.
func (u *updating) await(ctx context.Context) error {
	done, said, runs := func() {}, "", time.Now()
	defer func() { done() }()
	for known := *u.last; ; {
		last, err := update.Last(u.stateDir)
		switch {
		case err != nil:
			return err
		case last == nil || last.New != known.New:
			return update.ErrVoid
		case last.State == update.Good, last.State == update.Taken:
			done()
			return u.finish()
		case last.State == update.Returned:
			update.RemoveNext(u.own)
			return errors.New(told(last))
		}
		if says, _ := last.Tell(); says != said {
			done()
			said, done = says, u.waiting(says)
		}
		if len(update.Serving(u.own)) > 0 {
			runs = time.Now()
		}
		if time.Since(runs) > updateQuiet {
			return fmt.Errorf("%s, but nothing runs: start the appliance", said)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s, which goes on without this command: sensegate update tells how", said)
		case <-time.After(updateLook):
		}
	}
}
