package staging

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"sensegate/api/box/passphrase"
	"sensegate/store"
)

// Download is a copy of the database on its way to somebody. It is of the moment at which it
// was made: the database goes on, however slow the receiver is. It is used by one goroutine.
type Download struct {
	Name string // of the file: the date, .db, and .age when it is encrypted
	Size int64  // of what WriteTo writes, bytes

	copied *os.File // has no name
	header bytes.Buffer
	to     *redirected    // nil: it is not encrypted
	cipher io.WriteCloser // writes to to
}

// redirected passes on what is written, to the header's buffer first.
type redirected struct{ io.Writer }

// Backup copies the database for a download, encrypted unless words is "". A passphrase that is
// too short is an Invalid fault, and too little room for the copy a Conflict of code no_room.
// The caller closes it.
func (s *Staging) Backup(ctx context.Context, words string) (_ *Download, err error) {
	if words != "" {
		if err := passphrase.Check(words); err != nil {
			return nil, err
		}
	}
	copied, size, err := s.o.DB.Snapshot(ctx)
	switch {
	case errors.Is(err, store.ErrNoRoom):
		return nil, noRoom("the disk has too little room for the copy that is sent: make room first")
	case err != nil:
		return nil, err
	}
	d := &Download{Name: s.o.Now().Format("sensegate-2006-01-02") + ".db", Size: size, copied: copied}
	if words == "" {
		return d, nil
	}
	s.deriving.Lock()
	defer s.deriving.Unlock()
	d.to = &redirected{&d.header}
	if d.cipher, err = passphrase.Encrypt(d.to, words); err != nil {
		return nil, errors.Join(err, copied.Close())
	}
	d.Name, d.Size = d.Name+".age", int64(d.header.Len())+passphrase.EncryptedSize(size)
	return d, nil
}

// WriteTo writes the backup, Size bytes, and is called once. What was cut off cannot be
// restored.
func (d *Download) WriteTo(w io.Writer) (int64, error) {
	counted := &counter{to: w}
	err := d.send(counted)
	if err == nil && counted.n != d.Size {
		err = fmt.Errorf("the backup has %d bytes, and was said to have %d", counted.n, d.Size)
	}
	return counted.n, err
}

func (d *Download) send(w io.Writer) error {
	if d.to == nil {
		_, err := io.Copy(w, d.copied)
		return err
	}
	if _, err := d.header.WriteTo(w); err != nil {
		return err
	}
	d.to.Writer = w
	if _, err := io.Copy(d.cipher, d.copied); err != nil {
		return err // not closed: the file is not complete
	}
	return d.cipher.Close()
}

// Close removes the copy.
func (d *Download) Close() error { return d.copied.Close() }

// counter counts what is written.
type counter struct {
	to io.Writer
	n  int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.to.Write(p)
	c.n += int64(n)
	return n, err
}
