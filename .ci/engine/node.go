package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/nats-io/nats-server/v2/server"
)

// nodeFlag is the first argument of a process that is a node; the second names its configuration.
const nodeFlag = "-node"

// serveNode runs a NATS server until SIGTERM.
func serveNode(configuration string) error {
	options, err := server.ProcessConfigFile(configuration)
	if err != nil {
		return fmt.Errorf("read the configuration of a node: %w", err)
	}
	options.NoSigs = true
	node, err := server.NewServer(options)
	if err != nil {
		return fmt.Errorf("make a node: %w", err)
	}
	if os.Getenv("NATS_LOG") != "" {
		node.ConfigureLogger()
	}
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM, syscall.SIGINT)
	node.Start()
	<-end
	node.Shutdown()
	node.WaitForShutdown()
	return nil
}
