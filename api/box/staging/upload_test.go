package staging

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"sensegate/motion/fault"
)

// codeOf returns the code of a fault.
func codeOf(err error) string {
	var f *fault.Error
	if !errors.As(err, &f) {
		return ""
	}
	return f.Code
}

func TestBackupIsSentWithItsNameAndSize(t *testing.T) {
	t.Parallel()
	s := newStand(t, "a41f")
	s.now = time.Date(2026, 11, 25, 23, 30, 0, 0, time.Local)
	for words, name := range map[string]string{"": "sensegate-2026-11-25.db", words: "sensegate-2026-11-25.db.age"} {
		d, err := s.Backup(t.Context(), words)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		n, err := d.WriteTo(&out)
		if err := errors.Join(err, d.Close()); err != nil || d.Name != name || n != d.Size || int64(out.Len()) != d.Size {
			t.Errorf("%s with %d bytes, said %d of %s: %v", d.Name, out.Len(), d.Size, name, err)
		}
		if encrypted := !bytes.Contains(out.Bytes(), []byte("a41f")); encrypted != (words != "") {
			t.Errorf("%s: encrypted %v", name, encrypted)
		}
	}
	if _, err := s.Backup(t.Context(), "short"); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a short passphrase: %v", err)
	}
}

func TestUploadIsStagedForItsOwnerAloneAndSurvivesARestart(t *testing.T) {
	t.Parallel()
	for name, secret := range map[string]string{"plain": "", "encrypted": words} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, source := newStand(t, "a41f"), newStand(t, "b52f")
			data := source.backup(secret)
			got, err := s.Stage(t.Context(), Upload{Body: iotest.HalfReader(bytes.NewReader(data)), Size: int64(len(data)), Passphrase: secret, By: jo})
			if err != nil || got.Networks != 1 || got.By != jo || got.UploadedAt.IsZero() {
				t.Fatalf("staged %+v, %v", got, err)
			}
			for _, path := range append(s.files(), "") {
				info, err := os.Stat(filepath.Join(Directory(s.dir), path))
				if err != nil || info.Mode().Perm()&0o077 != 0 {
					t.Errorf("%q has mode %v, %v", path, info.Mode(), err)
				}
			}
			s.startAgain()
			if staged, err := s.Staged(); err != nil || staged == nil || staged.UploadedAt != got.UploadedAt || staged.InstalledAt != got.InstalledAt {
				t.Errorf("after a restart %+v, %v, want %+v", staged, err, got)
			}
			if s.guardian() != "a41f" || s.restarts != 0 {
				t.Errorf("the database is that of %s, %d restarts", s.guardian(), s.restarts)
			}
		})
	}
}

// endless sends a beginning, and then the same for ever.
type endless struct {
	begin io.Reader
	sent  int64
}

func (e *endless) Read(p []byte) (int, error) {
	n, err := e.begin.Read(p)
	if err != nil {
		clear(p)
		n = len(p)
	}
	e.sent += int64(n)
	return n, nil
}

func TestRefusedUploadSaysWhyAndLeavesTheFormerOne(t *testing.T) {
	t.Parallel()
	s := newStand(t, "a41f")
	whole, secret := s.backup(""), s.backup(words)
	changed := bytes.Clone(whole)
	changed[len(changed)/2] ^= 1
	kept := s.stage(whole)
	files := s.files()
	for name, c := range map[string]struct {
		upload Upload
		free   int64
		kind   fault.Kind
		code   string
	}{
		"cut off":                        {upload: Upload{Body: bytes.NewReader(whole[:len(whole)-9])}, kind: fault.Invalid, code: Damaged},
		"changed":                        {upload: Upload{Body: bytes.NewReader(changed)}, kind: fault.Invalid, code: Damaged},
		"empty":                          {upload: Upload{Body: strings.NewReader("")}, kind: fault.Invalid, code: Foreign},
		"encrypted and cut off":          {upload: Upload{Body: bytes.NewReader(secret[:len(secret)-9]), Passphrase: words}, kind: fault.Invalid, code: Damaged},
		"of a newer program":             {upload: Upload{Body: bytes.NewReader(newer(t, whole))}, kind: fault.Invalid, code: Newer},
		"a picture":                      {upload: Upload{Body: strings.NewReader("\x89PNG\r\n and so on")}, kind: fault.Invalid, code: Foreign},
		"no passphrase":                  {upload: Upload{Body: bytes.NewReader(secret)}, kind: fault.Invalid, code: Passphrase},
		"a wrong passphrase":             {upload: Upload{Body: bytes.NewReader(secret), Passphrase: "wrong horse battery staple"}, kind: fault.Invalid, code: Passphrase},
		"said to be too large":           {upload: Upload{Body: iotest.ErrReader(errors.New("read")), Size: 65 << 20}, kind: fault.TooLarge, code: TooLarge},
		"no room for what is said":       {upload: Upload{Body: iotest.ErrReader(errors.New("read")), Size: 20 << 20}, free: 20 << 20, kind: fault.Conflict, code: NoRoom},
		"no room left at all":            {upload: Upload{Body: iotest.ErrReader(errors.New("read"))}, free: 1 << 20, kind: fault.Conflict, code: NoRoom},
		"broken off":                     {upload: Upload{Body: io.MultiReader(bytes.NewReader(whole[:9000]), iotest.ErrReader(io.ErrUnexpectedEOF))}, kind: fault.Malformed},
		"encrypted and broken off":       {upload: Upload{Body: io.MultiReader(bytes.NewReader(secret[:9000]), iotest.ErrReader(io.ErrUnexpectedEOF)), Passphrase: words}, kind: fault.Malformed},
		"encrypted, and what is in it":   {upload: Upload{Body: bytes.NewReader(secretly(t, "no backup")), Passphrase: words}, kind: fault.Invalid, code: Foreign},
		"broken off before its first kB": {upload: Upload{Body: iotest.ErrReader(io.ErrUnexpectedEOF)}, kind: fault.Malformed},
	} {
		if s.free = 1 << 40; c.free > 0 {
			s.free = c.free
		}
		if _, err := s.Stage(t.Context(), c.upload); fault.KindOf(err) != c.kind || codeOf(err) != c.code {
			t.Errorf("%s: error %v (kind %d, code %q), want kind %d, code %q", name, err, fault.KindOf(err), codeOf(err), c.kind, c.code)
		}
		if staged, err := s.Staged(); err != nil || staged == nil || staged.UploadedAt != kept.UploadedAt || !slices.Equal(s.files(), files) {
			t.Errorf("%s: left %+v, %v, files %v", name, staged, err, s.files())
		}
	}
}

// secretly returns a text that is encrypted as a backup is.
func secretly(t *testing.T, text string) []byte {
	t.Helper()
	return encryptedWith(t, words, []byte(text))
}

func TestEndlessUploadEnds(t *testing.T) {
	t.Parallel()
	s := newStand(t, "a41f")
	whole := s.backup("")
	for name, c := range map[string]struct {
		begin []byte
		most  int64
		room  int64 // bytes beyond the reserve
		code  string
	}{
		"that is no backup":           {[]byte("zeros"), 64 << 20, 1 << 40, Foreign},
		"beyond what may be uploaded": {whole, 8 << 20, 1 << 40, TooLarge},
		"beyond the room on the disk": {whole, 64 << 20, 8 << 20, NoRoom},
	} {
		s.o.MaxSize = c.most
		body := &endless{begin: bytes.NewReader(c.begin)}
		before := c.room + s.o.MinFree
		s.o.Free = func(string) (int64, error) { return before - body.sent, nil }
		if _, err := s.Stage(t.Context(), Upload{Body: body}); codeOf(err) != c.code {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
		if body.sent > 10<<20 {
			t.Errorf("%s: %d bytes were taken", name, body.sent)
		}
		if left := s.files(); len(left) > 0 {
			t.Errorf("%s: %v is left", name, left)
		}
	}
}

func TestSecondUploadAtOnceIsAConflict(t *testing.T) {
	t.Parallel()
	s := newStand(t, "a41f")
	data := s.backup("")
	body, sender := io.Pipe()
	first := make(chan error, 1)
	go func() {
		_, err := s.Stage(t.Context(), Upload{Body: body, By: jo})
		first <- err
	}()
	if _, err := sender.Write(data[:100]); err != nil { // it is being read
		t.Fatal(err)
	}
	if _, err := s.Stage(t.Context(), Upload{Body: bytes.NewReader(data)}); fault.KindOf(err) != fault.Conflict || codeOf(err) != "uploading" {
		t.Errorf("the second upload: %v", err)
	}
	_, err := sender.Write(data[100:])
	if err := errors.Join(err, sender.Close(), <-first); err != nil {
		t.Fatal(err)
	}
	if staged, err := s.Staged(); err != nil || staged == nil || staged.By != jo {
		t.Errorf("staged %+v, %v", staged, err)
	}
	s.stage(data)
	if got := s.files(); len(got) != 2 {
		t.Errorf("%v are kept, want one backup with what it is", got)
	}
}

func TestLeftoversOfAnUploadAreRemovedAtStart(t *testing.T) {
	t.Parallel()
	s := newStand(t, "a41f")
	s.stage(s.backup(""))
	files := s.files()
	for _, name := range []string{"upload", "upload.pid", "ABC.db", "staged.json.new"} {
		if err := os.WriteFile(filepath.Join(Directory(s.dir), name), []byte("left"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.startAgain()
	if got := s.files(); !slices.Equal(got, files) {
		t.Errorf("%v are left, want %v", got, files)
	}
}

func TestStagedBackupWaitsADay(t *testing.T) {
	t.Parallel()
	s := newStand(t, "a41f")
	s.stage(s.backup(""))
	uploaded := s.now
	for _, c := range []struct {
		after time.Duration
		there bool
	}{{Kept - time.Second, true}, {-48 * time.Hour, true}, {Kept, false}} {
		s.now = uploaded.Add(c.after)
		s.startAgain()
		if staged, err := s.Staged(); err != nil || (staged != nil) != c.there {
			t.Errorf("after %v: %+v, %v, want it there: %v", c.after, staged, err, c.there)
		}
	}
	if left := s.files(); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
	s.stage(s.backup(""))
	s.now = s.now.Add(Kept)
	if err := s.expire(); err != nil || len(s.files()) > 0 {
		t.Errorf("without a restart %v is left, %v", s.files(), err)
	}
}

func TestStagedBackupIsDropped(t *testing.T) {
	t.Parallel()
	s := newStand(t, "a41f")
	if err := s.Drop(); err != nil {
		t.Errorf("nothing is staged: %v", err)
	}
	s.stage(s.backup(""))
	if err := s.Drop(); err != nil {
		t.Error(err)
	}
	if staged, err := s.Staged(); err != nil || staged != nil || len(s.files()) > 0 {
		t.Errorf("left %+v, %v, files %v", staged, err, s.files())
	}
}
