package preflight

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// OwnerCannotWrite returns why the user to whom a state directory belongs, as a service runs, cannot make a file in
// another directory. It is nil where that user is the one who looks, or another one than root looks.
func OwnerCannotWrite(stateDir, directory string) error {
	return ownerCannot(stateDir, "make a file in", directory, unix.W_OK|unix.X_OK)
}

// OwnerCannotRead is OwnerCannotWrite of reading a file.
func OwnerCannotRead(stateDir, path string) error {
	return ownerCannot(stateDir, "read", path, unix.R_OK)
}

// OwnerCannotReplace is OwnerCannotWrite of a file that is read, changed and given another name.
func OwnerCannotReplace(stateDir, path string) error {
	if err := OwnerCannotWrite(stateDir, filepath.Dir(path)); err != nil {
		return err
	}
	return ownerCannot(stateDir, "read and write", path, unix.R_OK|unix.W_OK)
}

// Give says what root does so that the user to whom a state directory belongs can use what is in a directory there.
func Give(stateDir, directory string) string {
	to := "USER"
	if info, err := os.Stat(stateDir); err == nil {
		to = Owner(info)
	}
	return fmt.Sprintf("as root: chown -R %s %s; chmod -R u+rwX %s", to, directory, directory)
}

func ownerCannot(stateDir, do, path string, mode uint32) error {
	info, err := os.Stat(stateDir)
	if err != nil {
		return nil
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || stat.Uid == 0 || os.Geteuid() != 0 {
		return nil
	}
	groups := []int{int(stat.Gid)}
	if u, err := user.LookupId(strconv.Itoa(int(stat.Uid))); err == nil {
		ids, _ := u.GroupIds() // without them, those of the directory count
		for _, id := range append(ids, u.Gid) {
			if gid, err := strconv.Atoi(id); err == nil {
				groups = append(groups, gid)
			}
		}
	}
	refused := make(chan error)
	go func() {
		runtime.LockOSThread() // for ever: with the goroutine ends the thread, whose user is another one
		refused <- accessAs(int(stat.Uid), groups, path, mode)
	}()
	if err := <-refused; err != nil {
		return fmt.Errorf("user %s, to whom %s belongs, cannot %s %s: %w", owner(int(stat.Uid)), stateDir, do, path, err)
	}
	return nil
}

// accessAs returns why a user with groups may not use a path in a mode. The thread stays that user's.
func accessAs(uid int, groups []int, path string, mode uint32) error {
	if err := unix.Setgroups(groups); err != nil {
		return nil // root of a container that may not
	}
	if unix.Setfsgid(groups[0]) != nil || unix.Setfsuid(uid) != nil {
		return nil
	}
	return unix.Faccessat(unix.AT_FDCWD, path, mode, unix.AT_EACCESS)
}
