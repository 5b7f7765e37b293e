package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// expected are the messages of an appliance that was installed and left alone, after its start.
var expected = []string{"database backed up"}

// idle starts an appliance as it is installed, leaves it alone for a time and reports whether its log then
// has nothing but what is expected. It prints each message with how often it came.
func idle(ctx context.Context, o options) (quiet bool, err error) {
	dir, err := os.MkdirTemp("", "idle")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	_, err = fastPrograms(ctx, dir, o.speed, 0, "sensegate")
	if err != nil {
		return false, err
	}
	file := filepath.Join(dir, "log")
	environment := []string{"SENSEGATE_LOG_LEVEL=info", "SENSEGATE_LOG_FORMAT=json", "SENSEGATE_LOG_FILE=" + file}
	for _, listener := range []string{"HTTP", "MQTT"} {
		address, err := freePort()
		if err != nil {
			return false, err
		}
		environment = append(environment, "SENSEGATE_"+listener+"_TLS_LISTEN="+address)
	}
	b, err := startAppliance(ctx, dir, environment...)
	if err != nil {
		return false, err
	}
	ready, err := os.Stat(file)
	if err == nil {
		select {
		case <-ctx.Done():
			err = ctx.Err()
		case <-time.After(o.idle / time.Duration(o.speed)):
		}
	}
	if err != nil {
		b.stop()
		return false, err
	}
	log, err := os.ReadFile(file)
	b.stop()
	if err != nil {
		return false, err
	}
	return judgeLog(log, ready.Size())
}

// judgeLog prints the messages of a log, and reports whether those that were written before it had from bytes
// warn of nothing, and those after it are expected.
func judgeLog(log []byte, from int64) (quiet bool, err error) {
	type message struct {
		Level string `json:"level"`
		Text  string `json:"msg"`
	}
	counts := map[[3]string]int{}
	var order [][3]string
	quiet = true
	at := int64(0)
	for lines := bufio.NewScanner(bytes.NewReader(log)); lines.Scan(); at += int64(len(lines.Bytes())) + 1 {
		var m message
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			return false, fmt.Errorf("%s: %w", lines.Text(), err)
		}
		key := [3]string{"start", m.Level, m.Text}
		if at >= from {
			key[0] = "idle"
		}
		if m.Level != "INFO" || at >= from && !slices.Contains(expected, m.Text) {
			quiet = false
			fmt.Printf("not expected: %s\n", lines.Text())
		}
		if counts[key] == 0 {
			order = append(order, key)
		}
		counts[key]++
	}
	fmt.Println("| when | level | message | lines |\n|---|---|---|---|")
	for _, key := range order {
		fmt.Printf("| %s | %s | %s | %d |\n", key[0], key[1], key[2], counts[key])
	}
	return quiet && len(order) > 0, nil
}
