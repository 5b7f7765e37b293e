// Command engine holds the product's uplink against a cluster of three NATS nodes, made from the
// configuration of docs/fleet, and says what became of every event:
//
//	cd .ci/engine && go run . [-kills 20] [-boxes 6] [-pause 30ms] [-stream FILE]
//
// Boxes are the product's store and uplinks with events that are made up. Under their load one node after
// another is killed, the leader of the stream more often than others, and started again. Then one box is
// cut off for an hour of events, restarted in the middle of it, and connected again. It exits with 1 when
// an event is missing in the stream, or out of order. With -serve it runs the cluster until it is
// interrupted, and prints the addresses.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

func main() {
	if len(os.Args) == 3 && os.Args[1] == nodeFlag {
		exit(serveNode(os.Args[2]))
	}
	var o options
	flag.IntVar(&o.kills, "kills", 20, "how often a node is killed")
	flag.IntVar(&o.boxes, "boxes", 6, "boxes, of two networks each")
	flag.DurationVar(&o.pause, "pause", 30*time.Millisecond, "between two events of a network")
	flag.StringVar(&o.stream, "stream", "../../docs/fleet/stream.json", "configuration of the stream")
	flag.DurationVar(&o.limit, "limit", 20*time.Minute, "of all together")
	serve := flag.Bool("serve", false, "run the cluster alone, with a user for each of so many boxes: box-00000001 and so on")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if *serve {
		exit(serveCluster(ctx, o, os.Stdout))
	}
	ctx, cancel := context.WithTimeout(ctx, o.limit)
	defer cancel()
	exit(run(ctx, o, os.Stdout))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "engine:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

type options struct {
	kills, boxes int
	pause, limit time.Duration
	stream       string // file
}

// example is the configuration of a node.
const example = "../../docs/fleet/nats.conf"

// run runs the test and prints what came of it.
func run(ctx context.Context, o options, out io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "engine")
	if err != nil {
		return err
	}
	t := &test{options: o, out: out}
	defer func() { err = errors.Join(err, t.close(), os.RemoveAll(dir)) }()
	if err := t.prepare(ctx, dir); err != nil {
		return err
	}
	if err := t.underLoad(ctx); err != nil {
		return err
	}
	if err := t.settle(ctx, fmt.Sprintf("%d nodes killed", o.kills)); err != nil {
		return err
	}
	if err := t.cutOff(ctx); err != nil {
		return err
	}
	return t.settle(ctx, "and a box cut off for an hour, restarted meanwhile")
}

// test is one run.
type test struct {
	options
	out     io.Writer
	cluster *cluster
	centre  *centre
	boxes   []*box
}

// prepare starts the cluster and the boxes.
func (t *test) prepare(ctx context.Context, dir string) (err error) {
	var ids []string
	for n := range t.options.boxes {
		b, err := newBox(ctx, filepath.Join(dir, fmt.Sprint("box", n)))
		if err != nil {
			return err
		}
		t.boxes, ids = append(t.boxes, b), append(ids, b.id)
	}
	if t.cluster, err = startCluster(ctx, dir, example, users(ids)); err != nil {
		return err
	}
	if t.centre, err = newCentre(t.cluster); err != nil {
		return err
	}
	for n, b := range t.boxes {
		var nodes []string
		for i := range t.cluster.nodes {
			nodes = append(nodes, t.cluster.nodes[(n+i)%len(t.cluster.nodes)].mqtt)
		}
		if b.way, err = newWay(nodes); err != nil {
			return err
		}
		if err := b.start(ctx); err != nil {
			return err
		}
	}
	return t.centre.makeStream(ctx, t.stream)
}

// underLoad kills nodes while events happen.
func (t *test) underLoad(ctx context.Context) error {
	loaded, enough := context.WithCancel(ctx)
	defer enough()
	var load errgroup.Group
	for _, b := range t.boxes {
		load.Go(func() error {
			for loaded.Err() == nil {
				if err := b.happen(ctx, time.Now()); err != nil {
					return err
				}
				wait(loaded, t.pause)
			}
			return nil
		})
	}
	wait(ctx, 2*time.Second)
	for n := range t.kills {
		if err := t.killOne(ctx, n); err != nil {
			return err
		}
	}
	enough()
	return load.Wait()
}

// killOne kills a node, in turn the leader of the stream, that of $MQTT_msgs and any, and starts it again.
func (t *test) killOne(ctx context.Context, n int) error {
	victim := t.cluster.nodes[n%len(t.cluster.nodes)]
	role := "any node"
	if stream := []string{streamName, mqttStream, ""}[n%3]; stream != "" {
		leader, err := t.centre.leader(ctx, stream)
		if err != nil {
			return err
		}
		for _, node := range t.cluster.nodes {
			if node.name == leader {
				victim, role = node, "leader of "+stream
			}
		}
	}
	if err := victim.kill(); err != nil {
		return err
	}
	wait(ctx, 2*time.Second)
	if err := t.cluster.start(victim); err != nil {
		return err
	}
	began := time.Now()
	if err := victim.ready(ctx); err != nil {
		return err
	}
	fmt.Fprintf(t.out, "%d: node %s (%s) killed, back %s after it was started again\n", n+1, victim.name, role, time.Since(began).Round(100*time.Millisecond))
	wait(ctx, time.Second)
	return nil
}

// hour is how many events a network has in an hour of 2,000 a day.
const hour = 2000 / 24

// cutOff cuts a box off while an hour of events happens, and restarts it in the middle.
func (t *test) cutOff(ctx context.Context) error {
	b := t.boxes[0]
	b.way.cut(true)
	for n := range hour {
		if err := b.happen(ctx, time.Now().Add(time.Duration(n-hour)*time.Hour/hour)); err != nil {
			return err
		}
		if n == hour/2 {
			if err := b.restart(ctx); err != nil {
				return err
			}
		}
	}
	b.way.cut(false)
	return nil
}

// settle waits until every event is in the stream, for three minutes at most, and prints the count.
func (t *test) settle(ctx context.Context, after string) error {
	began := time.Now()
	var got tally
	var err error
	for time.Since(began) < 3*time.Minute && ctx.Err() == nil {
		var stream map[string][]string
		if stream, err = t.centre.readAll(ctx); err == nil {
			if got = count(t.boxes, stream); got.Missing == 0 {
				break
			}
		} else {
			fmt.Fprintln(t.out, "not read yet:", err)
		}
		wait(ctx, time.Second)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(t.out, "%s: %d events, %d missing, %d out of order, %d twice; all there %s after the last\n",
		after, got.Made, got.Missing, got.Disorder, got.Doubles, time.Since(began).Round(time.Second))
	if got.Missing > 0 || got.Disorder > 0 || got.Made == 0 {
		return errors.New("the stream has not what boxes have sent")
	}
	return nil
}

// close ends everything.
func (t *test) close() error {
	var err error
	for _, b := range t.boxes {
		err = errors.Join(err, b.close())
		if b.way != nil {
			b.way.close()
		}
	}
	if t.centre != nil {
		t.centre.connection.Close()
	}
	if t.cluster != nil {
		err = errors.Join(err, t.cluster.stop())
	}
	return err
}

// wait waits, and not longer than ctx.
func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// boxPassword is the password of each box of a test.
const boxPassword = "box-of-a-test"

// users returns users.conf in the form of docs/fleet/users.conf.
func users(ids []string) string {
	var text strings.Builder
	fmt.Fprintf(&text, "users: [\n  { user: %s, password: $CENTRE_PASSWORD }\n", centreUser)
	for _, id := range ids {
		fmt.Fprintf(&text, `  {
    user: box-%[1]s, password: %[2]s, allowed_connection_types: [MQTT]
    permissions { publish: ["sensegate.%[1]s.>"], subscribe: ["sensegate.%[1]s.>", "$MQTT.sub.>"] }
  }
`, id, boxPassword)
	}
	text.WriteString("]\n")
	return text.String()
}
