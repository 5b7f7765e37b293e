package appliance_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"sensegate/api/admin"
	"sensegate/api/appliance"
)

// TestEveryMistakeOfAConfigurationIsTold loads a file (FILE stands for its name in what is
// wanted) and variables ($SECRET for the name of a file that holds "not a number").
func TestEveryMistakeOfAConfigurationIsTold(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		file    string
		environ []string
		want    string
	}{
		"nothing is wrong": {
			file:    "log: {level: warn}\nstore: {min_free: 1GiB}\n",
			environ: []string{"SENSEGATE_INSIGHTS_ENABLED=0", "SENSEGATE_HTTP_HOSTS=a.lan,b.lan", "PATH=/bin", "SENSEGATE_MQTT_TLS_LISTEN="},
		},
		"no file and no variable": {},
		"many, of file and environment, in the order of the file": {
			file: `state_dir: [a, b]
log: {level: loud, format: xml}
http:
  listn: ":1"
  listen: "8080"
  hosts: [{}, b.lan]
  rate: 50
  rate: fast
mqtt:
  max_connections: many
  max_per_address: 0
gatekeeper: never
store:
  flush_interval: 24h
  min_free: lots
  retention:
    at_1s: 10
    at_5s: 1h
    events: 1s
relay:
  webhook:
    url: https://receiver.lan/hook
auth:
  argon2: {passes: -1, threads: 300}
  providers:
    - {name: a, issuer: i, audience: b, jwks_file: keys.json}
    - name: a
      issuer: [i]
      audience: b
      jwks_url: nowhere
      colour: red
mail: {smtp: {port: 99999, tls: always}}
push:
  messages:
    MemberLeftEvent: {titel: "a"}
insights:
  enabled: maybe
sensors: {provider: teapot}
surprise: 1
`,
			environ: []string{
				"SENSEGATE_HTTP_LISTENN=:80", "SENSEGATE_HTTP_BURST=often", "SENSEGATE_CORE_LISTEN=8081",
				"SENSEGATE_STORE_RETENTION_COMMANDS=soon", "SENSEGATE_HTTP_LIVE_LIMIT=0", "SENSEGATE_WHATEVER=1",
				"SENSEGATE_RELAY_MQTT_CA_FILE=/nonexistent/ca.pem", "SENSEGATE_AUTH_ARGON2_MEMORY_KIB_FILE=$SECRET",
			},
			want: `FILE:1: state_dir: want text, found a list
FILE:2: log.level: want debug, info, warn or error, found "loud"
FILE:2: log.format: want text or json, found "xml"
FILE:4: http.listn: no such key; did you mean http.listen?
FILE:5: http.listen: "8080" is not host:port
FILE:6: http.hosts.0: want text, found keys
FILE:8: http.rate: set twice; keep one of them
FILE:10: mqtt.max_connections: want a whole number, found "many"
FILE:11: mqtt.max_per_address: must be more than 0, found 0
FILE:12: gatekeeper: want keys below it, found "never"
FILE:14: store.flush_interval: want 1s to 10m, found 24h0m0s
FILE:15: store.min_free: want a size such as 64MiB, found "lots"
FILE:17: store.retention.at_1s: want a duration such as 60s, found "10"
FILE:18: store.retention.at_5s: want at least 12h0m0s, or 0 for ever, found 1h0m0s
FILE:19: store.retention.events: want at least 1h, or 0 for ever, found 1s
FILE:21: relay.webhook.secret: want at least 16 characters, or whsec_ and base64 of as many bytes
FILE:24: auth.argon2.passes: want a whole number, 0 to 4294967295, found "-1"
FILE:24: auth.argon2.threads: want a whole number, 0 to 255, found "300"
FILE:27: auth.providers.1.name: is there twice
FILE:28: auth.providers.1.issuer: want text, found a list
FILE:30: auth.providers.1.jwks_url: want an address such as https://id.example.com/keys
FILE:31: auth.providers.1.colour: no such key: see config.example.yaml
FILE:32: mail.smtp.port: want 1 to 65535, found 99999
FILE:32: mail.smtp.tls: want starttls, implicit or none, found "always"
FILE:35: push.messages.MemberLeftEvent.titel: no such key; did you mean push.messages.MemberLeftEvent.title?
FILE:37: insights.enabled: want true or false, found "maybe"
FILE:38: sensors.provider: want zigbee2mqtt or cloud, configured below, home_assistant, or nothing, found "teapot"
FILE:39: surprise: no such key: see config.example.yaml
environment: SENSEGATE_AUTH_ARGON2_MEMORY_KIB_FILE: want a whole number, 0 to 4294967295, in the file
environment: SENSEGATE_CORE_LISTEN: core.listen: want host:port such as 127.0.0.1:8081, or nothing
environment: SENSEGATE_HTTP_BURST: want a whole number, found "often"
environment: SENSEGATE_HTTP_LISTENN: no such variable; did you mean SENSEGATE_HTTP_LISTEN?
environment: SENSEGATE_HTTP_LIVE_LIMIT: http.live_limit: want at least 1, found 0
environment: SENSEGATE_RELAY_MQTT_CA_FILE: open /nonexistent/ca.pem: no such file or directory
environment: SENSEGATE_STORE_RETENTION_COMMANDS: want a duration such as 60s, found "soon"
environment: SENSEGATE_WHATEVER: no such variable: see config.example.yaml`,
		},
		"no YAML, and a variable": {
			file:    "http:\n  listen: [\n",
			environ: []string{"SENSEGATE_HTTP_RATE=fast"},
			want: `FILE:2: did not find expected node content
environment: SENSEGATE_HTTP_RATE: want a number, found "fast"`,
		},
		"a list in place of keys": {
			file: "- http\n",
			want: "FILE:1: want keys such as state_dir, found a list",
		},
		"a second document": {
			file: "http:\n  rate: 1\n---\nhttp:\n  burst: 0\n",
			want: "FILE:4: a second document: put all keys into one, without ---",
		},
		"a second document that says nothing": {file: "---\nhttp: {rate: 1}\n---\n# the end\n"},
		"aliases and merged keys": {
			file: `relay: {webhook: &hook {url: "https://a.lan/", secret: short}}
push:
  webhook:
    <<: *hook
    url: b.lan
`,
			want: `FILE:1: relay.webhook.secret: want at least 16 characters, or whsec_ and base64 of as many bytes
FILE:1: push.webhook.secret: want at least 16 characters, or whsec_ and base64 of as many bytes
FILE:5: push.webhook.url: want http://host/path or https://host/path, without user name and password`,
		},
		"a rule about what is missing names what asks for it": {
			file:    "relay: {mqtt: {prefix: home}}\n",
			environ: []string{"SENSEGATE_RELAY_WEBHOOK_URL=https://receiver.lan/"},
			want:    "environment: SENSEGATE_RELAY_WEBHOOK_URL: relay.webhook.secret: want at least 16 characters, or whsec_ and base64 of as many bytes",
		},
		"a variable that ends in _FILE itself": {
			environ: []string{
				"SENSEGATE_AUTH_PROVIDERS_0_NAME=a", "SENSEGATE_AUTH_PROVIDERS_0_ISSUER=i", "SENSEGATE_AUTH_PROVIDERS_0_AUDIENCE=b",
				"SENSEGATE_AUTH_PROVIDERS_0_JWKS_FILE=keys.json",
			},
		},
		"uplinks that are wrong": {
			file: `relay: {mqtt: {url: "mqtt://broker.lan"}}
uplinks:
  - name: House
    url: broker.lan
    use: [motion]
  - {name: a, url: "mqtt://broker.lan", use: [events], home_asistant: {alarm: true}}
  - name: b
    url: mqtt://broker.lan:1883
    password: word
    ca: /nonexistent/ca.pem
    use: [live, live]
  - {name: b, url: "https://series.lan/write", use: [events]}
  - {name: relay, url: own, use: [home_assistant]}
`,
			environ: []string{"SENSEGATE_UPLINKS_1_NETWORKS=1,x"},
			want: `FILE:3: uplinks.0.name: want 1 to 32 characters of a-z, 0-9, _ and -, found "House"
FILE:4: uplinks.0.url: want mqtt://host[:port], mqtts://, ws:// or wss://, http:// or https:// for Remote Write, or own; user name and password have keys of their own
FILE:5: uplinks.0.use: want some of home_assistant, events, history, commands and live, found "motion"
FILE:6: uplinks.1.home_asistant: no such key; did you mean uplinks.1.home_assistant?
FILE:7: uplinks.2.username: want one with the password
FILE:7: uplinks.2.client_id: want another one than uplink a, which connects to the same broker
FILE:10: uplinks.2.ca: want PEM text, or the name of a file with it: open /nonexistent/ca.pem: no such file or directory
FILE:11: uplinks.2.use: live stands there twice
FILE:12: uplinks.3.use: want history alone with Remote Write (http, https), found events
FILE:12: uplinks.3.name: there is an uplink of this name already
FILE:13: uplinks.4.name: relay is a name of the section relay
FILE:13: uplinks.4.name: there is an uplink of this name already
environment: SENSEGATE_UPLINKS_1_NETWORKS: want a list, found "1,x"`,
		},
		"uplinks that are right": {
			file: `relay: {mqtt: {url: "mqtt://broker.lan", prefix: sensegate}}
uplinks:
  - {name: house, url: "mqtt://broker.lan", username: u, use: [home_assistant, events], home_assistant: {alarm: true}, networks: [1, 2]}
  - {name: other, url: "wss://broker.lan/mqtt", use: [live], client_id: x, prefix: y}
`,
			environ: []string{"SENSEGATE_UPLINKS_0_PASSWORD_FILE=$SECRET", "SENSEGATE_UPLINKS_1_USE=events,history"},
		},
		"a provider without those before it": {
			environ: []string{"SENSEGATE_AUTH_PROVIDERS_1_NAME=a"},
			want:    "environment: SENSEGATE_AUTH_PROVIDERS_1_NAME: number the entries from 0, without gaps",
		},
		"a misspelt variable of a secret's file": {
			environ: []string{"SENSEGATE_MAIL_SMTP_PASWORD_FILE=/run/secrets/mail"},
			want:    "environment: SENSEGATE_MAIL_SMTP_PASWORD_FILE: no such variable; did you mean SENSEGATE_MAIL_SMTP_PASSWORD_FILE?",
		},
		"a variable that begins like one of the project's tests": {
			environ: []string{"SENSEGATE_DATABASE=/data"},
			want:    "environment: SENSEGATE_DATABASE: no such variable: see config.example.yaml",
		},
		"variables of the project's tests are no settings": {
			environ: []string{"SENSEGATE_DATA=/data", "SENSEGATE_TEST_CLOCK=1", "SENSEGATE_BENCH_VIEWERS=x", "SENSEGATE_RRULE_VECTORS=y"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			secret, path := filepath.Join(dir, "secret"), ""
			write(t, secret, "not a number\n")
			if test.file != "" {
				path = filepath.Join(dir, "config.yaml")
				write(t, path, test.file)
			}
			for i := range test.environ {
				test.environ[i] = strings.ReplaceAll(test.environ[i], "$SECRET", secret)
			}
			config := appliance.Defaults()
			_, err := admin.LoadConfig(path, test.environ, &config, config.Validate)
			got := ""
			if wrong := (*admin.ConfigError)(nil); errors.As(err, &wrong) {
				got = strings.ReplaceAll(wrong.Error(), dir+"/config.yaml:", "FILE:")
			} else if err != nil {
				t.Fatal(err)
			}
			if got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// TestEveryKeyHasItsVariable wants the variable of each key to be called after it, because
// the mistakes of the environment are found by that.
func TestEveryKeyHasItsVariable(t *testing.T) {
	t.Parallel()
	raw, err := yaml.Marshal(appliance.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := yaml.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	delete(all["push"].(map[string]any), "messages")  // in the file alone
	delete(all["auth"].(map[string]any), "providers") // its entries have variables
	delete(all, "uplinks")                            // too
	for _, name := range variables("SENSEGATE", all) {
		config := appliance.Defaults()
		_, err := admin.LoadConfig("", []string{name + "="}, &config, config.Validate)
		if err != nil && strings.Contains(err.Error(), "no such variable") {
			t.Error(err)
		}
	}
}

// variables returns what the variables of keys are called.
func variables(name string, value any) []string {
	keys, more := value.(map[string]any)
	if !more {
		return []string{name}
	}
	var all []string
	for key, value := range keys {
		all = append(all, variables(name+"_"+strings.ToUpper(key), value)...)
	}
	return all
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
