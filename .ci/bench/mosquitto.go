package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// mosquitto is the peer for MQTT: Debian's broker with its defaults, but with anonymous
// access, without Nagle's delay and without a log.
type mosquitto struct {
	addr string
	cmd  *exec.Cmd
}

// mosquitto starts one; options are further lines of its configuration.
func (b *bench) mosquitto(ctx context.Context, options ...string) (*mosquitto, error) {
	program, err := lookFor("mosquitto", "/usr/sbin/mosquitto")
	if err != nil {
		return nil, err
	}
	dir, err := b.temp("mosquitto")
	if err != nil {
		return nil, err
	}
	addr, err := freeAddress()
	if err != nil {
		return nil, err
	}
	config := filepath.Join(dir, "mosquitto.conf")
	text := fmt.Sprintf("listener %d 127.0.0.1\nallow_anonymous true\nset_tcp_nodelay true\nlog_type none\n", addr.Port) +
		strings.Join(append(options, ""), "\n")
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, err
	}
	m := &mosquitto{addr: addr.String(), cmd: exec.CommandContext(ctx, program, "-c", config)}
	if err := m.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start mosquitto: %w", err)
	}
	if err := answers("mosquitto", m.addr); err != nil {
		return nil, errors.Join(err, m.stop())
	}
	return m, nil
}

// freeAddress returns an address of this machine that nobody listens on, for programs that cannot choose one.
func freeAddress() (*net.TCPAddr, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	return l.Addr().(*net.TCPAddr), l.Close()
}

// answers waits until a program that was started listens.
func answers(program, addr string) error {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if conn, err := net.Dial("tcp", addr); err == nil {
			return conn.Close()
		}
	}
	return fmt.Errorf("%s does not answer", program)
}

func (m *mosquitto) stop() error {
	err := m.cmd.Process.Signal(syscall.SIGTERM)
	_ = m.cmd.Wait() // reports the signal
	return err
}

// sideBySide measures figures of the real binary beside mosquitto.
type sideBySide func(context.Context, *bench, *appliance, *mosquitto) ([]figure, error)

// onNewBox is a group's measurement on a new state directory.
func (measure sideBySide) onNewBox(ctx context.Context, b *bench) ([]figure, error) {
	dir, err := b.temp("box")
	if err != nil {
		return nil, err
	}
	return b.beside(ctx, dir, measure)
}

// beside runs the real binary on a state directory, and mosquitto, during measure.
func (b *bench) beside(ctx context.Context, dir string, measure sideBySide) (_ []figure, err error) {
	a, err := b.serve(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, a.stop()) }()
	m, err := b.mosquitto(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, m.stop()) }()
	return measure(ctx, b, a, m)
}
