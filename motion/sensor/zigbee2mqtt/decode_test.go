package zigbee2mqtt

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"sensegate/motion/sensor"
)

func TestDeviceTypeComesFromWhatIsExposed(t *testing.T) {
	t.Parallel()
	for exposes, want := range map[string]sensor.Type{
		`[{"name":"contact","access":1},{"name":"vibration","access":1}]`:                    sensor.Door,
		`[{"name":"temperature","access":1},{"name":"occupancy","access":1}]`:                sensor.Motion,
		`[{"name":"presence","property":"presence","access":1}]`:                             sensor.Motion,
		`[{"name":"vibration","access":1},{"name":"action","access":1}]`:                     sensor.Vibration,
		`[{"name":"humidity","access":5}]`:                                                   sensor.Climate,
		`[{"name":"contact","access":2}]`:                                                    "",
		`[{"name":"smoke","access":1}]`:                                                      "",
		`[{"type":"climate","features":[{"name":"local_temperature","access":1}]}]`:          "",
		`[` + strings.Repeat(`{"name":"x"},`, maxExposes) + `{"name":"contact","access":1}]`: "",
	} {
		var d device
		if err := json.Unmarshal([]byte(`{"definition":{"exposes":`+exposes+`}}`), &d); err != nil {
			t.Fatal(err)
		}
		if kind, _, ok := d.kindOf(); kind != want || ok != (want != "") {
			t.Errorf("%.80s: %q", exposes, kind)
		}
	}
}

func TestValuesStandUnderTheirProperty(t *testing.T) {
	t.Parallel()
	var d device
	if err := json.Unmarshal([]byte(`{"definition":{"exposes":[{"name":"contact","property":"contact_left","endpoint":"left","access":1},{"name":"contact","property":"contact_right","access":1}]}}`), &d); err != nil {
		t.Fatal(err)
	}
	kind, keys, _ := d.kindOf()
	for state, want := range map[string]string{
		`{"contact_left":false,"contact_right":true}`: sensor.Open, `{"contact_left":"ON"}`: sensor.Closed, `{"contact":false}`: "", `{"contact_left":null}`: "",
	} {
		if r, err := decodeReading([]byte(state), kind, keys); err != nil || r.Status != want {
			t.Errorf("%s: %+v %v", state, r, err)
		}
	}
}

func TestAddressesAreNormalised(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0x00158d0001b79111": "00158D0001B79111", "0X00158D0001B79111": "00158D0001B79111", "00158d0001b79111": "00158D0001B79111",
		"0x12345678": "", "": "", "0x00158d0001b7911g": "", "+x00158d0001b7911": "",
	} {
		if got := address(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// FuzzBridge has the bridge say anything at all on any topic: nothing of it is an
// error of the store, and what is delivered afterwards is sane.
func FuzzBridge(f *testing.F) {
	for _, seed := range [][2]string{
		{"bridge/devices", devices}, {"bridge/state", `{"state":"online"}`}, {"bridge/state", "offline"},
		{"bridge/info", `{"coordinator":{"ieee_address":"0x00124b00120144ae"},"permit_join":true}`},
		{"bridge/groups", `[{"friendly_name":"g"}]`}, {"bridge/event", `{"type":"device_leave","data":{"ieee_address":"0x00158d0001b79111"}}`},
		{"bridge/response/permit_join", `{"status":"ok","transaction":23}`}, {"hall/front door", `{"contact":false,"battery":1e400}`},
		{"hall/front door/availability", `{"state":"offline"}`}, {climateID, `{"temperature":"NaN","humidity":44}`},
	} {
		f.Add(seed[0], []byte(seed[1]))
	}
	f.Fuzz(func(t *testing.T, topic string, payload []byte) {
		broker, host := &fakeBroker{}, &fakeHost{accounts: []sensor.Account{{UserThingName: account}}}
		b := New(Defaults(), broker, slog.New(slog.DiscardHandler))
		b.host.Store(&hostBox{host})
		say := func(topic string, payload []byte) {
			if err := broker.hear(context.Background(), "zigbee2mqtt/"+topic, payload); err != nil {
				t.Fatalf("%s: %v", topic, err)
			}
		}
		say("bridge/state", []byte("online"))
		say("bridge/devices", []byte(devices))
		say(topic, payload)
		say("hall/front door", []byte(`{"contact":false}`))
		readings, _ := host.delivered()
		for thing, r := range readings {
			if !sensor.ValidThing(thing) || r.Account != account || r.Online == nil {
				t.Fatalf("delivered %+v", r)
			}
			if r.BatteryLevel != nil && (*r.BatteryLevel < 0 || *r.BatteryLevel > 100) {
				t.Fatalf("battery %d", *r.BatteryLevel)
			}
		}
	})
}
