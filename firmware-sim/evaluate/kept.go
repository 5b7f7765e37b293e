package evaluate

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"sensegate/firmware-sim/scenario"
)

// kept are the pieces that former runs have played, and the file that gets those of this one: a line of
// JSON for each.
type kept struct {
	file    *os.File // nil = none
	program string
	pieces  []piece
}

// openKept opens the file at path, or makes it; "" is none. It is locked, because of two runs each would
// play what the other does.
func openKept(path string) (*kept, error) {
	if path == "" {
		return &kept{}, nil
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	k := &kept{file: f}
	if err := k.read(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return k, nil
}

func (k *kept) read() (err error) {
	if err := syscall.Flock(int(k.file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); errors.Is(err, syscall.EWOULDBLOCK) {
		return fmt.Errorf("%s: another run writes to it; name another file, or wait for its end", k.file.Name())
	} else if err != nil {
		return fmt.Errorf("lock %s: %w", k.file.Name(), err)
	}
	if k.program, err = ownDigest(); err != nil {
		return err
	}
	lines := bufio.NewScanner(k.file)
	for lines.Scan() {
		var p piece
		err := json.Unmarshal(lines.Bytes(), &p)
		if err == nil && !(p.Hours > 0 && p.Alone.Hours > 0) {
			err = errors.New("a piece has hours")
		}
		if err != nil {
			return fmt.Errorf("%s, line %d: %w; without that line its piece is played again", k.file.Name(), len(k.pieces)+1, err)
		}
		k.pieces = append(k.pieces, p)
	}
	return errors.Join(lines.Err(), k.endLine())
}

// endLine ends the last line where its end was cut off: the next piece has a line of its own.
func (k *kept) endLine() error {
	end, err := k.file.Seek(0, io.SeekEnd)
	if err != nil || end == 0 {
		return err
	}
	last := make([]byte, 1)
	if _, err = k.file.ReadAt(last, end-1); err == nil && last[0] != '\n' {
		_, err = k.file.Write([]byte("\n"))
	}
	return err
}

// add keeps a piece that this program has played.
func (k *kept) add(p piece) error {
	if k.file == nil {
		return nil
	}
	p.Program = k.program
	line, err := json.Marshal(p)
	if err == nil {
		_, err = k.file.Write(append(line, '\n'))
	}
	return err
}

// Close ends the lock.
func (k *kept) Close() error {
	if k.file == nil {
		return nil
	}
	return k.file.Close()
}

// digestOf tells homes of the same name apart, such as that of a file which was changed.
func digestOf(home *scenario.Scenario) string {
	digest := sha256.Sum256(fmt.Appendf(nil, "%+v", *home))
	return hex.EncodeToString(digest[:8])
}

// ownDigest tells builds of the program apart: the first eight bytes of its SHA-256, in hexadecimal.
func ownDigest() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	digest := sha256.New()
	if _, err := io.Copy(digest, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(digest.Sum(nil)[:8]), nil
}
