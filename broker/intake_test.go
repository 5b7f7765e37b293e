package broker

import (
	"context"
	"net/netip"
	"strings"
	"testing"

	"sensegate/broker/guard/guardtest"
	"sensegate/motion"
	"sensegate/motion/fault"
)

// testEngine lets in one guardian and passes on what it reports and what was bad.
type testEngine struct {
	reports chan motion.Report
	bad     chan string
}

func (testEngine) Login(context.Context, string, string) (motion.DeviceKey, error) {
	return guardian, nil
}

func (testEngine) LoginUser(context.Context, string, string) (motion.UserTopics, error) {
	return motion.UserTopics{}, fault.New(fault.Unauthorized, "no user")
}

func (testEngine) Connected(motion.DeviceKey, netip.Addr)     {}
func (testEngine) Disconnected(motion.DeviceKey, string)      {}
func (e testEngine) BadInput(device, reason string, _ []byte) { e.bad <- device + " " + reason }

func (e testEngine) Report(_ context.Context, _ motion.DeviceKey, report motion.Report) error {
	e.reports <- report
	return nil
}

func TestWhatCannotBeReadIsAcknowledgedAndCounted(t *testing.T) {
	t.Parallel()
	e := testEngine{make(chan motion.Report, 10), make(chan string, 10)}
	c := startWith(t, Intake{Engine: e}, nil).device(t, 4, guardian)
	c.Send(guardtest.Publish{Topic: eventTopic, QoS: 1, ID: 1, Payload: "not json"}.Bytes())
	c.Expect("40020001")
	if got := next(t, e.bad); !strings.HasPrefix(got, guardian.String()+" not JSON: ") {
		t.Errorf("counted %q, want the device and what was wrong", got)
	}
	heartbeat := `{"ts":1764000060.2,"guardian_id":"a41f00c2","network_id":1042,"motion_enabled":1}`
	c.Send(guardtest.Publish{Topic: guardianRoot + "evt/guardian-status/fmt/json", QoS: 1, ID: 2, Payload: heartbeat}.Bytes())
	c.Expect("40020002")
	if _, ok := next(t, e.reports).(motion.StatusReport); !ok {
		t.Error("the next message was not taken in")
	}
	if len(e.bad) != 0 {
		t.Errorf("counted %q too", <-e.bad)
	}
}
