package nodes

import (
	"sensegate/broker/nodewire"
	"sensegate/firmware-sim/chance"
	"sensegate/firmware-sim/channel"
	"sensegate/motion"
	"sensegate/motion/csi"
)

// Wi-Fi channel of the router.
const routerChannel = 6

// RadioConfig says how a node of a house measures.
type RadioConfig struct {
	Place   int        // it stands where the house has its leaf of this index, counted round
	Rate    float64    // frames a second
	Router  motion.MAC // whose frames it measures
	Foreign float64    // share of frames that neighbours' devices have sent, 0..1
	Fields  int        // training fields of a frame, 1..3, as ESP32 has them: 64 subcarriers each
	Mixed   bool       // 78 % of the frames have one field, 21 % two and 1 % three, as recorded of RuView nodes
}

// foreigners is how many devices of neighbours are heard.
const foreigners = 3

// Shares of frames of two and three fields in a mix.
const shareOfThree, shareOfTwo = 0.01, 0.21

// radio is what a node of a house measures.
type radio struct {
	house  *House
	config RadioConfig
	seed   uint64
	heard  []transmitter // the router first
	data   []byte
}

// transmitter is a device that a node hears.
type transmitter struct {
	mac  motion.MAC
	link *channel.Link
}

// Radio returns what a node of the house measures.
func (h *House) Radio(c RadioConfig) Source {
	r := &radio{house: h, config: c, seed: chance.Mix(h.seed, uint64(c.Place), 61)}
	if c.Mixed {
		r.config.Fields = 3
	}
	at := h.place.Leafs[c.Place%len(h.place.Leafs)].At.Point()
	layout := channel.ESP32Fields(r.config.Fields)
	hear := func(mac motion.MAC, from channel.Point) {
		r.heard = append(r.heard, transmitter{mac, channel.NewLink(channel.Config{
			Seed: chance.Mix(r.seed, uint64(len(r.heard))), Plan: h.plan, From: from, To: at, Layout: layout, Device: channel.DeviceOf("s3"),
		})})
	}
	hear(c.Router, h.place.Nodes[0].At.Point())
	for i := range foreigners {
		const beyond = -6 // m: outside every home
		hear(motion.MAC{0x9e, 0x10, 0, 0, 0, byte(i + 1)}, channel.Point{X: beyond, Y: float64(5 * i), Z: 1})
	}
	return r
}

// jitter is the greatest delay of a frame, as a share of the interval.
const jitter = 0.08

// Frames implements Source.
func (r *radio) Frames(dst []Frame, from, to motion.Time) ([]Frame, bool) {
	scene := r.house.scene(from, to)
	interval := 1 / r.config.Rate
	r.data = r.data[:0]
	for n := uint64(max(0, float64(from)/interval-1)); ; n++ {
		t := motion.Time((float64(n) + jitter*chance.Unit(r.seed, n, 31)) * interval)
		if t >= to {
			break
		}
		if t >= from {
			dst = append(dst, r.measure(n, t, scene))
		}
	}
	return dst, true
}

// measure returns frame n, which is measured at t.
func (r *radio) measure(n uint64, t motion.Time, scene *channel.Scene) Frame {
	of := r.heard[0]
	if chance.Unit(r.seed, n, 32) < r.config.Foreign {
		of = r.heard[1+int(foreigners*chance.Unit(r.seed, n, 33))]
	}
	begin := len(r.data)
	var rssi int8
	r.data, rssi = of.link.Measure(r.data, n, t, scene)
	data := r.data[begin:len(r.data):len(r.data)]
	if r.config.Mixed {
		data = data[:2*64*r.fields(n)]
	}
	return Frame{t, nodewire.Frame{
		Src: of.mac, Channel: routerChannel, RSSI: rssi, Noise: noiseFloor, Flags: csi.ImagFirst, Data: data, Length: len(data),
	}}
}

// noiseFloor is that of a receiver of 20 MHz, dBm.
const noiseFloor = -94

// fields returns how many training fields frame n of a mix has.
func (r *radio) fields(n uint64) int {
	switch u := chance.Unit(r.seed, n, 34); {
	case u < shareOfThree:
		return 3
	case u < shareOfThree+shareOfTwo:
		return 2
	}
	return 1
}
