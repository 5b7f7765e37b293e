package admin

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"sensegate/api/box"
	"sensegate/store"
	"sensegate/store/regular"
)

func (s *Server) serveSupport(w http.ResponseWriter, r *http.Request) {
	archive, err := s.box.Support(r.Context(), actor(r))
	if err != nil {
		s.refuse(w, r.Pattern, err)
		return
	}
	if _, err := w.Write(archive); err != nil {
		s.box.Log.Warn("support bundle not sent completely", "err", err)
	}
}

// makeSupport is the support command. It works whether the appliance runs or not, without a database
// that can be opened, and with mistakes in the configuration.
func makeSupport(flags *flag.FlagSet) action {
	output := flags.String("o", "", "file to write, - for standard output; empty: sensegate-support-TIME.zip here")
	config := flags.String("config", "", "configuration file of an appliance that does not run; empty: the installed one")
	return func(ctx context.Context, c command, arguments []string) error {
		if len(arguments) > 0 {
			return errors.New("support takes no argument: name the file by -o")
		}
		if info, err := os.Stat(*output); err == nil && info.IsDir() {
			return fmt.Errorf("%s is a directory: name a file in it by -o", *output)
		}
		if err := regular.Mistake(*output); err != nil { // its place would be taken
			return fmt.Errorf("-o: %w; - is standard output", err)
		}
		named := *config == ""
		flags.Visit(func(f *flag.Flag) { named = named || f.Name == "state-dir" })
		making := c.waiting("looking at everything")
		archive, err := c.support(ctx, *config, named)
		making()
		if err != nil {
			return err
		}
		if *output == "-" {
			_, err := c.out.Write(archive)
			return err
		}
		made := backupMade{Path: *output}
		if made.Path == "" {
			made.Path = time.Now().Format("sensegate-support-20060102-150405.zip")
		}
		if made.Size, err = saveBackup(made.Path, bytes.NewReader(archive), ""); err != nil {
			return fmt.Errorf("write the bundle: %w; -o names a file elsewhere, such as /tmp/bundle.zip", err)
		}
		return c.print(made, func(w io.Writer) {
			fmt.Fprintf(w, "%s: %d bytes\n\nIts README.txt says what is in it. Look through it before you hand it on.\n", made.Path, made.Size)
		})
	}
}

// supportTime is more than a bundle takes. Tests have less.
var supportTime = 5 * time.Minute

// support returns a bundle of the running appliance, or of what is left of one. Unless named is set, its state
// directory is that of the configuration.
func (c command) support(ctx context.Context, config string, named bool) ([]byte, error) {
	var of Stopped
	var mistaken error
	if c.offline != nil {
		dir := c.stateDir
		if !named {
			dir = ""
		}
		of, mistaken = c.offline(config, dir)
		c.stateDir = of.StateDir
	}
	client, err := openRunning(ctx, c.stateDir)
	if client == nil {
		c.lacks(of, mistaken)
		if err == nil {
			client, err = openOffline(ctx, c.stateDir, c.said, of.Parts)
		}
	}
	if err != nil {
		fmt.Fprintln(c.said, "sensegate: without the database:", err)
		of.Unopened = err
		var foreign *foreignError
		if errors.As(err, &foreign) {
			of.Whole = foreign.as() + " support"
			fmt.Fprintln(c.said, "sensegate: with it:", of.Whole, "-o - >sensegate-support.zip")
		}
		return box.New(of.Parts).Support(ctx, store.Actor{})
	}
	ctx, cancel := context.WithTimeoutCause(ctx, supportTime, fmt.Errorf("the appliance of %s runs and gives no answer in %v: stop it, and make the bundle then", c.stateDir, supportTime))
	defer cancel()
	answer, err := client.stream(ctx, "/support")
	if err != nil {
		return nil, errors.Join(cmp.Or(context.Cause(ctx), err), client.Close())
	}
	archive, err := io.ReadAll(answer)
	return archive, errors.Join(err, answer.Close(), client.Close())
}

// lacks says what of the configuration and the log a bundle lacks.
func (c command) lacks(of Stopped, mistaken error) {
	if mistaken != nil {
		fmt.Fprintf(c.said, "sensegate: the configuration has mistakes, which the bundle has without their values:\n%v\n", mistaken)
	}
	if of.NoLog != nil {
		fmt.Fprintln(c.said, "sensegate: without the log:", of.NoLog)
	}
}
