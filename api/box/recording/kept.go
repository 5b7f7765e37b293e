package recording

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store/durable"
)

const aboutName = "about.json"

func writeAbout(directory string, about Recording) error {
	data, err := json.Marshal(about)
	if err != nil {
		return err
	}
	return durable.WriteFile(filepath.Join(directory, aboutName), data)
}

// readAbout returns what a recording says of itself, or its name alone where that cannot be read.
func readAbout(directory, name string) (about Recording) {
	data, err := os.ReadFile(filepath.Join(directory, aboutName))
	if err != nil || json.Unmarshal(data, &about) != nil {
		about = Recording{}
	}
	about.Name = name
	about.Links, about.Files = append([]string{}, about.Links...), append([]File{}, about.Files...)
	return about
}

// List returns the complete recordings, the newest first.
func (r *Recorder) List() ([]Recording, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.list()
}

func (r *Recorder) list() ([]Recording, error) {
	list := []Recording{}
	entries, err := os.ReadDir(r.o.Directory)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list recordings: %w", err)
	}
	for _, entry := range slices.Backward(entries) {
		if entry.IsDir() && !strings.HasSuffix(entry.Name(), part) {
			list = append(list, readAbout(filepath.Join(r.o.Directory, entry.Name()), entry.Name()))
		}
	}
	return list, nil
}

// Find returns a complete recording. NotFound: there is none of that name.
func (r *Recorder) Find(name string) (Recording, error) {
	list, err := r.List()
	if err != nil {
		return Recording{}, err
	}
	i := slices.IndexFunc(list, func(one Recording) bool { return one.Name == name })
	if i < 0 {
		return Recording{}, fault.New(fault.NotFound, "recording %.80q is not known", name)
	}
	return list[i], nil
}

// Open opens a file of a complete recording; the caller closes it. NotFound: there is none of that
// name.
func (r *Recorder) Open(name, file string) (io.ReadCloser, error) {
	found, err := r.Find(name)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(found.Files, func(f File) bool { return f.Name == file }) {
		return nil, fault.New(fault.NotFound, "recording %s has no file %.80q", name, file)
	}
	return os.Open(filepath.Join(r.o.Directory, found.Name, filepath.Base(file)))
}

// WriteZip writes all files of a complete recording as one archive.
func (r *Recorder) WriteZip(w io.Writer, of Recording) error {
	archive := zip.NewWriter(w)
	for _, f := range of.Files {
		to, err := archive.CreateHeader(&zip.FileHeader{Name: of.Name + "/" + f.Name, Method: zip.Store, Modified: of.Ended.Std()})
		if err != nil {
			return err
		}
		from, err := r.Open(of.Name, f.Name)
		if err != nil {
			return err
		}
		_, err = io.Copy(to, from)
		if err := errors.Join(err, from.Close()); err != nil {
			return err
		}
	}
	return archive.Close()
}

// Delete deletes a complete recording. NotFound: there is none of that name.
func (r *Recorder) Delete(name string) error {
	found, err := r.Find(name)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := os.RemoveAll(filepath.Join(r.o.Directory, found.Name)); err != nil {
		return fmt.Errorf("delete recording: %w", err)
	}
	return durable.SyncDirectory(r.o.Directory)
}

// salvage completes the recordings that a power cut has left unfinished.
func (r *Recorder) salvage() error {
	r.mu.Lock()
	entries, err := os.ReadDir(r.o.Directory)
	r.mu.Unlock()
	running, _, _ := r.Running()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, entry := range entries {
		name, unfinished := strings.CutSuffix(entry.Name(), part)
		if !unfinished || !entry.IsDir() || running.Name == name {
			continue
		}
		if again := r.finish(name); again != nil {
			err = errors.Join(err, fmt.Errorf("recording %s: %w", name, again))
		}
	}
	return err
}

// finish completes an unfinished recording, or removes it when it has no frames.
func (r *Recorder) finish(name string) error {
	directory := filepath.Join(r.o.Directory, name+part)
	about := readAbout(directory, name)
	whole := about.Ended != 0 // the name alone was missing
	about.Files, about.Frames, about.Bytes = []File{}, 0, 0
	paths, err := filepath.Glob(filepath.Join(directory, "*.csv.gz"))
	if err != nil {
		return err
	}
	for _, path := range paths {
		f, modified, err := mend(path)
		if err != nil {
			return err
		}
		if f.Frames == 0 {
			continue
		}
		about.Files = append(about.Files, f)
		about.Frames, about.Bytes = about.Frames+f.Frames, about.Bytes+f.Bytes
		if !whole {
			about.Ended, about.Why = max(about.Ended, modified), EndedByCut
		}
	}
	if about.Frames == 0 {
		return errors.Join(os.RemoveAll(directory), durable.SyncDirectory(r.o.Directory))
	}
	if err := writeAbout(directory, about); err != nil {
		return err
	}
	if err := os.Rename(directory, filepath.Join(r.o.Directory, name)); err != nil {
		return err
	}
	r.o.Log.Info("recording completed that was cut off", "recording", name, "frames", about.Frames)
	return durable.SyncDirectory(r.o.Directory)
}

// mend cuts off what follows the last whole gzip member of a file, and removes a file that holds
// no frame. It returns what the file holds, and when it was written last.
func mend(path string) (File, motion.Time, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return File{}, 0, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return File{}, 0, err
	}
	found := File{Name: filepath.Base(path)}
	found.read(file)
	if found.Frames == 0 {
		return found, 0, os.Remove(path)
	}
	if found.Bytes < info.Size() {
		if err := errors.Join(file.Truncate(found.Bytes), file.Sync()); err != nil {
			return found, 0, err
		}
	}
	return found, motion.TimeOf(info.ModTime()), nil
}

// read reads the whole members that a file begins with, and notes what they hold.
func (f *File) read(file io.Reader) {
	from := &counter{r: file}
	members, err := gzip.NewReader(from)
	for first := true; err == nil; first = false {
		members.Multistream(false)
		content := &lines{keep: first}
		if _, err := io.Copy(content, members); err != nil {
			return
		}
		if first && json.Unmarshal(bytes.TrimPrefix(content.first, []byte("#")), &struct {
			Link *string `json:"link"`
			Bins *int    `json:"bins"`
		}{&f.Link, &f.Bins}) != nil {
			return
		}
		f.Frames, f.Bytes = f.Frames+content.n, from.n
		if first {
			f.Frames -= 2 // the header, and the names of the columns
		}
		err = members.Reset(from)
	}
}

// counter counts the bytes that are read. It is an io.ByteReader, so that gzip reads no byte
// beyond a member.
type counter struct {
	r   io.Reader
	buf []byte
	mem [32 << 10]byte
	n   int64
}

func (c *counter) fill() error {
	for len(c.buf) == 0 {
		n, err := c.r.Read(c.mem[:])
		if n == 0 && err != nil {
			return err
		}
		c.buf = c.mem[:n]
	}
	return nil
}

func (c *counter) ReadByte() (byte, error) {
	if err := c.fill(); err != nil {
		return 0, err
	}
	b := c.buf[0]
	c.buf, c.n = c.buf[1:], c.n+1
	return b, nil
}

func (c *counter) Read(p []byte) (int, error) {
	if err := c.fill(); err != nil {
		return 0, err
	}
	n := copy(p, c.buf)
	c.buf, c.n = c.buf[n:], c.n+int64(n)
	return n, nil
}

// lines counts lines, and keeps the first one.
type lines struct {
	n     int
	keep  bool
	first []byte
}

func (l *lines) Write(p []byte) (int, error) {
	if l.keep && l.n == 0 {
		head, _, _ := bytes.Cut(p, []byte("\n"))
		l.first = append(l.first, head...)
	}
	l.n += bytes.Count(p, []byte("\n"))
	return len(p), nil
}
