package sensing

import (
	"encoding/json"
	"maps"
	"strconv"

	"sensegate/motion/detect"
	"sensegate/motion/engine/state"
	"sensegate/motion/fuse"
)

// learned is what a network's pipeline must not lose at a restart.
type learned struct {
	Links  map[string]detect.Learned `json:"links"`  // by learnedKey
	Coarse map[string]detect.Learned `json:"coarse"` // by coarseKey
	Fusion fuse.Learned              `json:"fusion"`
	Source state.Source              `json:"source"`
}

// saveLearned returns what has been learned, as JSON.
func (n *network) saveLearned() (json.RawMessage, error) {
	l := learned{
		Links: map[string]detect.Learned{}, Coarse: map[string]detect.Learned{},
		Fusion: n.pipeline.fuser.Learned(), Source: n.Source,
	}
	maps.Copy(l.Links, n.pipeline.learned.Links)
	maps.Copy(l.Coarse, n.pipeline.learned.Coarse)
	for key, sensor := range n.pipeline.sensors {
		l.Links[learnedKey(key)] = sensor.csi.Snapshot()
		for source, coarse := range sensor.coarse {
			l.Coarse[coarseKey(key, source)] = coarse.Snapshot()
		}
	}
	return json.Marshal(l)
}

// stateFrom decodes what was stored of a state. ok is whether there is one; on an error it
// is the zero state.
func stateFrom[S any](raw json.RawMessage, err error) (stored S, ok bool, _ error) {
	if err != nil || raw == nil {
		return stored, false, err
	}
	if err := json.Unmarshal(raw, &stored); err != nil {
		return *new(S), false, err
	}
	return stored, true, nil
}

// Keep returns what a flush stores of a network: what its links have learned, with learn,
// and the state of its events, with learn or while a detection is open. nil: not now.
func (se *Sensing) Keep(of *state.Network, learn bool) (detectors, events json.RawMessage, err error) {
	n := networkOf(of)
	if n.Reach.Received.IsZero() && n.Source.Heard <= n.pipeline.learned.Source.Heard {
		return nil, nil, nil // nothing has come since the start
	}
	if learn {
		detectors, err = n.saveLearned()
	}
	if machine := n.pipeline.machine.State(); err == nil && (learn || machine.Open != nil) {
		events, err = json.Marshal(machine)
	}
	return detectors, events, err
}

// learnedKey names a link in what is saved.
func learnedKey(key fuse.Link) string { return key.Src.Name() + ">" + key.Dst.Name() }

// coarseKey names a link's figures of one kind in what is saved.
func coarseKey(key fuse.Link, source detect.Source) string {
	return learnedKey(key) + ":" + strconv.Itoa(int(source))
}
