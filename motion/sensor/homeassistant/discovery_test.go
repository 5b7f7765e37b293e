package homeassistant

import (
	"strings"
	"testing"
	"time"

	"sensegate/motion/fault"
	"sensegate/motion/sensor"
)

// announcement is what a maker publishes, and what becomes of it.
type announcement struct {
	name, topic, payload string
	thing                string // its name
	kind                 sensor.Type
	state                string   // its topic
	says                 []string // messages of its state, and what they mean, in turn
	online               []string // topics of availability
}

// Announcements in the forms of their makers, with devices of our own.
var announcements = []announcement{
	{
		"Zigbee2MQTT, motion", "homeassistant/binary_sensor/0x00158d0001a2b3c4/occupancy/config",
		`{"availability":[{"topic":"zigbee2mqtt/bridge/state","value_template":"{{ value_json.state }}"},{"topic":"zigbee2mqtt/hall/availability","value_template":"{{ value_json.state }}"}],"availability_mode":"all","device":{"identifiers":["zigbee2mqtt_0x00158d0001a2b3c4"],"manufacturer":"Aqara","model":"Motion sensor","name":"hall"},"device_class":"occupancy","name":"Occupancy","object_id":"hall_occupancy","origin":{"name":"Zigbee2MQTT","sw":"2.1.1","url":"https://www.zigbee2mqtt.io"},"payload_off":false,"payload_on":true,"state_topic":"zigbee2mqtt/hall","unique_id":"0x00158d0001a2b3c4_occupancy_zigbee2mqtt","value_template":"{{ value_json.occupancy }}"}`,
		"hall Occupancy", sensor.Motion, "zigbee2mqtt/hall",
		[]string{`{"occupancy":true,"battery":97}`, sensor.Moving, `{"occupancy":false}`, sensor.Clear},
		[]string{"zigbee2mqtt/bridge/state", "zigbee2mqtt/hall/availability"},
	},
	{
		"Zigbee2MQTT, a contact: closed is true", "homeassistant/binary_sensor/0x00158d0001a2b3c5/contact/config",
		`{"device":{"identifiers":["zigbee2mqtt_0x00158d0001a2b3c5"],"name":"front door"},"device_class":"door","origin":{"name":"Zigbee2MQTT"},"payload_off":true,"payload_on":false,"state_topic":"zigbee2mqtt/front door","unique_id":"0x00158d0001a2b3c5_contact_zigbee2mqtt","value_template":"{{ value_json['contact'] }}"}`,
		"front door", sensor.Door, "zigbee2mqtt/front door",
		[]string{`{"contact":false}`, sensor.Open, `{"contact":true}`, sensor.Closed}, nil,
	},
	{
		"ESPHome, abbreviated", "homeassistant/binary_sensor/porch/pir/config",
		`{"dev_cla":"motion","name":"PIR","stat_t":"porch/binary_sensor/pir/state","avty_t":"porch/status","uniq_id":"ESPbinary_sensorpir","dev":{"ids":"240ac4000001","name":"porch","sw":"esphome v2026.9.1","mdl":"esp32dev","mf":"Espressif","cns":[["mac","24:0a:c4:00:00:01"]]}}`,
		"porch PIR", sensor.Motion, "porch/binary_sensor/pir/state", []string{"ON", sensor.Moving, "OFF", sensor.Clear}, []string{"porch/status"},
	},
	{
		"Tasmota, a switch with a sensor at it", "homeassistant/binary_sensor/A1B2C3_SW_1/config",
		`{"name":"Cellar","stat_t":"stat/cellar/SWITCH1","avty_t":"tele/cellar/LWT","pl_avail":"Online","pl_not_avail":"Offline","val_tpl":"{{value_json.STATE}}","frc_upd":true,"pl_on":"ON","pl_off":"OFF","off_dly":1,"dev_cla":"motion","uniq_id":"A1B2C3_SW_1","dev":{"ids":["A1B2C3"],"name":"Cellar"}}`,
		"Cellar", sensor.Motion, "stat/cellar/SWITCH1", []string{`{"STATE":"ON"}`, sensor.Moving, `{"STATE":"OFF"}`, sensor.Clear}, []string{"tele/cellar/LWT"},
	},
	{
		"OpenMQTTGateway, a door sensor by Bluetooth", "homeassistant/binary_sensor/A4C138010203-open/config",
		`{"stat_t":"+/+/BTtoMQTT/A4C138010203","name":"Window","uniq_id":"A4C138010203-open","dev_cla":"window","val_tpl":"{{ value_json.open | is_defined }}","pl_on":"True","pl_off":"False","dev":{"ids":["A4C138010203"],"name":"BLE window"}}`,
		"BLE window Window", sensor.Door, "+/+/BTtoMQTT/A4C138010203", []string{`{"open":true}`, sensor.Open, `{"tempc":21}`, "", `{"open":false}`, sensor.Closed}, nil,
	},
	{
		"a camera's program, in the manner of Frigate", "homeassistant/binary_sensor/drive_motion/config",
		`{"~":"frigate","name":"Drive motion","device_class":"motion","state_topic":"~/drive/motion","availability":[{"topic":"~/available"}],"unique_id":"frigate_drive_motion","device":{"identifiers":["frigate_drive"],"name":"Drive"}}`,
		"Drive motion", sensor.Motion, "frigate/drive/motion", []string{"ON", sensor.Moving, "OFF", sensor.Clear}, []string{"frigate/available"},
	},
	{
		"Z-Wave JS UI, true and false", "homeassistant/binary_sensor/nodeID_7/motion/config",
		`{"payload_on":true,"payload_off":false,"value_template":"{{ value_json.value }}","device_class":"motion","state_topic":"zwave/stairs/113/0/Home_Security/Motion","name":"stairs","unique_id":"zwave_0xc0ffee_7_motion"}`,
		"stairs", sensor.Motion, "zwave/stairs/113/0/Home_Security/Motion", []string{`{"time":1,"value":true}`, sensor.Moving, `{"value":false}`, sensor.Clear}, nil,
	},
	{
		"a vibration sensor without unique id", "homeassistant/binary_sensor/washer/config",
		`{"name":"Washer","device_class":"vibration","state_topic":"laundry/washer","payload_on":1,"payload_off":0}`,
		"Washer", sensor.Vibration, "laundry/washer", []string{"1", sensor.Vibrating, "0", sensor.Still}, nil,
	},
	{
		"presence by radar, as one component of a device", "homeassistant/device/radar1/config",
		`{"dev":{"ids":"radar1","name":"Study radar"},"o":{"name":"radarfirm"},"~":"radar/1","avty_t":"~/up","stat_t":"~/state","cmps":{"p":{"p":"binary_sensor","dev_cla":"presence","name":null,"val_tpl":"{{ 'ON' if value_json.targets > 0 else 'OFF' }}","uniq_id":"radar1_p"},"t":{"p":"sensor","dev_cla":"temperature","uniq_id":"radar1_t"},"gone":{"p":"binary_sensor"}}}`,
		"Study radar", sensor.Motion, "radar/1/state", []string{`{"targets":2}`, sensor.Moving, `{"targets":0}`, sensor.Clear}, []string{"radar/1/up"},
	},
}

var own = ownTopics("sensegate")

func TestAnnouncementsOfMakers(t *testing.T) {
	t.Parallel()
	for _, c := range announcements {
		a, err := decode(c.topic, []byte(c.payload), own)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if len(a.entities) != 1 || len(a.wrong) != 0 {
			t.Errorf("%s: %+v", c.name, a)
			continue
		}
		e := a.entities[0]
		if e.name != c.thing || e.kind != c.kind || e.topic != c.state {
			t.Errorf("%s: %q, a %s at %s", c.name, e.name, e.kind, e.topic)
		}
		var online []string
		for _, at := range e.availability {
			online = append(online, at.topic)
		}
		if strings.Join(online, " ") != strings.Join(c.online, " ") {
			t.Errorf("%s: availability at %v", c.name, online)
		}
		for i := 0; i < len(c.says); i += 2 {
			h := &hub{connected: true}
			h.announce(c.topic, a.entities, func(string) bool { return false })
			readings, wrong := h.hear(message(strings.ReplaceAll(c.state, "+", "x"), c.says[i]), time.Unix(1764000000, 0))
			got := ""
			if len(readings) == 1 {
				got = readings[0].Status
			}
			if got != c.says[i+1] || wrong != nil {
				t.Errorf("%s: %s means %q, %v, want %q", c.name, c.says[i], got, wrong, c.says[i+1])
			}
		}
	}
}

func TestAnnouncementsThatAreNoSensorsHere(t *testing.T) {
	t.Parallel()
	const sound = `{"device_class":"motion","state_topic":"a/b","unique_id":"x"`
	for name, payload := range map[string]string{
		"another class":                    `{"device_class":"moisture","state_topic":"a/b"}`,
		"no class":                         `{"state_topic":"a/b"}`,
		"nothing: it is removed":           "",
		"ours, by origin":                  sound + `,"origin":{"name":"sensegate"}}`,
		"ours, by origin, abbreviated":     sound + `,"o":{"name":"sensegate"}}`,
		"ours, by its maker":               sound + `,"device":{"mf":"sensegate"}}`,
		"ours, by its device":              sound + `,"dev":{"ids":["sensegate_0a1b2c3d_1"]}}`,
		"ours, by its unique id":           `{"device_class":"motion","state_topic":"a/b","unique_id":"sensegate_0a1b2c3d_1_motion"}`,
		"ours, by its topic":               `{"device_class":"motion","state_topic":"sensegate/0a1b2c3d/1/motion"}`,
		"ours, of a device":                `{"device":{"identifiers":["sensegate_0a1b2c3d_1"]},"components":{"m":{"platform":"binary_sensor","device_class":"motion","state_topic":"a/b"}}}`,
		"ours, as a component":             `{"device":{"identifiers":["x"]},"components":{"m":{"platform":"binary_sensor","device_class":"motion","state_topic":"a/b","unique_id":"sensegate_0a1b2c3d_1_motion"}}}`,
		"a node that senses by radio":      sound + `,"device":{"manufacturer":"francescopace","model":"espectre"}}`,
		"a node of ESPectre by its origin": sound + `,"origin":{"name":"ESPectre"}}`,
	} {
		a, err := decode("homeassistant/binary_sensor/x/config", []byte(payload), own)
		if err != nil || len(a.entities) > 0 || len(a.wrong) > 0 {
			t.Errorf("%s: %+v %v", name, a, err)
		}
	}
}

func TestMistakesOfAnnouncementsAreTold(t *testing.T) {
	t.Parallel()
	many := `{"cmps":{`
	for i := range maxComponents + 1 {
		many += `"` + strings.Repeat("x", i) + `":{},`
	}
	for name, c := range map[string][2]string{
		"no JSON":                      {`{"device_class"`, "want a JSON object"},
		"a list":                       {`[1]`, "want a JSON object"},
		"null":                         {`null`, "want a JSON object"},
		"no topic":                     {`{"device_class":"motion"}`, "state_topic: is missing"},
		"a topic that is no text":      {`{"device_class":"motion","state_topic":7}`, "state_topic: is missing"},
		"a topic with a wildcard":      {`{"device_class":"motion","state_topic":"a/#"}`, "without # and $"},
		"any topic":                    {`{"device_class":"motion","state_topic":"+/+"}`, "+ alone"},
		"a topic of the broker":        {`{"device_class":"motion","state_topic":"$SYS/load"}`, "without # and $"},
		"a topic that is too long":     {`{"device_class":"motion","state_topic":"` + strings.Repeat("x", maxTopic+1) + `"}`, "longer than"},
		"a template with a function":   {`{"device_class":"motion","state_topic":"a","value_template":"{{ now() }}"}`, "is not understood"},
		"a template of availability":   {`{"device_class":"motion","state_topic":"a","availability":{"topic":"b","value_template":"{{ now() }}"}}`, "is not understood"},
		"availability without a topic": {`{"device_class":"motion","state_topic":"a","availability":[{"payload_available":"x"}]}`, "availability: is missing"},
		"on and off are the same":      {`{"device_class":"motion","state_topic":"a","pl_on":"OFF"}`, "payload_on"},
		"a unique id that is too long": {`{"device_class":"motion","state_topic":"a","unique_id":"` + strings.Repeat("x", maxText+1) + `"}`, "at most"},
		"too many components":          {strings.TrimSuffix(many, ",") + "}}", "components"},
	} {
		a, err := decode("homeassistant/binary_sensor/x/config", []byte(c[0]), own)
		for _, wrong := range a.wrong {
			err = wrong
		}
		if fault.KindOf(err) == 0 || !strings.Contains(err.Error(), c[1]) || len(a.entities) > 0 {
			t.Errorf("%s: %v, want %q", name, err, c[1])
		}
	}
}

func FuzzAnnouncement(f *testing.F) {
	for _, c := range announcements {
		f.Add(c.topic, c.payload, "ON")
	}
	f.Fuzz(func(t *testing.T, topic, payload, state string) {
		a, err := decode(topic, []byte(payload), own)
		if err != nil && (fault.KindOf(err) == 0 || len(a.entities) > 0) {
			t.Fatalf("%v with %d sensors", err, len(a.entities))
		}
		h := &hub{connected: true}
		h.announce(topic, a.entities, func(string) bool { return false })
		for _, e := range a.entities {
			if e.key == "" || e.topic == "" || strings.Contains(e.topic, "#") || own(e.topic) || len(e.kind.Statuses()) != 2 {
				t.Fatalf("%+v", e)
			}
			readings, _ := h.hear(message(e.topic, state), time.Unix(1764000000, 0))
			for _, r := range readings {
				if !sensor.ValidThing(r.Thing) {
					t.Fatalf("thing %q", r.Thing)
				}
			}
		}
	})
}
