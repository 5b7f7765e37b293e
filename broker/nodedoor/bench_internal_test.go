package nodedoor

import (
	"context"
	"encoding/binary"
	"log/slog"
	"net"
	"net/netip"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"sensegate/broker/nodewire"
	"sensegate/motion"
	"sensegate/motion/csi"
)

// silence is an engine in which every RuView node with number 2 is adopted, and nothing else.
type silence struct{}

func (silence) Receiver(_ context.Context, said motion.Radar, _ motion.MAC, _ motion.Credentials) (key motion.DeviceKey, receiver motion.MAC, why string, err error) {
	if motion.NodeNumberOf(said.DeviceID) != "2" {
		return key, receiver, "waiting for adoption", nil
	}
	return motion.DeviceKey{Kind: motion.RadarKind, ID: said.DeviceID}, said.Interfaces[0].MAC, "", nil
}
func (silence) Report(context.Context, motion.DeviceKey, motion.Report) error { return nil }
func (silence) BadInput(string, string, []byte)                               {}
func (silence) Disconnected(motion.DeviceKey, string)                         {}
func (silence) KnowsTransmitter(motion.DeviceKey, motion.MAC) bool            { return false }
func (silence) NodeFigures(string, *motion.NodeFigures)                       {}

// BenchmarkDoor is a datagram of an adopted node, from its bytes to where it is gathered for the engine.
func BenchmarkDoor(b *testing.B) {
	now := time.Unix(1764000000, 0)
	d := New(Config{}, Options{
		Engine: silence{}, Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return now },
		Neighbour: func(netip.Addr) motion.MAC { return motion.MAC{} },
		Connected: func() ([]netip.Prefix, error) { return nil, nil },
	})
	u := &udp{door: d, kind: motion.RuView, decode: nodewire.RuView}
	from := netip.MustParseAddr("127.0.0.1")
	frame := nodewire.Frame{Node: 2, Channel: 6, Data: make([]byte, 128)}
	datagram := nodewire.AppendRuView(nil, &frame)
	next := func() {
		now = now.Add(10 * time.Millisecond)
		binary.LittleEndian.PutUint32(datagram[12:], binary.LittleEndian.Uint32(datagram[12:])+1)
		datagram[30]++
		u.take(datagram, from, &frame)
	}
	for range 3 {
		next()
	}
	d.tend(b.Context())
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if next(); i%25 == 24 {
			d.handOver(b.Context())
		}
	}
	if u.limited.Load() > 0 || d.list()[0].tally.counted < int64(b.N)/2 {
		b.Fatalf("%+v", d.list()[0].tally)
	}
}

// BenchmarkFlood has a node send 100 frames a second over a real socket while others send as much as the flood says,
// 5 s for each: by strangers from many addresses, by somebody in the name of another adopted node, cut short, and the same datagram
// again and again. It reports how long a frame of the node takes until it is read, and how many are lost.
func BenchmarkFlood(b *testing.B) {
	for _, flood := range []struct {
		name string
		rate int // datagrams a second
		from []string
		make func(i int) []byte
	}{
		{name: "nothing", from: []string{"127.0.0.9:0"}},
		{"strangers", 50_000, many(64), func(i int) []byte { return ruViewFrame(uint8(i), uint32(i), i) }},
		{"in the name of another node", 50_000, []string{"127.0.0.9:0"}, func(i int) []byte { return ruViewFrame(2, uint32(i), i) }},
		{"cut short", 50_000, many(64), func(i int) []byte { return ruViewFrame(2, uint32(i), i)[:40] }},
		{"the same again", 50_000, []string{"127.0.0.9:0"}, func(int) []byte { return ruViewFrame(2, 7, 7) }},
	} {
		b.Run(flood.name, func(b *testing.B) {
			for range b.N {
				benchmarkFlood(b, flood.rate, flood.from, flood.make)
			}
		})
	}
}

// many returns so many addresses of loopback.
func many(n int) (list []string) {
	for i := range n {
		list = append(list, netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 1, byte(1 + i)}), 0).String())
	}
	return list
}

// ruViewFrame returns a datagram; its channel state begins with the time at which it was made.
func ruViewFrame(node uint8, number uint32, differs int) []byte {
	data := make([]byte, 128)
	binary.LittleEndian.PutUint64(data, uint64(time.Now().UnixNano()))
	data[9] = byte(differs)
	return nodewire.AppendRuView(nil, &nodewire.Frame{Node: node, Seq: nodewire.Sequence{Number: number}, Channel: 6, Flags: csi.ImagFirst, Data: data})
}

func benchmarkFlood(b *testing.B, rate int, from []string, flooding func(int) []byte) {
	const length, own = 5 * time.Second, 100
	d := New(Config{}, Options{
		Engine: silence{}, Log: slog.New(slog.DiscardHandler),
		Neighbour: func(netip.Addr) motion.MAC { return motion.MAC{} },
		Connected: func() ([]netip.Prefix, error) { return nil, nil },
	})
	var took []time.Duration // of the node that is looked at, which is at 127.0.0.2
	u := &udp{door: d, kind: motion.RuView, at: "127.0.0.1:0"}
	looked := false
	u.decode = func(datagram []byte, f *nodewire.Frame) error {
		err := nodewire.RuView(datagram, f)
		if err == nil && f.Seq.Number >= 1<<20 {
			looked = true
			took = append(took, time.Since(time.Unix(0, int64(binary.LittleEndian.Uint64(f.Data)))))
		}
		return err
	}
	d.intakes = []intake{u}
	if err := d.Listen(); err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(b.Context())
	var group sync.WaitGroup
	group.Go(func() { _ = d.Run(ctx) })
	to := u.conn.LocalAddr().String()
	dial := func(from string) net.Conn {
		at, err := net.ResolveUDPAddr("udp", from)
		if err != nil {
			b.Fatal(err)
		}
		conn, err := (&net.Dialer{LocalAddr: at}).Dial("udp", to)
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	node, victim := dial("127.0.0.2:0"), dial("127.0.0.9:0")
	for i := range 150 { // both are adopted meanwhile
		_, _ = node.Write(ruViewFrame(2, uint32(1000+i), i))
		_, _ = victim.Write(ruViewFrame(2, uint32(1000+i), i))
		time.Sleep(10 * time.Millisecond)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	end := time.Now().Add(length)
	if rate > 0 {
		group.Go(func() {
			var conns []net.Conn
			for _, f := range from {
				conns = append(conns, dial(f))
			}
			for i, begun := 0, time.Now(); time.Now().Before(end); {
				for due := int(time.Since(begun).Seconds() * float64(rate)); i < due; i++ {
					_, _ = conns[i%len(conns)].Write(flooding(i))
				}
				time.Sleep(time.Millisecond)
			}
		})
	}
	sent := 0
	for tick := time.NewTicker(time.Second / own); time.Now().Before(end); <-tick.C {
		_, _ = node.Write(ruViewFrame(2, uint32(1<<20+sent), sent))
		sent++
	}
	time.Sleep(100 * time.Millisecond)
	runtime.GC()
	runtime.ReadMemStats(&after)
	arrived := u.arrived.Load()
	stop()
	group.Wait()
	if !looked {
		b.Fatal("no frame of the node is read")
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
	b.ReportMetric(float64(sent-len(took))/float64(sent)*100, "%lost")
	b.ReportMetric(float64(arrived)/length.Seconds(), "datagrams/s")
	b.ReportMetric((float64(after.HeapAlloc)-float64(before.HeapAlloc))/1024, "KiB-more")
	b.ReportMetric(0, "ns/op")
}
