package evaluate

import (
	"math"
	"slices"

	"sensegate/firmware-sim/chance"
	"sensegate/firmware-sim/channel"
	"sensegate/firmware-sim/scenario"
	"sensegate/motion"
)

// What is wrong with the radio of homes of many links. The figures are plain ones, chosen before anything was measured.
const (
	noisyLoss, noisyBurst  = 0.5, 0.15 // of a link in heavy interference: shares of frames, and of half seconds, that are lost …
	noisyFactor, noisyWave = 6, 0.15   // … how many times as much noise, and how much more ripple

	flipEvery   motion.Seconds = 0.5  // how long a node stays with an antenna that it chooses by chance …
	flipApart                  = 0.15 // … of two that are so far apart, m
	spellEvery  motion.Seconds = 300  // a node that flips now and then begins so often …
	spellLength motion.Seconds = 30   // … and goes on so long

	changeEvery motion.Seconds = 600 // how often a mesh re-routes, and a guardian roams, in quiet time
	joinSilence motion.Seconds = 3   // of a link that comes up
	retuned                    = 0.6 // factor of the counts of a receiver that sets its gain anew
	roamedBy                   = 0.4 // m, how far the guardian's other antenna is …
	roamedLoss                 = 6.0 // … and how much less it hears, dB
	roamBegins  motion.Seconds = 5   // the guardian's connection breaks so long after its radio changed …
	roamSilence motion.Seconds = 2   // … for so long: what it measures then is lost
)

// trouble is what may be wrong with the radio of a home.
type trouble uint8

const (
	nothing     trouble = iota
	deaf                // a link sees nobody
	interfered          // a link is in heavy interference
	flips               // the receiver of a link flips between two antennas now and then
	stuck               // it always does: the link is stuck in motion
	reroutes            // a device and an extender change their parents, there and back
	roams               // the guardian's radio changes at once, and its gain; and it connects anew
	roamsLevel          // the same with a gain that keeps the level
	troubleKind         // how many there are
)

// troubles names them.
var troubles = [troubleKind]string{"nothing", "one sees nobody", "one in interference", "one flips now and then", "one stuck in motion", "mesh re-routes", "guardian roams, gain jumps", "guardian roams, level kept"}

// voice is a link as a network hears it: where it goes, and what sounds on it.
type voice struct {
	link   scenario.Link
	config channel.Config
	sound  sounder
}

// cast makes the voices of a home.
type cast struct {
	home    *scenario.Scenario
	plan    *channel.Plan
	seed    uint64
	changes []motion.Time // when what changes does, ascending
}

// victim returns the device whose link is in trouble.
func (c *cast) victim() int { return len(c.home.Leafs) / 2 }

// plain returns a link with which nothing is wrong.
func (c *cast) plain(link scenario.Link) voice {
	config := c.home.Radio(c.plan, link, c.seed)
	return voice{link, config, undisturbed(link, config)}
}

// affected returns what a network in trouble hears instead of a link, and false where nothing is wrong with that one.
func (c *cast) affected(link scenario.Link, what trouble) ([]voice, bool) {
	v := c.plain(link)
	one := func(sound sounder) ([]voice, bool) {
		v.sound = sound
		return []voice{v}, true
	}
	mine := link.Leaf == c.victim()
	switch {
	case what == deaf && mine:
		sound := v.sound
		return one(func(from, to motion.Time, _ *channel.Scene) ([]channel.Frame, uint32) {
			return sound(from, to, &channel.Scene{})
		})
	case what == interfered && mine:
		d := &v.config.Device
		d.Loss, d.Burst, d.Noise, d.Ripple = noisyLoss, noisyBurst, d.Noise*noisyFactor, d.Ripple+noisyWave
		return one(undisturbed(link, v.config))
	case what == flips && mine:
		return one(c.flipping(v.config, func(t motion.Time) bool { return math.Mod(float64(t), spellEvery) < spellLength }))
	case what == stuck && mine:
		return one(c.flipping(v.config, func(motion.Time) bool { return true }))
	case what == reroutes:
		return c.rerouted(v)
	case (what == roams || what == roamsLevel) && link.Node == 0:
		other := v.config
		other.To.X += roamedBy
		if what == roams {
			other.Device.Counts *= retuned
		}
		other.Device.Power -= roamedLoss
		return one(c.alternating([2]sounder{v.sound, undisturbed(link, other)}, [2]uint32{}, silent{roamBegins, roamBegins + roamSilence}))
	}
	return nil, false
}

// rerouted returns what is heard instead of a link in a mesh that re-routes: the victim changes over to another node, and
// so does the last extender, which goes to another channel and sets its gain anew.
func (c *cast) rerouted(v voice) ([]voice, bool) {
	last := len(c.home.Nodes) - 1
	other := v.link
	switch {
	case v.link.Leaf == c.victim():
		other.Node = nearestNode(c.home, v.config.From, v.link.Node)
	case v.link.Peer == last && last > 1:
		other.Node = nearestNode(c.home, v.config.From, last)
		if other.Node == 0 {
			other.Node = 1
		}
	case v.link.Node == last:
		retuning := v.config
		retuning.Carrier = carriers()[1]
		retuning.Device.Counts *= retuned
		v.sound = c.alternating([2]sounder{v.sound, undisturbed(v.link, retuning)}, [2]uint32{1, 6}, silent{0, joinSilence})
		return []voice{v}, true
	default:
		return nil, false
	}
	w := c.plain(other)
	none := func(motion.Time, motion.Time, *channel.Scene) ([]channel.Frame, uint32) { return nil, 0 }
	silence := silent{0, joinSilence}
	v.sound, w.sound = c.alternating([2]sounder{v.sound, none}, [2]uint32{}, silence), c.alternating([2]sounder{none, w.sound}, [2]uint32{}, silence)
	return []voice{v, w}, true
}

// silent is when a link is not heard, from and to in seconds since a change.
type silent struct{ from, to motion.Seconds }

// alternating returns the sounder of a link that changes over from one radio to the other and back at the
// changes.
func (c *cast) alternating(radios [2]sounder, formats [2]uint32, silence silent) sounder {
	return func(from, to motion.Time, scene *channel.Scene) ([]channel.Frame, uint32) {
		turn, last := 0, motion.Time(0)
		for _, t := range c.changes {
			if t <= from {
				turn, last = turn+1, t
			}
		}
		frames, _ := radios[turn%2](from, to, scene)
		frames = slices.DeleteFunc(frames, func(f channel.Frame) bool {
			since := f.Time.Since(last)
			return turn > 0 && silence.from <= since && since < silence.to
		})
		return frames, formats[turn%2]
	}
}

// flipping returns the sounder of a link whose receiver flips between two antennas at the times that when holds for.
func (c *cast) flipping(config channel.Config, when func(motion.Time) bool) sounder {
	usual := channel.NewLink(config)
	config.To.X += flipApart
	other := channel.NewLink(config)
	var frames, flipped []channel.Frame
	return func(from, to motion.Time, scene *channel.Scene) ([]channel.Frame, uint32) {
		frames = usual.Sound(frames[:0], from, to, scene)
		if !when(from) {
			return frames, 0
		}
		flipped = other.Sound(flipped[:0], from, to, scene) // frames of the same times
		for i := range frames {
			if piece := math.Floor(float64(frames[i].Time) / flipEvery); chance.Unit(c.seed, uint64(piece), 72) < 0.5 {
				frames[i] = flipped[i]
			}
		}
		return frames, 0
	}
}
