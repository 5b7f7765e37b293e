package sensing

import (
	"sensegate/motion"
	"sensegate/motion/detect"
	"sensegate/motion/engine/state"
	"sensegate/motion/fuse"
	"sensegate/store"
)

// pipeline takes a network from reports to motion: its detectors, their fusion and the
// event machine. It is guarded by the network's mutex.
type pipeline struct {
	fuser   *fuse.Fuser
	sensors map[fuse.Link]*sensor
	machine *fuse.Events

	noisy []fuse.NoiseChange
	ready []*fuse.Sample // copies that wait to be taken in
	free  []*fuse.Sample
	row   []store.Value // of the newest sample with data, for the history
	keys  []fuse.Link   // of the newest matrix

	learned learned // of links that have not been heard since the start
}

// sensor is one link of the own engine, with a detector for each kind of input
// it has sent.
type sensor struct {
	key     fuse.Link
	csi     *detect.Link
	coarse  map[detect.Source]*detect.Coarse
	clock   state.Anchor
	emit    func(detect.Tick)
	asked   asked  // the last calibration that somebody began or cancelled
	leftOut string // the reason why its ticks are not fused; see chooseLinks
	pinned  bool   // it has a sensitivity of its own
	decides bool   // its figures are decisions of a node that senses motion by itself

	figures    detect.Source // the kind of plain figure that came last
	last       detect.Tick   // zero before the first
	lastMotion motion.Time   // of the link itself, on the data's clock
}

// reconfigure puts changed configuration and records in force.
func (p *pipeline) reconfigure(n *network) {
	p.fuser.SetPriority(n.Guardian.Leafblower.ZonePriorityList)
	for key, sensor := range p.sensors {
		p.fuser.SetZone(key, n.Zone(key), n.FarZone(key))
		sensor.pinned = n.OwnSens(key) > 0
		for _, d := range sensor.detectors() {
			d.SetSensitivity(n.sensitivity(key))
			d.SetCalibration(motion.Seconds(n.Radar.Sounding.WarmupS))
		}
	}
}

// sensitivity returns the point of the 0..100 scale for a link.
func (n *network) sensitivity(key fuse.Link) float64 {
	return detect.SensitivityOf(n.FactsOf(key).Sens)
}

// sensor returns a link's detector, made when the link is new.
func (n *network) sensor(key fuse.Link) *sensor {
	if s := n.pipeline.sensors[key]; s != nil {
		return s
	}
	s := &sensor{key: key, csi: detect.NewLink(n.detection(key)), pinned: n.OwnSens(key) > 0, coarse: map[detect.Source]*detect.Coarse{}}
	if before, ok := n.pipeline.learned.Links[learnedKey(key)]; ok {
		_ = s.csi.Restore(before) // what cannot be restored is learned anew
	}
	fuser := n.pipeline.fuser
	s.emit = func(t detect.Tick) {
		if s.last = t; t.Normal.Motion {
			s.lastMotion = t.Time
		}
		if s.pinned {
			t.Pin()
		}
		if s.decides {
			t.Quality.Weak, t.Quality.Coarse = false, false
		}
		if s.leftOut == "" {
			fuser.Add(key, t)
			if n.walk != nil && n.walk.Running() {
				n.walkTick(key, t)
			}
		}
	}
	fuser.SetZone(key, n.Zone(key), n.FarZone(key))
	n.pipeline.sensors[key] = s
	return s
}

// detection returns how a link's detectors are run.
func (n *network) detection(key fuse.Link) detect.Config {
	config := detect.Defaults()
	config.Sensitivity = n.sensitivity(key)
	config.Calibration = motion.Seconds(n.Radar.Sounding.WarmupS)
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

// active returns the detector that made the newest decision.
func (s *sensor) active() detector {
	if coarse := s.coarse[s.figures]; s.last.Quality.Coarse && coarse != nil {
		return coarse
	}
	return s.csi
}

// push takes a plain figure of a link at time t.
func (s *sensor) push(n *network, source detect.Source, t motion.Time, value float64) {
	if s.coarse[source] == nil {
		made := detect.NewCoarse(n.detection(s.key), source)
		if before, ok := n.pipeline.learned.Coarse[coarseKey(s.key, source)]; ok {
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
	p := &n.pipeline
	p.noisy = append(p.noisy, step.Noisy...)
	if step.Sample == nil {
		return
	}
	r := p.spare()
	links, zones := r.Links, r.Zones
	*r = *step.Sample
	r.Links = append(links[:0], step.Sample.Links...)
	r.Zones = append(zones[:0], step.Sample.Zones...)
	p.ready = append(p.ready, r)
}

// spare returns a sample to be filled in; it belongs into free when it has been taken in.
func (p *pipeline) spare() *fuse.Sample {
	k := len(p.free)
	if k == 0 {
		return &fuse.Sample{}
	}
	s := p.free[k-1]
	p.free = p.free[:k-1]
	return s
}
