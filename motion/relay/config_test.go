package relay

import (
	"crypto/x509"
	"encoding/pem"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"sensegate/motion/hook"
)

func TestDefaultsOfferNothing(t *testing.T) {
	t.Parallel()
	r, err := New(Defaults(), discard())
	if err != nil || len(r.Providers()) != 0 {
		t.Errorf("%v, %v", r, err)
	}
}

func TestConfiguredProvidersAreOffered(t *testing.T) {
	t.Parallel()
	c := Defaults()
	c.MQTT.URL, c.Webhook.URL, c.Webhook.Secret = "mqtts://broker.lan", "https://receiver.lan/hook", "whsec_MDEyMzQ1Njc4OWFiY2RlZg=="
	r, err := New(c, discard())
	if err != nil || len(r.Providers()) != 2 || r.Providers()[MQTT] == nil || r.Providers()[Webhook] == nil {
		t.Fatalf("%v, %v", r, err)
	}
	var metrics strings.Builder
	r.Metrics(&metrics)
	if !strings.HasPrefix(metrics.String(), "sensegate_relay_frames_total{provider=\"mqtt\",result=\"delivered\"} 0\n") || strings.Count(metrics.String(), "\n") != 6 {
		t.Errorf("metrics:\n%s", metrics.String())
	}
	if m := r.Providers()[MQTT].(*mqtt); m.server.Host != "broker.lan:8883" {
		t.Errorf("server %s", m.server.Host)
	}
}

func TestEveryMistakeIsToldAtOnce(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("s", 16)
	for name, c := range map[string]struct {
		config Config
		want   []string
	}{
		"all wrong": {Config{
			MQTTConfig{URL: "http://broker.lan", Prefix: "a/#", CA: "/etc/ca.pem"}, hook.Config{URL: "ftp://x", Secret: "short"},
		}, []string{"mqtt.url", "mqtt.prefix", "mqtt.ca", "webhook.url", "webhook.secret"}},
		"password in the url":      {Config{MQTTConfig{URL: "mqtt://u:secret@broker.lan", Prefix: "a"}, hook.Config{}}, []string{"mqtt.url"}},
		"unreadable url":           {Config{MQTTConfig{URL: "mqtt://secret\x7f", Prefix: "a"}, hook.Config{}}, []string{"mqtt.url"}},
		"no prefix":                {Config{}, []string{"mqtt.prefix"}},
		"prefix of the broker":     {Config{MQTT: MQTTConfig{Prefix: "$SYS"}}, []string{"mqtt.prefix"}},
		"prefix with a slash":      {Config{MQTT: MQTTConfig{Prefix: "home/"}}, []string{"mqtt.prefix"}},
		"webhook without a secret": {Config{MQTTConfig{Prefix: "a"}, hook.Config{URL: "https://x/"}}, []string{"webhook.secret"}},
		"secret that is no base64": {Config{MQTTConfig{Prefix: "a"}, hook.Config{Secret: "whsec_!"}}, []string{"webhook.secret"}},
		"right":                    {Config{MQTTConfig{URL: "mqtt://[fe80::1]:2883/", Prefix: "home/sensegate"}, hook.Config{URL: "http://x/?q=1", Secret: long}}, nil},
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

func TestCertificatesAreReadAsText(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	config, err := MQTTConfig{CA: string(ca)}.tls()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := server.Certificate().Verify(x509.VerifyOptions{Roots: config.RootCAs}); err != nil {
		t.Error(err)
	}
}
