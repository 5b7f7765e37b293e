package fleet_test

import (
	"encoding/json"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"sensegate/firmware-sim/fleet"
	"sensegate/motion/uplink/uplinktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestBoxesSendWhatUplinksSend(t *testing.T) {
	t.Parallel()
	broker := uplinktest.Start(t, uplinktest.Options{})
	reader := broker.Listen("sensegate/#")
	address, err := url.Parse(broker.URL())
	if err != nil {
		t.Fatal(err)
	}
	r, err := fleet.Run(t.Context(), fleet.Config{
		Boxes: 3, URLs: []*url.URL{address}, Events: 2000, Speed: 600, Duration: time.Second, PIDs: []int{os.Getpid()},
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Boxes != 3 || r.Sent < 3 || r.Failed != 0 || r.Lost != 0 || r.Bytes < 100*r.Sent || r.Median <= 0 || r.Slow < r.Median {
		t.Errorf("%+v", r)
	}
	kinds, online := map[string]int{}, 0
	for kinds["health"]+kinds["history"]+kinds["event"] < r.Sent || online < 3 {
		m := reader.Next()
		if strings.HasSuffix(m.Topic, "/availability") {
			if string(m.Payload) == "online" {
				online++
			}
			continue
		}
		if !json.Valid(m.Payload) {
			t.Errorf("%s: %s", m.Topic, m.Payload)
		}
		kinds[m.Topic[strings.LastIndex(m.Topic, "/")+1:]]++
	}
	if kinds["health"] == 0 || kinds["history"] == 0 || kinds["event"] == 0 {
		t.Errorf("kinds %v", kinds)
	}
}
