package browser

import (
	"encoding/json"
	"testing"

	"sensegate/motion"
)

// TestFiguresOfNodesThatWaverSendNothing: a stream of an installation tells what has changed.
func TestFiguresOfNodesThatWaverSendNothing(t *testing.T) {
	t.Parallel()
	with := func(rate, share float64, advice ...motion.NodeAdvice) string {
		v := nodeView("node:ruview:7c2c6742bbac:2", motion.NodeFigures{
			Rate: rate, Used: rate - 7, Lengths: []motion.FrameLength{{Bytes: 128, Share: share}}, Transmitters: []motion.Transmitter{{Share: share}}, Advice: advice,
		})
		raw, err := json.Marshal(steadyDevices(setupState{Devices: []DeviceView{{Node: v}}}))
		if err != nil || v.Rate == nil || len(v.Lengths) != 1 {
			t.Fatalf("%+v, %v", v, err)
		}
		return string(raw)
	}
	if a, b := with(19.8, 0.62), with(20.1, 0.61); a != b {
		t.Errorf("%s, then %s", a, b)
	}
	if a, b := with(19.8, 0.62), with(19.8, 0.62, motion.NoTransmitter); a == b {
		t.Errorf("with advice and without: %s", a)
	}
}
