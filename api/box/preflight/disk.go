package preflight

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"sensegate/store/regular"
)

// disk looks at the state directory, and at its file system.
func (n Needs) disk() []Finding {
	at := n.directory()
	found := []Finding{at}
	if at.Grade < Wrong && exists(n.StateDir) {
		found = append(found, n.room(), n.mapping())
	}
	return found
}

// directory looks whether the state directory is one that this user can write, and nobody else read.
func (n Needs) directory() Finding {
	f := Finding{What: "state_dir", Says: n.StateDir + " is there and can be written"}
	wrong := func(says, fix string) Finding {
		f.Grade, f.Says, f.Fix = Wrong, says, fix
		return f
	}
	info, err := os.Stat(n.StateDir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		above := filepath.Dir(n.StateDir)
		for above != filepath.Dir(above) && !exists(above) {
			above = filepath.Dir(above)
		}
		if err := unix.Access(above, unix.W_OK); err != nil {
			return wrong(fmt.Sprintf("%s is not there, and user %s cannot make it in %s: %v", n.StateDir, owner(os.Geteuid()), above, err),
				fmt.Sprintf("As root: install -d -m 0700 -o %s %s; or set state_dir to a directory of your own", owner(os.Geteuid()), n.StateDir))
		}
		f.Says = n.StateDir + " is not there yet, and is made at the start"
		return f
	case err != nil:
		return wrong(err.Error(), "Set state_dir to a directory that can be read")
	case !info.IsDir():
		return wrong(n.StateDir+" is no directory", "Set state_dir to a directory")
	}
	probe, err := os.CreateTemp(n.StateDir, ".preflight-")
	if err != nil {
		if errors.Is(err, syscall.EROFS) {
			return wrong(n.StateDir+" is on a file system that is read-only here", readOnly(n.StateDir)+"; one that became read-only by itself has a broken disk or cable (dmesg)")
		}
		if errors.Is(err, syscall.ENOSPC) {
			return f // the room tells more
		}
		return wrong(fmt.Sprintf("user %s cannot write in %s, which belongs to %s: %v", owner(os.Geteuid()), n.StateDir, Owner(info), err),
			fmt.Sprintf("As root: chown -R %s %s", owner(os.Geteuid()), n.StateDir))
	}
	_ = errors.Join(probe.Close(), os.Remove(probe.Name())) // an empty file harms nobody
	if loose := info.Mode().Perm() & 0o077; loose != 0 {
		f.Grade = Warning
		f.Says = fmt.Sprintf("%s can be read by others (%#o): it tells when people are at home", n.StateDir, info.Mode().Perm())
		f.Fix = "chmod 0700 " + n.StateDir
	}
	if os.Geteuid() != 0 {
		if other, some := n.foreign(); some {
			return other
		}
		return f
	}
	if o := Owner(info); o != "root" && n.Running == 0 {
		f.Grade = Warning
		f.Says = fmt.Sprintf("%s belongs to %s, and this is root: what root makes there, %s cannot open", n.StateDir, o, o)
		f.Fix = "Start it as that user: runuser -u " + o + " -- sensegate …"
	}
	return f
}

// readOnly says what to do about a directory on a file system that is read-only for this process.
func readOnly(directory string) string {
	return fmt.Sprintf("For a service of systemd: ReadWritePaths=%s in a drop-in (systemctl edit sensegate); otherwise mount it for writing", directory)
}

// foreign looks for a file of the state directory that this user can neither read nor write, as root may have made it.
func (n Needs) foreign() (Finding, bool) {
	entries, err := os.ReadDir(n.StateDir)
	if err != nil {
		return Finding{}, false
	}
	for _, entry := range entries {
		path := filepath.Join(n.StateDir, entry.Name())
		info, err := entry.Info()
		if err != nil || info.Mode()&fs.ModeType&^fs.ModeDir != 0 || unix.Access(path, unix.R_OK|unix.W_OK) == nil {
			continue
		}
		return Finding{
			What: "state_dir", Grade: Wrong, Says: fmt.Sprintf("user %s cannot write %s, which belongs to %s", owner(os.Geteuid()), path, Owner(info)),
			Fix: fmt.Sprintf("As root: chown -R %s %s", owner(os.Geteuid()), n.StateDir),
		}, true
	}
	return Finding{}, false
}

// room looks whether the disk has room.
func (n Needs) room() Finding {
	f := Finding{What: "disk"}
	var stat unix.Statfs_t
	if err := unix.Statfs(n.StateDir, &stat); err != nil {
		f.Grade, f.Says = Warning, fmt.Sprintf("how much is free cannot be read: %v", err)
		return f
	}
	free := int64(stat.Bavail) * int64(stat.Bsize)
	f.Says = mib(free) + " are free"
	fix := "Remove what is not needed, store less (store.retention), or set state_dir to a larger disk"
	var size int64
	if info, err := os.Stat(filepath.Join(n.StateDir, n.Database)); err == nil {
		size = info.Size()
	}
	switch {
	case free < n.MinFree:
		f.Grade, f.Fix = Wrong, fix
		f.Says += fmt.Sprintf(", less than store.min_free, %s: nothing can be stored", mib(n.MinFree))
		if size > 0 { // it starts, so that what is stored can be read
			f.Grade = Warning
		}
	case stat.Files > 0 && stat.Ffree < 16:
		f.Grade, f.Says, f.Fix = Wrong, "the file system has no room for another file", "Remove files that are not needed"
	case free-n.MinFree < size:
		f.Grade, f.Fix = Warning, fix
		f.Says += fmt.Sprintf(", too little for a backup of the database (%s)", mib(size))
	}
	return f
}

// mapping looks whether a file of the state directory can be locked and mapped, as the database
// needs it: some network file systems allow neither.
func (n Needs) mapping() Finding {
	f := Finding{What: "file system", Says: "files can be locked and mapped"}
	wrong := func(what string, err error) Finding {
		f.Grade, f.Says = Wrong, fmt.Sprintf("the database cannot be %s on the file system of %s: %v", what, n.StateDir, err)
		f.Fix = "Set state_dir to a directory on a disk of this machine"
		return f
	}
	file, err := os.CreateTemp(n.StateDir, ".preflight-")
	if err == nil {
		defer func() { _ = errors.Join(file.Close(), os.Remove(file.Name())) }() // an empty file harms nobody
		err = file.Truncate(int64(os.Getpagesize()))
	}
	if err != nil {
		f.Grade, f.Says = Warning, fmt.Sprintf("not looked at: %v", err) // as where the disk is full
		return f
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return wrong("locked", err)
	}
	mapped, err := unix.Mmap(int(file.Fd()), 0, os.Getpagesize(), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return wrong("mapped", err)
	}
	if err := unix.Munmap(mapped); err != nil {
		return wrong("mapped", err)
	}
	return f
}

// logFile looks whether the log can be written.
func (n Needs) logFile() Finding {
	f := Finding{What: "log.file", Says: n.LogFile + " can be written"}
	if err := regular.Mistake(n.LogFile); err != nil {
		f.Grade, f.Says, f.Fix = Wrong, err.Error(), "Or leave it empty, and the log goes to standard error"
		return f
	}
	_, there := os.Stat(n.LogFile)
	flags := os.O_APPEND | os.O_WRONLY | syscall.O_NONBLOCK // it may be a pipe by now
	if there != nil {
		flags |= os.O_CREATE | os.O_EXCL // not where a link of another user leads root
	}
	file, err := os.OpenFile(n.LogFile, flags, 0o600)
	if errors.Is(err, fs.ErrExist) {
		f.Says = n.LogFile + " is a link to a file that is not there yet"
		return f
	}
	if err != nil {
		f.Grade, f.Says = Wrong, err.Error()
		f.Fix = fmt.Sprintf("As root: install -d -m 0700 -o %s %s", owner(os.Geteuid()), filepath.Dir(n.LogFile))
		if errors.Is(err, syscall.EROFS) {
			f.Fix = readOnly(filepath.Dir(n.LogFile))
		}
		return f
	}
	err = file.Close()
	refused := OwnerCannotWrite(n.StateDir, filepath.Dir(n.LogFile))
	if there != nil {
		err = errors.Join(err, os.Remove(n.LogFile))
	} else if refused == nil {
		refused = ownerCannot(n.StateDir, "write", n.LogFile, unix.W_OK)
	}
	if err = errors.Join(err, refused); err != nil {
		f.Grade, f.Says = Warning, err.Error()
	}
	return f
}

// files looks how many files may be open.
func (n Needs) files() Finding {
	f := Finding{What: "open files"}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		f.Grade, f.Says = Warning, fmt.Sprintf("the limit cannot be read: %v", err)
		return f
	}
	f.Says = fmt.Sprintf("%d may be open", limit.Cur)
	if limit.Cur < uint64(n.Files) {
		f.Grade = Warning
		f.Says += fmt.Sprintf(", and as many connections as are configured need %d: fewer are let in", n.Files)
		f.Fix = "LimitNOFILE= of the unit, ulimit -n, or lower http.max_connections and mqtt.max_connections"
	}
	return f
}

// exists reports whether there is a file.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Owner returns the name of who owns a file, their number where they have none.
func Owner(info fs.FileInfo) string {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return owner(int(stat.Uid))
	}
	return "somebody else"
}

// owner returns the name of a user, their number where they have none.
func owner(uid int) string {
	id := strconv.Itoa(uid)
	if u, err := user.LookupId(id); err == nil {
		return u.Username
	}
	return id
}
