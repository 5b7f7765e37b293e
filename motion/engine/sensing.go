package engine

import (
	"encoding/json"
	"hash/fnv"
	"maps"
	"strconv"
	"strings"

	"sensegate/motion"
	"sensegate/motion/detect"
	"sensegate/motion/fuse"
	"sensegate/motion/setting"
)

// sensing is how a network senses: its detectors, their fusion and the event
// machine. It is guarded by the network's mutex.
type sensing struct {
	fuser   *fuse.Fuser
	sensors map[fuse.Link]*sensor
	events  *fuse.Events
	names   map[fuse.Link]string // link names of keys that records do not explain

	reach reach // zero before data has come
	noisy []fuse.NoiseChange
	ready []*readySample
	free  []*readySample

	learned learned // of links that have not been heard since the start
}

// readySample is a copy of a fused sample that waits to be taken in.
type readySample struct {
	sample fuse.Sample
}

// sensor is one link of the own engine, with a detector for each kind of input
// it has sent.
type sensor struct {
	key    fuse.Link
	csi    *detect.Link
	coarse map[detect.Source]*detect.Coarse
	clock  anchor
	format csiFormat
	emit   func(detect.Tick)
	left   string // the reason why its ticks are not fused; see chooseLinks

	figures    detect.Source // the kind of plain figure that came last
	last       detect.Tick   // zero before the first
	lastMotion motion.Time   // of the link itself, on the data's clock
}

// csiFormat is what makes two CSI streams of a link incomparable.
type csiFormat struct {
	channel    uint8
	gainLocked bool
}

// learned is what a network's sensing must not lose at a restart.
type learned struct {
	Links  map[string]detect.Learned `json:"links"`  // by learnedKey
	Coarse map[string]detect.Learned `json:"coarse"` // by coarseKey
	Fusion fuse.Learned              `json:"fusion"`
	Source source                    `json:"source"`
}

// newSensing makes the sensing of a network whose records have been read.
func newSensing(n *network, l learned) sensing {
	s := sensing{
		sensors: map[fuse.Link]*sensor{}, names: map[fuse.Link]string{}, learned: l,
	}
	n.source = l.Source
	s.events = fuse.NewEvents(n.eventConfig())
	s.fuser = fuse.New(n.step)
	s.fuser.Restore(l.Fusion)
	s.fuser.SetPriority(n.guardian.Leafblower.ZonePriorityList)
	return s
}

// reconfigure puts changed configuration and records in force.
func (s *sensing) reconfigure(n *network) {
	s.fuser.SetPriority(n.guardian.Leafblower.ZonePriorityList)
	for key, sensor := range s.sensors {
		s.fuser.SetZone(key, n.zone(key))
		for _, d := range sensor.detectors() {
			d.SetSensitivity(n.sensitivity(key))
			d.SetCalibration(motion.Seconds(n.radar.Sounding.WarmupS))
		}
	}
}

// sensitivity returns the point of the 0..100 scale for a link.
func (n *network) sensitivity(key fuse.Link) float64 { return detect.SensitivityOf(n.sensOf(key)) }

// sensOf returns the sensitivity of a link, 1..4: its source's own, else the
// network's.
func (n *network) sensOf(key fuse.Link) int {
	sources := []motion.MAC{key.Src}
	if id, isNode := n.byMAC[key.Src]; isNode {
		sources = addresses(n.nodes[id], n.radars[id])
	}
	if own := setting.Client(n.radar, sources...); own.Sens > 0 {
		return own.Sens
	}
	return n.guardian.MotionEvents.Sens
}

// zone returns the zone of a link: the location of its source, "" for a zone of
// its own.
func (n *network) zone(key fuse.Link) string {
	from, _ := n.endOf(key.Src)
	return from.location
}

// sensor returns a link's detector, made when the link is new.
func (n *network) sensor(key fuse.Link) *sensor {
	if s := n.sensing.sensors[key]; s != nil {
		return s
	}
	s := &sensor{key: key, csi: detect.NewLink(n.detection(key)), coarse: map[detect.Source]*detect.Coarse{}}
	if before, ok := n.sensing.learned.Links[learnedKey(key)]; ok {
		_ = s.csi.Restore(before) // what cannot be restored is learned anew
	}
	fuser := n.sensing.fuser
	s.emit = func(t detect.Tick) {
		if s.last = t; t.Normal.Motion {
			s.lastMotion = t.Time
		}
		if s.left == "" {
			fuser.Add(key, t)
		}
	}
	fuser.SetZone(key, n.zone(key))
	n.sensing.sensors[key] = s
	return s
}

// detection returns how a link's detectors are run.
func (n *network) detection(key fuse.Link) detect.Config {
	config := detect.Defaults()
	config.Sensitivity = n.sensitivity(key)
	config.Calibration = motion.Seconds(n.radar.Sounding.WarmupS)
	return config
}

// detector is a detector of either kind.
type detector interface {
	Calibrate()
	CancelCalibration() bool
	Calibration() detect.Calibration
	SetCalibration(motion.Seconds)
	SetSensitivity(float64)
}

// detectors returns the detectors of a link.
func (s *sensor) detectors() []detector {
	list := []detector{s.csi}
	for _, coarse := range s.coarse {
		list = append(list, coarse)
	}
	return list
}

// push takes a plain figure of a link at time t.
func (s *sensor) push(n *network, source detect.Source, t motion.Time, value float64) {
	if s.coarse[source] == nil {
		made := detect.NewCoarse(n.detection(s.key), source)
		if before, ok := n.sensing.learned.Coarse[coarseKey(s.key, source)]; ok {
			_ = made.Restore(before) // what cannot be restored is learned anew
		}
		s.coarse[source] = made
	}
	s.figures = source
	s.coarse[source].Push(t, value, s.emit)
}

// step takes one fused tick; the Fuser calls it with the network's mutex held.
// Samples are kept until the report is done with: the Fuser uses them again.
func (n *network) step(step *fuse.Step) {
	s := &n.sensing
	s.noisy = append(s.noisy, step.Noisy...)
	if step.Sample == nil {
		return
	}
	var r *readySample
	if k := len(s.free); k > 0 {
		r, s.free = s.free[k-1], s.free[:k-1]
	} else {
		r = &readySample{}
	}
	links, zones := r.sample.Links, r.sample.Zones
	r.sample = *step.Sample
	r.sample.Links = append(links[:0], step.Sample.Links...)
	r.sample.Zones = append(zones[:0], step.Sample.Zones...)
	s.ready = append(s.ready, r)
}

// learnedKey names a link in what is saved.
func learnedKey(key fuse.Link) string { return key.Src.Name() + ">" + key.Dst.Name() }

// coarseKey names a link's figures of one kind in what is saved.
func coarseKey(key fuse.Link, source detect.Source) string {
	return learnedKey(key) + ":" + strconv.Itoa(int(source))
}

// saveLearned returns what has been learned, as JSON.
func (n *network) saveLearned() (json.RawMessage, error) {
	l := learned{
		Links: map[string]detect.Learned{}, Coarse: map[string]detect.Learned{},
		Fusion: n.sensing.fuser.Learned(), Source: n.source,
	}
	maps.Copy(l.Links, n.sensing.learned.Links)
	maps.Copy(l.Coarse, n.sensing.learned.Coarse)
	for key, sensor := range n.sensing.sensors {
		l.Links[learnedKey(key)] = sensor.csi.Snapshot()
		for source, coarse := range sensor.coarse {
			l.Coarse[coarseKey(key, source)] = coarse.Snapshot()
		}
	}
	return json.Marshal(l)
}

// linkName returns the stable name dst_name.src_name of a link, and the names of
// its ends.
func (n *network) linkName(key fuse.Link) (name, dst, src string) {
	if name, ok := n.sensing.names[key]; ok {
		dst, src, _ = strings.Cut(name, ".")
		return name, dst, src
	}
	dst, src = n.endName(key.Dst), n.endName(key.Src)
	return motion.LinkName(dst, src), dst, src
}

func (n *network) endName(mac motion.MAC) string {
	if e, ok := n.endOf(mac); ok {
		return e.name
	}
	return mac.Name()
}

// linkKey returns the key of a link that a device names: "dst.src" by stable
// names, or the old "DDDDDD-SSSSSS", the last three octets of each end
// (payloads.md 6 no. 3). Names that the records do not know get a key of
// their own.
func (n *network) linkKey(name string) fuse.Link {
	dst, src, ok := strings.Cut(name, ".")
	if !ok && len(name) == 13 && name[6] == '-' {
		if key, ok := n.oldLink(name[:6], name[7:]); ok {
			return key
		}
	}
	to, knownTo := n.endNamed(dst)
	from, knownFrom := n.endNamed(src)
	if knownTo && knownFrom {
		return fuse.Link{Src: from.mac, Dst: to.mac}
	}
	key := fuse.Link{Src: from.mac, Dst: to.mac}
	if !knownTo {
		key.Dst = invented(dst)
	}
	if !knownFrom {
		key.Src = invented(src)
	}
	n.sensing.names[key] = name
	return key
}

// oldLink finds the ends of an old link id.
func (n *network) oldLink(dst, src string) (fuse.Link, bool) {
	to, okTo := n.endEnding(dst)
	from, okFrom := n.endEnding(src)
	return fuse.Link{Src: from, Dst: to}, okTo && okFrom
}

// endEnding returns the address that ends with the given six digits.
func (n *network) endEnding(digits string) (motion.MAC, bool) {
	digits = strings.ToLower(digits)
	for mac := range n.byMAC {
		if strings.HasSuffix(mac.Name(), digits) {
			return mac, true
		}
	}
	for mac := range n.leafs {
		if strings.HasSuffix(mac.Name(), digits) {
			return mac, true
		}
	}
	return motion.MAC{}, false
}

// invented returns a locally administered address that stands for a name.
func invented(name string) motion.MAC {
	if mac, err := motion.ParseMAC(name); err == nil {
		return mac
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	sum := h.Sum32()
	return motion.MAC{0x02, 0xff, byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)}
}
