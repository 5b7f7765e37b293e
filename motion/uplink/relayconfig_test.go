package uplink

import (
	"slices"
	"strings"
	"testing"

	"sensegate/motion/hook"
)

func TestEveryMistakeOfTheRelayIsToldAtOnce(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("s", 16)
	for name, c := range map[string]struct {
		config RelayConfig
		want   []string
	}{
		"all wrong": {RelayConfig{
			RelayMQTT{URL: "http://broker.lan", Prefix: "a/#", CA: "/etc/ca.pem"}, hook.Config{URL: "ftp://x", Secret: "short"},
		}, []string{"mqtt.url", "mqtt.prefix", "mqtt.ca", "webhook.url", "webhook.secret"}},
		"password in the url":      {RelayConfig{RelayMQTT{URL: "mqtt://u:secret@broker.lan", Prefix: "a"}, hook.Config{}}, []string{"mqtt.url"}},
		"unreadable url":           {RelayConfig{RelayMQTT{URL: "mqtt://secret\x7f", Prefix: "a"}, hook.Config{}}, []string{"mqtt.url"}},
		"no prefix":                {RelayConfig{}, []string{"mqtt.prefix"}},
		"prefix of the broker":     {RelayConfig{MQTT: RelayMQTT{Prefix: "$SYS"}}, []string{"mqtt.prefix"}},
		"prefix with a slash":      {RelayConfig{MQTT: RelayMQTT{Prefix: "home/"}}, []string{"mqtt.prefix"}},
		"webhook without a secret": {RelayConfig{RelayMQTT{Prefix: "a"}, hook.Config{URL: "https://x/"}}, []string{"webhook.secret"}},
		"secret that is no base64": {RelayConfig{RelayMQTT{Prefix: "a"}, hook.Config{Secret: "whsec_!"}}, []string{"webhook.secret"}},
		"right":                    {RelayConfig{RelayMQTT{URL: "mqtt://[fe80::1]:2883/", Prefix: "home/sensegate"}, hook.Config{URL: "http://x/?q=1", Secret: long}}, nil},
	} {
		var got []string
		err := c.config.Validate()
		if err != nil {
			for line := range strings.Lines(err.Error()) {
				key, _, _ := strings.Cut(line, ":")
				got = append(got, key)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && (strings.Contains(err.Error(), "secret@") || strings.Contains(err.Error(), "secret\x7f")) {
			t.Errorf("%s: a secret is shown: %v", name, err)
		}
	}
}
