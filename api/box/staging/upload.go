package staging

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"sensegate/api/box/passphrase"
	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store"
)

// The codes of refused uploads.
const (
	Damaged    = "damaged"    // it is a backup, and not whole
	Newer      = "newer"      // its schema is one of a newer program
	Foreign    = "foreign"    // it is no backup of this program
	Passphrase = "passphrase" // it is encrypted, and the passphrase is missing or another one
	TooLarge   = "too_large"  // no database here may be as large, or its key takes too much memory
	NoRoom     = "no_room"    // the disk has too little room
)

// usualSize is how many bytes an upload may have: a home's database grows by 20 to 30 KB a
// day, so that this is one of fifty homes after ten years.
const usualSize = 4 << 30

// measureStep is how many bytes are written between two looks at the room on the disk.
const measureStep = 1 << 20

// Upload is a backup as somebody sends it.
type Upload struct {
	Body       io.Reader // as it comes; it is read to its end, or until it is refused
	Size       int64     // bytes that will come, 0: not known
	Passphrase string    // "" = none; a backup that is not encrypted needs none
	By         Person
}

// Stage receives a backup, checks all of it and keeps it in place of the one that was staged
// before. The running database is not touched. A refused one leaves that one there, and is a
// fault with one of the codes above: too large is what has more than Options.MaxSize, or, by
// itself, 4 GiB and twice as much as the present database. There is one upload at a time;
// another one is a Conflict. It takes a second for each 100 MB of a PC's core, minutes on a
// small box, and ends early with ctx.
func (s *Staging) Stage(ctx context.Context, u Upload) (Staged, error) {
	if !s.upload.TryLock() {
		return Staged{}, &fault.Error{Kind: fault.Conflict, Code: "uploading", Message: "another backup is being uploaded: wait until it is there"}
	}
	defer s.upload.Unlock()
	if err := s.ordered(); err != nil {
		return Staged{}, err
	}
	if err := makeDirectory(s.o.Directory); err != nil {
		return Staged{}, fmt.Errorf("stage the backup: %w", err)
	}
	body := &watched{from: u.Body}
	received, err := s.receive(ctx, u, body)
	if err == nil {
		err = s.keep(received)
	}
	if err != nil {
		s.o.Log.Warn("backup not staged", "err", err)
		err = errors.Join(refused(err, body.lost), remove(s.o.Directory, uploadName))
		return Staged{}, err
	}
	s.o.Log.Info("backup staged", "bytes", received.Size, "networks", received.Networks)
	return received.Staged, nil
}

// receive writes what is sent to the file of the upload and checks it.
func (s *Staging) receive(ctx context.Context, u Upload, body io.Reader) (record, error) {
	most := s.mostSize()
	room := &bounded{s: s, most: most}
	if u.Size > most {
		return record{}, room.tooLarge()
	}
	if err := room.require(max(u.Size, measureStep)); err != nil {
		return record{}, err
	}
	plain, err := s.decrypted(body, u.Passphrase)
	if err != nil {
		return record{}, err
	}
	buffered := bufio.NewReaderSize(plain, store.BeginSize)
	begin, err := buffered.Peek(store.BeginSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return record{}, err
	}
	if !store.IsBeginning(begin) {
		return record{}, store.ErrForeign
	}
	room.from = buffered
	path := filepath.Join(s.o.Directory, uploadName)
	found, err := store.Stage(ctx, store.Options{Path: path, Now: s.o.Now, MaxSize: room.largest()}, room)
	if err != nil {
		return record{}, err
	}
	sum, err := digest(ctx, path)
	return record{ID: rand.Text(), SHA256: sum, Staged: Staged{Contents: found, UploadedAt: motion.TimeOf(s.o.Now()), By: u.By}}, err
}

// decrypted returns what a backup holds, which may be encrypted or not.
func (s *Staging) decrypted(body io.Reader, words string) (io.Reader, error) {
	s.deriving.Lock()
	defer s.deriving.Unlock()
	return passphrase.Decrypt(body, words, passphrase.Affordable())
}

// mostSize returns how many bytes an upload may have.
func (s *Staging) mostSize() int64 {
	if s.o.MaxSize > 0 {
		return s.o.MaxSize
	}
	present, err := s.o.DB.Stats(context.Background())
	if err != nil {
		present.Size = 0
	}
	return min(store.Largest(), max(usualSize, 2*present.Size))
}

// keep makes the received backup the staged one. What it replaces goes after that.
func (s *Staging) keep(received record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.ordered(); err != nil {
		return err
	}
	former, err := read[record](s.o.Directory, stagedName)
	if err != nil {
		return err
	}
	at := func(name string) string { return filepath.Join(s.o.Directory, name) }
	if err := os.Rename(at(uploadName), at(received.file())); err != nil {
		return err
	}
	if err := write(s.o.Directory, stagedName, received); err != nil {
		return errors.Join(err, remove(s.o.Directory, received.file()))
	}
	s.kept = s.o.Now()
	if former == nil {
		return nil
	}
	return remove(s.o.Directory, former.file())
}

// watched notes the error that ends what is sent, so that it is not taken for damage.
type watched struct {
	from io.Reader
	lost error
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.from.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		w.lost = err
	}
	return n, err
}

// bounded reads a backup as long as there is room for it.
type bounded struct {
	s          *Staging
	from       io.Reader
	most       int64 // bytes
	read       int64 // so far
	measuredTo int64 // there was room for so many
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.read >= b.measuredTo {
		if err := b.require(measureStep); err != nil {
			return 0, err
		}
		b.measuredTo = b.read + measureStep
	}
	n, err := b.from.Read(p[:min(len(p), measureStep)])
	if b.read += int64(n); b.read > b.most {
		return n, b.tooLarge()
	}
	return n, err
}

// require returns the refusal when so many bytes would leave too little room on the disk.
func (b *bounded) require(bytes int64) error {
	free, err := b.s.o.Free(b.s.o.Directory)
	if err != nil {
		return err
	}
	if free < bytes+b.s.o.MinFree {
		return noRoom(fmt.Sprintf("file: does not fit on the disk: %d MiB are free, and %d MiB of them must stay so; make room and upload it again", free>>20, b.s.o.MinFree>>20))
	}
	return nil
}

// tooLarge returns the refusal of a backup that is.
func (b *bounded) tooLarge() error {
	return &fault.Error{Kind: fault.TooLarge, Code: TooLarge, Message: fmt.Sprintf("file: is larger than the %d MiB that a backup may have here", b.most>>20)}
}

// largest returns how many bytes the file may have when it was received and migrated, so that
// the disk keeps its reserve, before it is begun.
func (b *bounded) largest() int {
	free, err := b.s.o.Free(b.s.o.Directory)
	if err != nil {
		free = 0
	}
	return int(max(1, min(free-b.s.o.MinFree, store.Largest())))
}

// noRoom returns the refusal of a backup that does not fit on the disk.
func noRoom(text string) error {
	return &fault.Error{Kind: fault.Conflict, Code: NoRoom, Message: text}
}

// refused says why a backup was not staged. lost is the error with which the sender went away.
func refused(err, lost error) error {
	refuse := func(code, text string) error {
		return &fault.Error{Kind: fault.Invalid, Code: code, Message: text}
	}
	var known *fault.Error
	switch {
	case lost != nil:
		return fault.New(fault.Malformed, "file: the upload broke off: send it again")
	case errors.As(err, &known) && known.Kind != fault.Unavailable:
		return known
	case known != nil, errors.Is(err, store.ErrNoRoom), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return noRoom("file: does not fit on the disk: make room and upload it again")
	case errors.Is(err, passphrase.ErrMissing), errors.Is(err, passphrase.ErrWrong), errors.Is(err, passphrase.ErrNoWords):
		return refuse(Passphrase, "passphrase: "+err.Error())
	case errors.Is(err, passphrase.ErrMemory):
		return &fault.Error{Kind: fault.TooLarge, Code: TooLarge, Message: "passphrase: " + err.Error() + ": decrypt the backup elsewhere (age -d) and upload the result"}
	case errors.Is(err, store.ErrForeign):
		return refuse(Foreign, "file: is no backup of sensegate")
	case errors.Is(err, store.ErrNewer):
		return refuse(Newer, fmt.Sprintf("file: was %v: update this appliance first", err))
	case errors.Is(err, store.ErrDamaged), errors.Is(err, passphrase.ErrDamaged):
		return refuse(Damaged, "file: is damaged or not complete; the log says what was found") // not where it lies here
	}
	return fmt.Errorf("stage the backup: %w", err)
}

// digest returns the SHA-256 of a file, hex.
func digest(ctx context.Context, path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum := sha256.New()
	buffer := make([]byte, 1<<20)
	for {
		n, err := file.Read(buffer)
		sum.Write(buffer[:n])
		switch {
		case errors.Is(err, io.EOF):
			return hex.EncodeToString(sum.Sum(nil)), nil
		case err != nil:
			return "", err
		case ctx.Err() != nil:
			return "", ctx.Err()
		}
	}
}
