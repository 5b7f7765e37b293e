package crashtest

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// rootInode is the directory whose files are followed.
const rootInode = 1

// disk holds the files and directories below one directory, each under a number of its
// own, as inodes on a disk: a file keeps its bytes when it gets another name or none.
type disk struct {
	files       map[int][]byte         // a file without an entry here is empty
	directories map[int]map[string]int // name → inode
	own         map[int]bool           // whose bytes no other disk shares
	inodes      int                    // the highest number in use
}

// entry is a name in a directory. Inode 0: it is removed.
type entry struct {
	directory int
	name      string
	inode     int
	makes     bool // a directory that is new
}

// emptyDisk returns a disk with its root alone.
func emptyDisk() *disk {
	return &disk{files: map[int][]byte{}, directories: map[int]map[string]int{rootInode: {}}, own: map[int]bool{}, inodes: rootInode}
}

// readDisk returns what is below a directory. Sockets are left out.
func readDisk(root string) (*disk, error) {
	d := emptyDisk()
	known := map[string]int{root: rootInode}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == root || !e.IsDir() && !e.Type().IsRegular() {
			return err
		}
		d.inodes++
		known[path] = d.inodes
		d.directories[known[filepath.Dir(path)]][e.Name()] = d.inodes
		if e.IsDir() {
			d.directories[d.inodes] = map[string]int{}
			return nil
		}
		d.files[d.inodes], err = os.ReadFile(path)
		return err
	})
	return d, err
}

// write makes the directory at path and everything in it.
func (d *disk) write(path string) error { return d.writeDirectory(path, rootInode) }

func (d *disk) writeDirectory(path string, inode int) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return err
	}
	for name, inside := range d.directories[inode] {
		at := filepath.Join(path, name)
		var err error
		if _, isDirectory := d.directories[inside]; isDirectory {
			err = d.writeDirectory(at, inside)
		} else {
			err = os.WriteFile(at, d.files[inside], 0o600)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// find returns the directory that a path below the root stands in, its last name there,
// and its inode. 0: there is none.
func (d *disk) find(path string) (directory int, name string, inode int) {
	inode = rootInode
	for part := range strings.SplitSeq(path, "/") {
		if inode == 0 {
			return 0, "", 0
		}
		directory, name = inode, part
		inode = d.directories[directory][name]
	}
	return directory, name, inode
}

// paths returns the bytes of every file by its path, and directories with a / at the end.
func (d *disk) paths() map[string][]byte {
	all := map[string][]byte{}
	var walk func(prefix string, inode int)
	walk = func(prefix string, inode int) {
		for name, inside := range d.directories[inode] {
			if _, isDirectory := d.directories[inside]; isDirectory {
				all[prefix+name+"/"] = nil
				walk(prefix+name+"/", inside)
			} else {
				all[prefix+name] = d.files[inside]
			}
		}
	}
	walk("", rootInode)
	return all
}

// same returns an error that names the first path at which two disks differ.
func (d *disk) same(other *disk) error {
	mine, theirs := d.paths(), other.paths()
	names := slices.Sorted(maps.Keys(mine))
	for _, path := range names {
		if data, ok := theirs[path]; !ok {
			return fmt.Errorf("%s is on one disk alone", path)
		} else if !bytes.Equal(data, mine[path]) {
			return fmt.Errorf("%s differs: %d and %d bytes", path, len(mine[path]), len(data))
		}
	}
	if len(theirs) > len(mine) {
		return errors.New("the other disk has more files")
	}
	return nil
}

// clone returns a copy. Bytes are shared until one of the two is written to.
func (d *disk) clone() *disk {
	d.own = map[int]bool{}
	directories := map[int]map[string]int{}
	for inode, names := range d.directories {
		directories[inode] = maps.Clone(names)
	}
	return &disk{files: maps.Clone(d.files), directories: directories, own: map[int]bool{}, inodes: d.inodes}
}

// apply does what a step changes.
func (d *disk) apply(s step) {
	for _, e := range s.entries {
		d.enter(e)
	}
	if s.kind != writes && s.kind != resizes {
		return
	}
	data := d.files[s.inode]
	if !d.own[s.inode] {
		data = bytes.Clone(data)
		d.own[s.inode] = true
	}
	end := s.offset + int64(len(s.data))
	switch missing := end - int64(len(data)); {
	case missing > 0:
		data = append(data, make([]byte, missing)...)
	case s.kind == resizes:
		data = data[:end]
	}
	copy(data[s.offset:], s.data)
	d.files[s.inode] = data
}

func (d *disk) enter(e entry) {
	if d.directories[e.directory] == nil {
		d.directories[e.directory] = map[string]int{}
	}
	if e.inode == 0 {
		delete(d.directories[e.directory], e.name)
		return
	}
	d.directories[e.directory][e.name] = e.inode
	if e.makes && d.directories[e.inode] == nil {
		d.directories[e.inode] = map[string]int{}
	}
}
