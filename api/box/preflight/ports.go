package preflight

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// look looks whether a port is to be had; running is the appliance that may have it already.
func (p Port) look(running int) Finding {
	f := Finding{What: p.Key, Says: p.free()}
	err := p.try()
	if err == nil {
		return f
	}
	f.Grade = Wrong
	_, number, _ := net.SplitHostPort(p.Address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		by := p.holder(number)
		if running != 0 && by.pid == running {
			f.Grade, f.Says = Fine, p.Address+" is held by the appliance that runs"
			return f
		}
		f.Says = fmt.Sprintf("%s is taken by %s", p.Address, by)
		f.Fix = fmt.Sprintf("End that program, or set %s to another port", p.Key)
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM):
		f.Says = fmt.Sprintf("%s may not be used by this user: ports below 1024 are for root", p.Address)
		f.Fix = fmt.Sprintf("Set %s to a port from 1024 on, or let the service use it (install.md, \"Ports below 1024\")", p.Key)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		f.Says = fmt.Sprintf("%s is no address of this machine, at least not yet", p.Address)
		f.Fix = fmt.Sprintf("Set %s to :%s, which is every address", p.Key, number)
	default:
		f.Says = err.Error()
		f.Fix = "Set " + p.Key + " to an address such as :8080"
	}
	return f
}

// free says that nobody has the port.
func (p Port) free() string { return p.Address + " is free" }

// try listens for a moment.
func (p Port) try() error {
	if p.Network == "udp" {
		conn, err := net.ListenPacket(p.Network, p.Address)
		if err == nil {
			err = conn.Close()
		}
		return err
	}
	listener, err := net.Listen(p.Network, p.Address)
	if err == nil {
		err = listener.Close()
	}
	return err
}

// holder is who has a port.
type holder struct {
	pid  int // 0: not to be seen
	name string
	user string // whose it is; "": unknown
}

func (h holder) String() string {
	switch {
	case h.pid != 0:
		return fmt.Sprintf("%s (process %d)", h.name, h.pid)
	case h.user != "":
		return "a program of user " + h.user
	}
	return "another program"
}

// holder finds who has a port, as far as this user may see it: proc(5), /proc/net/tcp and /proc/PID/fd.
func (p Port) holder(number string) (found holder) {
	port, err := net.LookupPort(p.Network, number)
	if err != nil {
		return found
	}
	var sockets []string // as links in /proc/PID/fd name them
	for _, table := range []string{p.Network, p.Network + "6"} {
		for _, row := range rows("/proc/net/" + table) {
			if row.port == port && (p.Network == "udp" || row.listens) {
				sockets = append(sockets, "socket:["+row.inode+"]")
				found.user = owner(row.uid)
			}
		}
	}
	if len(sockets) == 0 {
		return found
	}
	links, _ := filepath.Glob("/proc/[0-9]*/fd/*") // those of others are not to be seen
	for _, link := range links {
		if to, err := os.Readlink(link); err == nil && slices.Contains(sockets, to) {
			process := filepath.Dir(filepath.Dir(link))
			found.pid, _ = strconv.Atoi(filepath.Base(process)) // digits
			name, err := os.ReadFile(filepath.Join(process, "comm"))
			found.name = strings.TrimSpace(string(name))
			if err != nil {
				found.name = "a program"
			}
			return found
		}
	}
	return found
}

// row is a socket in a table of the kernel.
type row struct {
	port    int
	listens bool
	uid     int
	inode   string
}

// rows reads such a table, as far as it is one.
func rows(path string) (found []row) {
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		columns := strings.Fields(lines.Text()) // sl local remote st queues timer retransmits uid timeout inode …
		if len(columns) < 10 {
			continue
		}
		_, hex, _ := strings.Cut(columns[1], ":")
		port, err := strconv.ParseInt(hex, 16, 32)
		uid, err2 := strconv.Atoi(columns[7])
		if errors.Join(err, err2) == nil {
			found = append(found, row{int(port), columns[3] == "0A", uid, columns[9]})
		}
	}
	return found
}
