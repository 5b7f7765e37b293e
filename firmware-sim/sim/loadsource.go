package sim

import (
	"encoding/hex"
	"fmt"

	"github.com/google/uuid"

	"sensegate/broker/wire"
	"sensegate/firmware-sim/chance"
	"sensegate/motion"
	"sensegate/motion/csi"
)

// LoadKind is the kind of messages of a load.
type LoadKind string

// The kinds of load.
const (
	LoadEvents LoadKind = "event"  // event records: QoS 1, acknowledged when they are stored
	LoadMatrix LoadKind = "matrix" // a guardian's live motion: QoS 0
	LoadCSI    LoadKind = "csi"    // batches of 12 frames of 64 subcarriers: QoS 0
)

const (
	loadFrames      = 12
	loadSubcarriers = 64
	loadFrameStep   = 40_000 // µs
)

type loadMessage struct {
	topic   string
	payload []byte
	live    bool // QoS 0
}

// loadSource makes the messages of one network.
type loadSource struct {
	kind  LoadKind
	agent *agent
	fleet *fleet
	batch csi.Batch
}

func newLoadSource(kind LoadKind, f *fleet) *loadSource {
	s := &loadSource{kind: kind, agent: f.guardian, fleet: f}
	if kind == LoadCSI {
		s.agent = f.radars[0]
		link := f.home.Links()[0]
		s.batch = csi.Batch{Src: link.Src, Dst: link.Dst, Flags: csi.ImagFirst, Channel: channel24, Subcarriers: loadSubcarriers}
		for i := range loadFrames {
			data := make([]byte, 2*loadSubcarriers)
			for k := range data {
				data[k] = byte(chance.Between(20, 24, uint64(i), uint64(k)))
			}
			s.batch.Frames = append(s.batch.Frames, csi.Frame{
				Offset: uint32(i) * loadFrameStep, Seq: uint16(i), RSSI: -50, Noise: csi.NoiseUnknown, Data: data,
			})
		}
	}
	return s
}

// message returns message number n, stamped t.
func (s *loadSource) message(n int, t motion.Time) loadMessage {
	if s.kind == LoadCSI {
		s.batch.Start = uint64(t.Micros())
		return loadMessage{wire.EventTopic(s.agent.device, wire.EventCSI, wire.FormatBin), csi.Append(nil, &s.batch), true}
	}
	event, format, payload, err := wire.Encode(s.report(n, t))
	if err != nil {
		s.agent.log.Error("encode report", "err", err)
	}
	return loadMessage{wire.EventTopic(s.agent.device, event, format), payload, s.kind == LoadMatrix}
}

func (s *loadSource) report(n int, t motion.Time) motion.Report {
	home := s.fleet.home
	link := home.Links()[0]
	if s.kind == LoadMatrix {
		intensity := chance.Unit(uint64(n))
		return &motion.Matrix{
			TS: t, Interval: int(sampleStep * 1000), Count: 1, MotionEnabled: 1, Links: []string{link.Name},
			Values: motion.Figures{motion.MKAI: {{intensity}}, motion.LRaw: {{intensity}}, motion.Throughput: {{1}}},
		}
	}
	armed := 1
	e := motion.Event{
		Category: motion.CategoryMotion, Event: motion.MotionDetectedEvent, GuardianID: home.GuardianID, TS: t, Armed: &armed,
		Detail: motion.Document{}, LinkID: link.Name, NodeName: home.Nodes[0].Name,
	}
	if n%2 == 1 {
		e.Event, e.DetectedTS = motion.MotionStoppedEvent, t.Add(-sampleStep)
	}
	return motion.EventReport{UUID: uuid.Must(uuid.NewV7()).String(), Event: e}
}

// loadHome returns home number i of a load: an access point and a leaf. No other
// home of the simulator has their addresses.
func loadHome(i int) Home {
	const house = 0xfd
	address := func(last byte) motion.MAC { return motion.MAC{0x02, 0xaa, house, byte(i >> 8), byte(i), last} }
	var id [12]byte
	for k := range id {
		id[k] = byte(chance.Mix(uint64(i), uint64(k), house))
	}
	return Home{
		GuardianID: hex.EncodeToString(id[:]),
		Nodes: []Node{{
			Name: fmt.Sprintf("LDA1%06d", i), DeviceID: "csi-l-" + address(0x10).Name(), FriendlyName: "Access point",
			Location: "Hall", IP: "192.168.11.1", Eth: address(0x10), AP24: address(0x12), AP5: address(0x13), Mesh: address(0x14),
		}},
		Leafs: []Leaf{{
			MAC: motion.MAC{0x02, 0xbb, house, byte(i >> 8), byte(i), 1}, Hostname: "plug", FriendlyName: "Plug", Location: "Hall", IP: "192.168.11.14",
		}},
	}
}
