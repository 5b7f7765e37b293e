package admin

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"sensegate/api/box/passphrase"
	"sensegate/api/box/staging"
	"sensegate/motion"
	"sensegate/store"
	"sensegate/store/durable"
)

// serveBackup answers with a copy of the database. The copy is made before the first byte is
// sent, so that a slow reader delays nothing else.
func (s *Server) serveBackup(w http.ResponseWriter, r *http.Request) {
	file, size, err := s.box.Backup(r.Context(), actor(r), r.URL.Query().Get("encrypted") == "true")
	if err != nil {
		s.refuse(w, r.Pattern, err)
		return
	}
	defer file.Close()
	w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
	if _, err := io.Copy(w, file); err != nil {
		s.box.Log.Warn("backup not sent completely", "err", err)
		return
	}
	s.box.Log.Info("backup sent", "bytes", size)
}

// backupMade is the answer of the backup command.
type backupMade struct {
	Path      string `json:"path"`
	Size      int64  `json:"size"` // bytes
	Encrypted bool   `json:"encrypted"`
}

// makeBackup is the backup command.
func makeBackup(flags *flag.FlagSet) action {
	output := flags.String("o", "", "file to write, which is not there yet, - for standard output; empty: sensegate-TIME.backup here")
	secret := flags.String("passphrase-file", "", "encrypt with the passphrase in the first line of this file, - for standard input")
	return func(ctx context.Context, c command, arguments []string) error {
		if len(arguments) > 0 {
			return errors.New("backup takes no argument: name the file by -o")
		}
		var words string
		if *secret != "" {
			var err error
			if words, err = newPassphrase(*secret); err != nil {
				return err
			}
		}
		made := backupMade{Path: *output, Encrypted: words != ""}
		if _, err := os.Stat(made.Path); err == nil && made.Path != "" && made.Path != "-" {
			return fmt.Errorf("%s is there already: name another file by -o, or remove it first", made.Path)
		}
		copying := c.waiting("copying the database")
		answer, err := c.client.exchange(ctx, http.MethodGet, "/backup?encrypted="+strconv.FormatBool(made.Encrypted), http.NoBody)
		copying()
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		copied := c.counting(answer.Body, "written", answer.ContentLength)
		if *output == "-" {
			_, err := writeBackup(c.out, copied, words)
			return err
		}
		if made.Path == "" {
			made.Path = time.Now().Format("sensegate-20060102-150405.backup")
		}
		if made.Size, err = saveBackup(made.Path, copied, words); err != nil {
			return fmt.Errorf("write the backup: %w", err)
		}
		copied.done()
		return c.print(made, func(w io.Writer) {
			fmt.Fprintf(w, "%s: %d bytes\n\nIt holds homes, accounts and history: keep it where nobody else reads it. It does not\nhold the configuration, the certificates and signing.json of the state directory.\n", made.Path, made.Size)
		})
	}
}

// saveBackup writes a backup to a file, whole or not at all.
func saveBackup(path string, from io.Reader, words string) (size int64, err error) {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.new") // mode 0600
	if err != nil {
		return 0, err
	}
	size, err = writeBackup(file, from, words)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return 0, errors.Join(err, os.Remove(file.Name()))
	}
	return size, durable.SyncDirectory(filepath.Dir(path))
}

// writeBackup writes a backup, encrypted when there is a passphrase, and returns how
// many bytes it had before that.
func writeBackup(to io.Writer, from io.Reader, words string) (int64, error) {
	if words == "" {
		return io.Copy(to, from)
	}
	writer, err := passphrase.Encrypt(to, words)
	if err != nil {
		return 0, err
	}
	size, err := io.Copy(writer, from)
	if err != nil {
		return size, err // not closed: the file is not complete
	}
	return size, writer.Close()
}

// restoreBackup is the restore command; no appliance may run.
func restoreBackup(flags *flag.FlagSet) action {
	secret := flags.String("passphrase-file", "", "file with the passphrase of an encrypted backup in its first line, - for standard input")
	return withArgument("the file of the backup", func(ctx context.Context, c command, path string) error {
		file, err := os.Open(path)
		if err != nil {
			return fmt.Errorf("read the backup: %w", err)
		}
		defer file.Close()
		about, err := file.Stat()
		if err != nil {
			return fmt.Errorf("read the backup: %w", err)
		}
		shown := c.counting(file, "read", about.Size())
		plain, err := decrypted(shown, *secret)
		if err != nil {
			return err
		}
		done, err := store.Restore(ctx, store.Options{Path: Database(c.stateDir)}, plain)
		shown.done()
		if err != nil {
			return err
		}
		why := "another backup was restored at the terminal before"
		if err := staging.Withdraw(staging.Directory(c.stateDir), why, motion.TimeOf(time.Now())); err != nil {
			return err
		}
		return c.print(done, func(w io.Writer) {
			fmt.Fprintf(w, "restored %s: %d networks, %d accounts, installed %s\n", Database(c.stateDir), done.Networks, done.Users, when(done.InstalledAt))
			if done.Aside != "" {
				fmt.Fprintf(w, "The former database is %s: remove it when all is well.\n", done.Aside)
			}
		})
	})
}

func (s *Server) serveLayout(r *http.Request) (any, error) { return s.box.Layout(r.Context()) }

func (s *Server) serveCheck(r *http.Request) (any, error) { return s.box.Check(r.Context()) }

func showLayout(w io.Writer, l store.Layout) {
	fmt.Fprintln(w, "BUCKET\tKEYS\tBYTES\tPAGES")
	for _, b := range l.Buckets {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\n", b.Name, b.Keys, b.Bytes, b.Pages)
	}
	fmt.Fprintf(w, "\n%s: schema %d, %d bytes, %d pages of %d bytes, %d of them free\n", l.Path, l.Schema, l.Size, l.Pages, l.PageSize, l.FreePages)
}

func checkDatabase(ctx context.Context, c command, _ []string) error {
	var left store.LeftOut
	checking := c.waiting("checking a copy of the database")
	err := c.client.do(ctx, http.MethodGet, "/db/check", nil, &left)
	checking()
	if err != nil {
		return err
	}
	if err := c.print(left, func(w io.Writer) { fmt.Fprintln(w, "every page and every index is whole") }); err != nil {
		return err
	}
	if left != (store.LeftOut{}) {
		return fmt.Errorf("%d records of the history and %d blocks of samples cannot be read: they are left out of every answer, and go when their time is over", left.Records, left.Samples)
	}
	return nil
}

// compactDatabase is the db compact command; no appliance may run.
func compactDatabase(ctx context.Context, c command, _ []string) error {
	compacting := c.waiting("writing the database anew")
	done, err := store.Compact(ctx, store.Options{Path: Database(c.stateDir)})
	compacting()
	if err != nil {
		return err
	}
	return c.print(done, func(w io.Writer) { fmt.Fprintf(w, "%d bytes, before %d\n", done.After, done.Before) })
}
