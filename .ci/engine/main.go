package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

func main() {
	if len(os.Args) == 3 && os.Args[1] == nodeFlag {
		if err := serveNode(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, "engine:", err)
			os.Exit(1)
		}
		return
	}
	kills := flag.Int("kills", 3, "")
	boxes := flag.Int("boxes", 20, "")
	confirm := flag.Bool("confirm", false, "")
	pause := flag.Duration("pause", 50*time.Millisecond, "")
	flag.Parse()
	if err := run(*kills, *boxes, *confirm, *pause); err != nil {
		fmt.Fprintln(os.Stderr, "engine:", err)
		os.Exit(1)
	}
}

func run(kills, boxes int, confirm bool, pause time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	dir, err := os.MkdirTemp("", "engine")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var users strings.Builder
	fmt.Fprintf(&users, "users: [\n{user: centre, password: %s}\n", centrePassword)
	for i := range boxes {
		id := fmt.Sprintf("%08x", i+1)
		fmt.Fprintf(&users, `{user: box-%[1]s, password: "p", allowed_connection_types: [MQTT], permissions {publish: ["sensegate.%[1]s.>"], subscribe: ["sensegate.%[1]s.>", "stored.sensegate.%[1]s.>", "$MQTT.sub.>"]}}`+"\n", id)
	}
	users.WriteString("]\n")
	c, err := startCluster(ctx, dir, "../../docs/fleet/nats.conf", users.String())
	if err != nil {
		return err
	}
	defer c.stop()
	ce, err := newCentre(c)
	if err != nil {
		return err
	}
	first := &box{id: "00000001", address: c.nodes[0].mqtt}
	done, enough := context.WithCancel(ctx)
	enough()
	if err := first.run(done, ctx); err != nil {
		return err
	}
	var config jetstream.StreamConfig
	text, _ := os.ReadFile("../../docs/fleet/stream.json")
	if err := json.Unmarshal(text, &config); err != nil {
		return err
	}
	if err := ce.makeStream(ctx, config); err != nil {
		return err
	}
	for {
		st, err := ce.Stream(ctx, "$MQTT_msgs")
		if err == nil && st.CachedInfo().State.Consumers > 0 {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	fmt.Println("cluster is up")
	load, endLoad := context.WithCancel(ctx)
	defer endLoad()
	var all []*box
	var wg sync.WaitGroup
	for i := range boxes {
		b := &box{id: fmt.Sprintf("%08x", i+1), address: c.nodes[i%3].mqtt, confirm: confirm, pause: pause}
		all = append(all, b)
		wg.Go(func() {
			if err := b.run(load, ctx); err != nil {
				fmt.Println(b.id, err)
			}
		})
	}
	time.Sleep(3 * time.Second)
	for i := range kills {
		n := c.nodes[i%3]
		leader, err := ce.leader(ctx, streamName)
		msgs, err2 := ce.leader(ctx, "$MQTT_msgs")
		if i%2 == 0 {
			for _, x := range c.nodes {
				if x.name == leader {
					n = x
				}
			}
		}
		fmt.Println("kill", i, n.name, "stream leader", leader, err, "mqtt leader", msgs, err2)
		n.kill()
		time.Sleep(2 * time.Second)
		if err := c.start(n); err != nil {
			return err
		}
		began := time.Now()
		if err := n.ready(ctx); err != nil {
			return err
		}
		fmt.Println("ready after", time.Since(began))
		time.Sleep(2 * time.Second)
	}
	endLoad()
	wg.Wait()
	total := 0
	for _, b := range all {
		total += b.made
	}
	var read map[string]*found
	stopped := time.Now()
	for range 60 {
		have := 0
		if read, err = ce.readAll(ctx); err == nil {
			for _, f := range read {
				have += len(f.ids)
			}
		}
		if have >= total {
			break
		}
		time.Sleep(time.Second)
	}
	fmt.Println("settled after", time.Since(stopped))
	var made, missing, doubles, disorder, resent int
	for _, b := range all {
		f := read["home"+b.id]
		made += b.made
		resent += b.resent
		if f == nil {
			missing += b.made
			continue
		}
		doubles += f.doubles
		disorder += f.disorder
		gap := 0
		for n := 1; n <= b.made+1; n++ {
			if n <= b.made && f.ids[fmt.Sprintf("%s-%d", b.id, n)] == 0 {
				missing++
				gap++
				continue
			}
			if gap > 0 {
				fmt.Printf("%s at %s: %d..%d missing of %d\n", b.id, b.address, n-gap, n-1, b.made)
			}
			gap = 0
		}
	}
	fmt.Println("made", made, "missing", missing, "doubles", doubles, "disorder", disorder, "resent", resent)
	return nil
}
