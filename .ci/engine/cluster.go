package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// cluster is three nodes in processes of their own, with their files below one directory.
type cluster struct {
	dir, configuration string
	nodes              [3]*node
}

// node is one of them. Its addresses stay the same when it is started again.
type node struct {
	name                              string
	clients, monitoring, routes, mqtt string // host:port
	process                           *exec.Cmd
}

// centrePassword is the password of the centre's user.
const centrePassword = "centre-of-a-test"

// startCluster starts three nodes of the example's configuration, docs/fleet/nats.conf, with these
// users' configuration, and waits until they are ready.
func startCluster(ctx context.Context, dir, example, users string) (*cluster, error) {
	c := &cluster{dir: dir, configuration: filepath.Join(dir, "nats.conf")}
	conf, err := os.ReadFile(example)
	if err != nil {
		return nil, fmt.Errorf("read the example: %w", err)
	}
	if err := errors.Join(os.WriteFile(c.configuration, conf, 0o600),
		os.WriteFile(filepath.Join(dir, "users.conf"), []byte(users), 0o600)); err != nil {
		return nil, fmt.Errorf("write the configuration: %w", err)
	}
	addresses, err := freeAddresses(4 * len(c.nodes))
	if err != nil {
		return nil, err
	}
	for i := range c.nodes {
		own := addresses[4*i:]
		c.nodes[i] = &node{name: string(rune('a' + i)), clients: own[0], monitoring: own[1], routes: own[2], mqtt: own[3]}
	}
	for _, n := range c.nodes {
		if err := c.start(n); err != nil {
			return nil, errors.Join(err, c.stop())
		}
	}
	for _, n := range c.nodes {
		if err := n.ready(ctx); err != nil {
			return nil, errors.Join(err, c.stop())
		}
	}
	return c, nil
}

// start starts the process of a node.
func (c *cluster) start(n *node) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	n.process = exec.Command(self, nodeFlag, c.configuration)
	n.process.Stderr = os.Stderr
	n.process.Env = append(os.Environ(),
		"NODE="+n.name, "STORE="+filepath.Join(c.dir, n.name), "CENTRE_PASSWORD="+centrePassword,
		"CLIENTS="+quote(n.clients), "MONITORING="+quote(n.monitoring), "ROUTES="+quote(n.routes), "MQTT="+quote(n.mqtt))
	for _, other := range c.nodes {
		n.process.Env = append(n.process.Env, "ROUTE_"+strings.ToUpper(other.name)+"="+quote("nats://"+other.routes))
	}
	n.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := n.process.Start(); err != nil {
		return fmt.Errorf("start node %s: %w", n.name, err)
	}
	return nil
}

// quote writes a text as a value of a configuration's variable.
func quote(text string) string { return `"` + text + `"` }

// kill ends a node's process as a power cut would.
func (n *node) kill() error {
	err := n.process.Process.Kill()
	_ = n.process.Wait() // says that it was killed
	return err
}

// ready waits until a node has its streams and is in touch with the others.
func (n *node) ready(ctx context.Context) error {
	for {
		asked, cancel := context.WithTimeout(ctx, time.Second)
		request, err := http.NewRequestWithContext(asked, http.MethodGet, "http://"+n.monitoring+"/healthz", nil)
		if err != nil {
			cancel()
			return err
		}
		answer, err := http.DefaultClient.Do(request)
		if err == nil {
			err = answer.Body.Close()
			if answer.StatusCode == http.StatusOK && err == nil {
				cancel()
				return nil
			}
		}
		cancel()
		select {
		case <-ctx.Done():
			return fmt.Errorf("node %s is not ready: %w", n.name, ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// stop ends all nodes.
func (c *cluster) stop() error {
	var err error
	for _, n := range c.nodes {
		if n != nil && n.process != nil && n.process.ProcessState == nil {
			err = errors.Join(err, n.kill())
		}
	}
	return err
}

// urls returns the nodes' addresses for programs of the centre.
func (c *cluster) urls() string {
	var all []string
	for _, n := range c.nodes {
		all = append(all, "nats://"+n.clients)
	}
	return strings.Join(all, ",")
}

// freeAddresses returns addresses of this machine on which nothing listens.
func freeAddresses(count int) ([]string, error) {
	var all []string
	for range count {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("find a free port: %w", err)
		}
		defer listener.Close() // after all are found, so that they differ
		all = append(all, listener.Addr().String())
	}
	return all, nil
}
