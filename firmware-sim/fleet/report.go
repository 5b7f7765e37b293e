package fleet

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"sensegate/motion/uplink"
)

// Report is what boxes have sent and what it cost.
type Report struct {
	Boxes      int
	Connecting time.Duration // until all were connected
	Took       time.Duration
	Sent       int // messages that were acknowledged
	Failed     int
	Lost       int // connections that ended
	Bytes      int // of the messages as MQTT packets, without TCP and TLS
	Median     time.Duration
	Slow       time.Duration // 99 of 100 were acknowledged sooner
	CPU        time.Duration // of the engine's processes
}

// Rate returns messages a second.
func (r Report) Rate() float64 { return float64(r.Sent) / r.Took.Seconds() }

// Cores returns how many processors the engine has used.
func (r Report) Cores() float64 { return r.CPU.Seconds() / r.Took.Seconds() }

// tally counts; its methods may be called concurrently.
type tally struct {
	mu     sync.Mutex
	count  Report
	delays []time.Duration
}

// sent counts a message.
func (t *tally) sent(m uplink.Message, took time.Duration, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil {
		t.count.Failed++
		return
	}
	t.count.Sent++
	t.count.Bytes += packetSize(m)
	t.delays = append(t.delays, took)
}

func (t *tally) lost() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.count.Lost++
}

// packetSize returns the bytes of a PUBLISH of QoS 1 and its acknowledgement (MQTT 3.1.1, 3.3 and 3.4).
func packetSize(m uplink.Message) int {
	rest := 2 + len(m.Topic) + 2 + len(m.Payload)
	header := 2
	for size := rest >> 7; size > 0; size >>= 7 {
		header++
	}
	const acknowledgement = 4
	return header + rest + acknowledgement
}

// report returns what was counted.
func (t *tally) report(c Config, connecting, took, cpu time.Duration) Report {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.count
	r.Boxes, r.Connecting, r.Took, r.CPU = c.Boxes, connecting, took, cpu
	if n := len(t.delays); n > 0 {
		slices.Sort(t.delays)
		r.Median, r.Slow = t.delays[n/2], t.delays[n*99/100]
	}
	return r
}

// cpuOf returns the CPU time of processes so far (proc(5), fields 14 and 15 of stat).
func cpuOf(pids []int) (all time.Duration, err error) {
	const tick = 10 * time.Millisecond
	for _, pid := range pids {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			return 0, fmt.Errorf("measure the engine: %w", err)
		}
		_, rest, _ := strings.Cut(string(raw), ") ") // after the name, which may hold anything
		fields := strings.Fields(rest)
		if len(fields) < 13 {
			return 0, fmt.Errorf("measure the engine: /proc/%d/stat has %d fields", pid, len(fields))
		}
		for _, field := range fields[11:13] {
			ticks, err := strconv.Atoi(field)
			if err != nil {
				return 0, fmt.Errorf("measure the engine: %w", err)
			}
			all += time.Duration(ticks) * tick
		}
	}
	return all, nil
}
