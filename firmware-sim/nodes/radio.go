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
	Kind    motion.NodeKind
	Place   int        // it stands where the house has its leaf of this index, counted round
	Rate    float64    // frames a second
	Router  motion.MAC // whose frames it measures
	Foreign float64    // share of frames that neighbours' devices have sent, 0..1
	Mixed   bool       // 78 % of a RuView node's frames have one training field, 21 % two and 1 % three, as recorded
}

// layout returns what a frame has in it, and the chip that measures it, as channel.DeviceOf knows chips.
func (c *RadioConfig) layout() (layout channel.Layout, chip string) {
	switch {
	case c.Kind == motion.RuView && c.Mixed:
		return channel.ESP32Fields(3), "s3"
	case c.Kind == motion.RuView:
		return channel.ESP32Fields(1), "s3"
	case c.Kind == motion.CSILines:
		return channel.ESP32Fields(2), "esp32"
	case c.Kind == motion.Nexmon:
		return channel.HT20(), "s3"
	}
	return channel.HT20Ascending(), "c6"
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
	layout, chip := c.layout()
	at := h.place.Leafs[c.Place%len(h.place.Leafs)].At.Point()
	hear := func(mac motion.MAC, from channel.Point) {
		r.heard = append(r.heard, transmitter{mac, channel.NewLink(channel.Config{
			Seed: chance.Mix(r.seed, uint64(len(r.heard))), Plan: h.plan, From: from, To: at, Layout: layout, Device: channel.DeviceOf(chip),
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
	if r.config.Kind == motion.RuView && r.config.Mixed {
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
