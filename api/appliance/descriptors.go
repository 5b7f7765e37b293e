package appliance

import (
	"log/slog"
	"syscall"
)

// spareFiles is how many files and sockets the appliance has open at most beside the
// connections that are limited: those of loopback beyond the limit, viewers of its own,
// services outside, the database.
const spareFiles = 1024

// openFiles returns how many files and sockets the system lets the process have open, 0
// when it does not say. Go has raised the soft limit to the hard one.
func openFiles() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0
	}
	return int(min(uint64(limit.Cur), 1<<30))
}

// fitConnections lowers the numbers of connections when the system does not let the
// process have so many files open: otherwise no listener would know that it is full, and
// silent connections would give way to nobody.
func (c *Config) fitConnections(files int, log *slog.Logger) {
	http, mqtt := c.HTTP.MaxConnections, c.MQTT.Guard.MaxConnections
	wanted := http + mqtt
	if c.Core.Listen != "" {
		wanted += http
	}
	left := max(files-spareFiles, files/4)
	if files == 0 || wanted <= left {
		return
	}
	c.HTTP.MaxConnections, c.MQTT.Guard.MaxConnections = max(1, http*left/wanted), max(1, mqtt*left/wanted)
	log.Warn("fewer connections than configured: raise the limit of open files", "files", files,
		"http.max_connections", c.HTTP.MaxConnections, "mqtt.max_connections", c.MQTT.Guard.MaxConnections)
}
