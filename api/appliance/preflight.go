package appliance

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"golang.org/x/sys/unix"

	"sensegate/api/admin"
	"sensegate/api/box"
	"sensegate/api/box/preflight"
	"sensegate/api/logtail"
	"sensegate/store/regular"
)

// Preflight looks whether this machine lets an appliance with this configuration work. A running
// one may hold its ports.
func (c *Config) Preflight() []preflight.Finding {
	memory, err := memory()
	if err != nil {
		memory = 0
	}
	database := admin.Database(c.StateDir)
	found := preflight.Look(preflight.Needs{
		StateDir: c.StateDir, Database: filepath.Base(database), LogFile: c.Log.File, MinFree: int64(c.Store.MinFree),
		Files: c.connections() + spareFiles, Built: box.ThisBuild().Time().Std(), Memory: memory, Ports: c.ports(), Running: serving(c.StateDir),
	}, time.Now())
	return append(found, c.lookAtProvision()...)
}

// installed is the configuration that packages install.
const installed = "/etc/sensegate/config.yaml"

// Installed returns the configuration file of the installed package, "" when there is none.
func Installed() string {
	if _, err := os.Stat(installed); err != nil {
		return ""
	}
	return installed
}

// Offline returns what there is of an appliance that does not run, without its database: its configuration, as
// far as it could be read, what the machine is like, and the end of its log file, where it has one as text.
// config is its file, "" for that of the installed package; stateDir is "" for that of the configuration.
func Offline(config, stateDir string) (admin.Stopped, error) {
	if absolute, err := filepath.Abs(config); config != "" && err == nil {
		config = absolute // as Settings names it
	}
	c, mistaken := Load(cmp.Or(config, Installed()))
	switch {
	case stateDir != "":
		c.StateDir = stateDir
	case mistaken != nil && c.StateDir == Defaults().StateDir: // it may be what could not be read
		c.StateDir = StateDir()
	}
	stopped := admin.Stopped{StateDir: c.StateDir, Parts: box.Parts{Configured: c.Settings, Preflight: c.Preflight, TryProgram: c.tryProgram, Mistaken: mistaken}}
	if c.Log.File == "" {
		return stopped, mistaken
	}
	if c.Log.Format != "text" {
		stopped.NoLog = fmt.Errorf("%s is not text (log.format)", c.Log.File)
		return stopped, mistaken
	}
	file, err := regular.Open(c.Log.File)
	if err == nil {
		stopped.Recent, err = logtail.Read(file)
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		stopped.NoLog = fmt.Errorf("%w (log.file)", err)
	}
	return stopped, mistaken
}

// StateDir returns the state directory of the appliance that commands mean when they do not name it:
// that of SENSEGATE_STATE_DIR, else one with a database in this directory, else that of the
// installed package.
func StateDir() string {
	c := Defaults()
	if dir := os.Getenv(admin.EnvPrefix + "STATE_DIR"); dir != "" {
		return dir
	}
	if _, err := os.Stat(admin.Database(c.StateDir)); err == nil {
		return c.StateDir
	}
	loaded, _ := Load(Installed()) // beside a mistake it has the rest
	return loaded.StateDir
}

// memory returns how much memory the container or the machine has, in bytes.
func memory() (uint64, error) {
	return memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem)()
}

// ports returns every address that is to be listened on.
func (c *Config) ports() (all []preflight.Port) {
	for _, p := range []preflight.Port{
		{Key: "http.listen", Network: "tcp", Address: c.HTTP.Listen}, {Key: "http.tls_listen", Network: "tcp", Address: c.HTTP.TLSListen},
		{Key: "core.listen", Network: "tcp", Address: c.Core.Listen}, {Key: "core.tls_listen", Network: "tcp", Address: c.Core.TLSListen},
		{Key: "mqtt.listen", Network: "tcp", Address: c.MQTT.Listen}, {Key: "mqtt.tls_listen", Network: "tcp", Address: c.MQTT.TLSListen},
		{Key: "nodes.ruview.listen", Network: "udp", Address: c.Nodes.RuView.Listen},
		{Key: "nodes.micro_espectre.listen", Network: "udp", Address: c.Nodes.MicroESPectre.Listen},
		{Key: "nodes.nexmon.listen", Network: "udp", Address: c.Nodes.Nexmon.Listen},
	} {
		if p.Address != "" && p.Address != "off" {
			all = append(all, p)
		}
	}
	return all
}

// serving returns the process id of the appliance that serves a state directory, 0 when there is
// none or it cannot be told.
func serving(stateDir string) (pid int) {
	conn, err := net.Dial("unix", admin.Socket(stateDir))
	if err != nil {
		return 0
	}
	defer conn.Close()
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return 0
	}
	err = raw.Control(func(fd uintptr) {
		if peer, err := unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			pid = int(peer.Pid)
		}
	})
	if err != nil {
		return 0
	}
	return pid
}
