package zigbee2mqtt

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"sensegate/motion/fault"
	"sensegate/motion/sensor"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	coordinator = "0x00124b00120144ae"
	doorID      = "0x00158d0001b79111"
	climateID   = "0x00158d00018255df"
	hubThing    = "HUB_00124B00120144AE"
	doorThing   = "SENSOR_00158D0001B79111"
	account     = "USER_1"
)

// devices is bridge/devices as the bridge documents it, shortened.
const devices = `[
 {"ieee_address":"0x00124b00120144ae","type":"Coordinator","network_address":0,"supported":false,"friendly_name":"Coordinator","endpoints":{"1":{"bindings":[],"clusters":{"input":[],"output":[]}}},"definition":null,"power_source":null,"model_id":null,"interviewing":false,"interview_completed":true},
 {"ieee_address":"0x00158d0001b79111","type":"EndDevice","network_address":29159,"supported":true,"friendly_name":"hall/front door","definition":{"model":"MCCGQ11LM","vendor":"Aqara","description":"Door and window sensor","options":[],"exposes":[
   {"type":"numeric","name":"battery","property":"battery","unit":"%","value_min":0,"value_max":100,"access":1},
   {"type":"binary","name":"contact","property":"contact","value_on":false,"value_off":true,"access":1},
   {"type":"numeric","name":"device_temperature","property":"device_temperature","access":1},
   {"type":"numeric","name":"linkquality","property":"linkquality","access":1}]},"power_source":"Battery","interviewing":false,"interview_completed":true},
 {"ieee_address":"0x00158d00018255df","type":"EndDevice","friendly_name":"0x00158d00018255df","supported":true,"definition":{"model":"WSDCGQ11LM","exposes":[
   {"type":"numeric","name":"temperature","property":"temperature","unit":"°C","access":1},
   {"type":"numeric","name":"humidity","property":"humidity","unit":"%","access":1}]},"interview_completed":true},
 {"ieee_address":"0x90fd9ffffe6494fc","type":"Router","friendly_name":"my_bulb","supported":true,"definition":{"model":"LED1624G9","exposes":[
   {"type":"light","features":[{"type":"binary","name":"state","property":"state","value_on":"ON","value_off":"OFF","access":7}]}]},"interview_completed":true},
 {"ieee_address":"0x00169a00022256da","type":"Router","friendly_name":"my_sensor","supported":false,"definition":null,"interview_completed":true},
 {"ieee_address":"0x00158d0001000003","type":"EndDevice","friendly_name":"joining","supported":true,"definition":{"exposes":[{"name":"occupancy","property":"occupancy","access":1}]},"interviewing":true,"interview_completed":false}
]`

// fakeBroker keeps what is published and lets a test speak as the bridge.
type fakeBroker struct {
	prefix string
	hear   func(context.Context, string, []byte) error

	mu     sync.Mutex
	away   bool
	asked  []string // request and payload, without its transaction
	answer func(path string, request map[string]any) map[string]any
}

func (f *fakeBroker) Subscribe(prefix string, hear func(context.Context, string, []byte) error) {
	f.prefix, f.hear = prefix, hear
}

// Publish answers a request as the bridge would.
func (f *fakeBroker) Publish(topic string, payload []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.away {
		return fault.New(fault.Unavailable, "nobody listens")
	}
	path := strings.TrimPrefix(topic, f.prefix+"/bridge/request/")
	var request map[string]any
	if err := json.Unmarshal(payload, &request); err != nil {
		return err
	}
	transaction := request["transaction"]
	delete(request, "transaction")
	text, _ := json.Marshal(request) // came from JSON
	f.asked = append(f.asked, path+" "+string(text))
	response := map[string]any{"status": "ok", "data": map[string]any{}}
	if f.answer != nil {
		response = f.answer(path, request)
	}
	if response == nil {
		return nil
	}
	response["transaction"] = transaction
	raw, _ := json.Marshal(response) // is made of JSON
	return f.hear(context.Background(), f.prefix+"/bridge/response/"+path, raw)
}

// requests returns what the bridge was asked, and forgets it.
func (f *fakeBroker) requests() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	asked := f.asked
	f.asked = nil
	return asked
}

// fakeHost keeps what is delivered.
type fakeHost struct {
	mu       sync.Mutex
	accounts []sensor.Account
	err      error
	batches  []sensor.Batch
	bad      []string
}

func (h *fakeHost) Accounts(context.Context) ([]sensor.Account, error) { return h.accounts, nil }
func (h *fakeHost) Cursor(context.Context) (string, error)             { return "", nil }

func (h *fakeHost) Deliver(_ context.Context, b sensor.Batch) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.batches = append(h.batches, b)
	return h.err
}

func (h *fakeHost) BadInput(reason string, _ []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.bad = append(h.bad, reason)
}

// delivered returns the last reading of each thing since the last call.
func (h *fakeHost) delivered() (readings map[string]sensor.Reading, changed int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	readings = map[string]sensor.Reading{}
	for _, b := range h.batches {
		changed += len(b.Changed)
		for _, r := range b.Readings {
			readings[r.Thing] = r
		}
	}
	h.batches = nil
	return readings, changed
}

// fixture is a provider with an account between a fake broker and a fake host.
type fixture struct {
	*Bridge
	t      *testing.T
	broker *fakeBroker
	host   *fakeHost
}

func newFixture(t *testing.T) fixture {
	t.Helper()
	f := fixture{t: t, broker: &fakeBroker{}, host: &fakeHost{accounts: []sensor.Account{{UserThingName: account}}}}
	f.Bridge = New(Defaults(), f.broker, slog.New(slog.DiscardHandler))
	f.Bridge.host.Store(&hostBox{f.host})
	return f
}

// says has the bridge publish a message.
func (f fixture) says(topic, payload string) {
	f.t.Helper()
	if err := f.broker.hear(f.t.Context(), f.broker.prefix+"/"+topic, []byte(payload)); err != nil {
		f.t.Fatalf("%s: %v", topic, err)
	}
}

// starts has the bridge say what it says when it starts.
func (f fixture) starts() {
	f.t.Helper()
	f.says("bridge/state", `{"state":"online"}`)
	f.says("bridge/info", `{"version":"2.7.2","coordinator":{"ieee_address":"`+coordinator+`","type":"EmberZNet","meta":{}},"permit_join":false,"config":{},"config_schema":{}}`)
	f.says("bridge/devices", devices)
	f.says("bridge/groups", `[{"id":1,"friendly_name":"my_group","scenes":[],"members":[]}]`)
}
