package appliance

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"sensegate/api/admin"
	"sensegate/api/box/preflight"
	"sensegate/api/box/provision"
	"sensegate/store"
	"sensegate/store/durable"
	"sensegate/store/regular"
)

// ownProvision is the file in the state directory that asks for what is made at the first start.
const ownProvision = "provision.yaml"

// provisionFile returns the path of the file that asks for what is made at the first start, whether it is there or not.
func (c *Config) provisionFile() string {
	return cmp.Or(c.Provision, filepath.Join(c.StateDir, ownProvision))
}

// provisionable returns why that file cannot be read as one that is carried out: that of the state directory is
// removed afterwards, and of a pipe or a device there may be no end.
func (c *Config) provisionable() (fs.FileInfo, error) {
	path, look := c.provisionFile(), os.Stat
	if c.Provision == "" {
		look = os.Lstat
	}
	info, err := look(path)
	switch {
	case err != nil:
		return nil, err
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, fmt.Errorf("%s is a link, and what it leads to would stay with its secrets: put the file itself there, or name it by provision_file", path)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	return info, nil
}

// readProvision reads that file. begun is what an earlier try may have written. Mistakes come as an
// *admin.ConfigError.
func (c *Config) readProvision(begun *provision.Begun) (*provision.Document, error) {
	if _, err := c.provisionable(); err != nil {
		return nil, err
	}
	var d provision.Document
	_, err := admin.LoadConfig(c.provisionFile(), nil, &d, func() error {
		return d.Validate(provision.Others{Uplinks: c.Uplinks, Relay: c.Relay, StateDir: c.StateDir, Begun: begun})
	})
	return &d, err
}

// beginProvision notes that a first start has begun which has something to make, for doctor, which does not look into
// the database.
func (a *Appliance) beginProvision(ctx context.Context) error {
	if _, err := os.Lstat(a.config.provisionFile()); err != nil && a.config.Provision == "" {
		return nil
	}
	if done, unused, err := a.provisioned(ctx); err != nil || done.At != 0 || !unused {
		return err
	}
	return provision.Begin(a.config.StateDir)
}

// provisioned returns whether something was made at the first start, and whether nobody has used the appliance yet.
func (a *Appliance) provisioned(ctx context.Context) (done store.Provisioned, unused bool, err error) {
	err = a.db.View(ctx, func(tx *store.Tx) (err error) {
		unused = tx.Unused()
		done, err = tx.Provisioned()
		return err
	})
	return done, unused, err
}

// provision makes at the first start what an integrator's file asks for: all of it, or it is an error. It does
// nothing where there is no such file, or this is not the first start.
func (a *Appliance) provision(ctx context.Context) error {
	path := a.config.provisionFile()
	_, err := a.config.provisionable()
	var raw []byte
	if err == nil {
		raw, err = regular.Read(path)
	}
	gone := errors.Is(err, fs.ErrNotExist)
	sum := sha256.Sum256(raw)
	done, unused, again := a.provisioned(ctx)
	switch {
	case again != nil:
		return again
	case done.At != 0 && done.SHA256 == sum:
		return a.retireProvision(path)
	case done.At != 0 || !unused:
		if !gone {
			a.log.Warn("the file of what is made at the first start is left as it is: this is not the first one", "path", path)
		}
		return provision.End(a.config.StateDir)
	case gone && a.config.Provision == "":
		return nil
	case err != nil:
		return fmt.Errorf("what is to be made at the first start: %w", err)
	}
	begun, err := provision.ReadBegun(a.config.StateDir)
	if err != nil {
		return err
	}
	d, err := a.config.readProvision(begun)
	if err != nil {
		return err
	}
	if err := (provision.Applier{DB: a.db, Accounts: a.parts.Accounts, StateDir: a.config.StateDir}).Apply(ctx, d, sum); err != nil {
		return fmt.Errorf("nothing of %s is made: %w", path, err)
	}
	a.log.Info("made what was asked for at the first start", "accounts", len(d.Accounts), "api_keys", len(d.APIKeys), "mqtt_users", len(d.MQTTUsers), "uplinks", len(d.Uplinks))
	return a.retireProvision(path)
}

// retireProvision removes the file of the state directory, which may hold secrets, and leaves a note.
// A file that the configuration names belongs to somebody else and stays.
func (a *Appliance) retireProvision(path string) error {
	if err := provision.End(a.config.StateDir); err != nil || a.config.Provision != "" {
		return err
	}
	text := fmt.Sprintf("What %s asked for was made, and the file was removed on %s UTC because it could hold secrets.\nThe audit log says what was made: sensegate audit\n", ownProvision, time.Now().UTC().Format(time.DateTime))
	return errors.Join(durable.WriteFile(path+".applied", []byte(text)), os.Remove(path), durable.SyncDirectory(filepath.Dir(path)))
}

// lookAtProvision says what becomes of the file that asks for what is made at the first start.
func (c *Config) lookAtProvision() (found []preflight.Finding) {
	path := c.provisionFile()
	add := func(grade preflight.Grade, says, fix string) {
		found = append(found, preflight.Finding{What: "provisioning", Grade: grade, Says: says, Fix: fix})
	}
	_, err := os.Stat(admin.Database(c.StateDir))
	begun, unread := provision.ReadBegun(c.StateDir)
	first := errors.Is(err, fs.ErrNotExist) || begun != nil
	info, err := c.provisionable()
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(unread, fs.ErrPermission):
		return nil // the state directory tells more
	case unread != nil:
		add(preflight.Wrong, unread.Error(), "Remove it")
		return found
	case errors.Is(err, fs.ErrNotExist) && (c.Provision == "" || !first):
		return nil
	case !first && c.Provision == "":
		add(preflight.Warning, path+" is there, and so is a database: it is carried out only where nobody has an account, a key or a network yet", "Remove it, as it may hold secrets, unless the first start did not come to its end")
		return found
	case !first:
		return nil
	}
	d, err := c.readProvision(begun)
	var wrong *admin.ConfigError
	switch {
	case errors.As(err, &wrong):
		for _, m := range wrong.Mistakes {
			at := path
			if m.Line > 0 {
				at += fmt.Sprint(":", m.Line)
			}
			add(preflight.Wrong, at+": "+m.Text, "")
		}
		return found
	case errors.Is(err, fs.ErrNotExist):
		add(preflight.Wrong, err.Error(), "Put the file there, or let provision_file be empty")
		return found
	case err != nil:
		add(preflight.Wrong, err.Error(), "")
		return found
	}
	add(preflight.Fine, fmt.Sprintf("the first start makes %d accounts, %d API keys, %d MQTT users and %d uplinks", len(d.Accounts), len(d.APIKeys), len(d.MQTTUsers), len(d.Uplinks)), "")
	for _, path := range d.Files() {
		if err := preflight.OwnerCannotWrite(c.StateDir, filepath.Dir(path)); err != nil {
			add(preflight.Warning, path+" is to be made: "+err.Error(), "Let that user write there, or name another directory")
		}
	}
	if info != nil && info.Mode().Perm()&0o077 != 0 {
		add(preflight.Warning, path+" can be read by others", "chmod 0600 "+path)
	}
	return found
}
