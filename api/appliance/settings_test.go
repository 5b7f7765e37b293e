package appliance_test

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"sensegate/api/admin"
	"sensegate/api/appliance"
	"sensegate/api/box"
)

// soundsSecret matches the names of keys that nobody but the owner may read.
var soundsSecret = regexp.MustCompile(`token|password|secret|key|passphrase|credential|private`)

// TestEverySecretIsMarked wants a tag at each field of the configuration whose name sounds like a
// secret: secret:"true", or secret:"false" for one that is none.
func TestEverySecretIsMarked(t *testing.T) {
	t.Parallel()
	marked := 0
	var walk func(of reflect.Type, path, above string)
	walk = func(of reflect.Type, path, above string) {
		for of.Kind() == reflect.Slice || of.Kind() == reflect.Map || of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		if of.Kind() != reflect.Struct {
			return
		}
		for i := range of.NumField() {
			field := of.Field(i)
			name, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
			if name == "-" || !field.IsExported() {
				continue
			}
			tag := field.Tag.Get("secret")
			sounds := soundsSecret.MatchString(name) || soundsSecret.MatchString(strings.ToLower(field.Name))
			switch {
			case sounds && tag == "" && above == "":
				t.Errorf(`%s.%s sounds like a secret: mark the field with secret:"true", or secret:"false" when it may be shown`, path, name)
			case tag != "" && tag != "true" && tag != "false" && tag != "path":
				t.Errorf(`%s.%s: want the tag secret:"true", "false" or "path", found %q`, path, name, tag)
			case tag == "true":
				marked++
			}
			walk(field.Type, path+"."+name, tag)
		}
	}
	walk(reflect.TypeFor[appliance.Config](), "", "")
	if marked < 8 {
		t.Errorf("found %d secrets", marked)
	}
}

// settings returns those of a configuration file and an environment, whether they go together or not.
func settings(t *testing.T, file string, environ ...string) (map[string]box.Setting, box.Settings) {
	t.Helper()
	path := ""
	if file != "" {
		path = filepath.Join(t.TempDir(), "config.yaml")
		write(t, path, file)
	}
	config := appliance.Defaults()
	sources, err := admin.LoadConfig(path, environ, &config, func() error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	config.Sources = sources
	all := config.Settings()
	if all.File != path {
		t.Errorf("the file is %q, want %q", all.File, path)
	}
	byKey := map[string]box.Setting{}
	for _, s := range all.List {
		if _, twice := byKey[s.Key]; twice {
			t.Errorf("%s is shown twice", s.Key)
		}
		byKey[s.Key] = s
	}
	return byKey, all
}

func TestSettingsSayWhereTheyComeFrom(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "token")
	write(t, secret, "the-token-of-a-file\n")
	found, _ := settings(t, `log: {level: warn}
http:
  listen: ":80"
  hosts: [a.example, b.example]
store:
  flush_interval: 90s
auth:
  providers:
    - name: idp
      issuer: https://id.example.com
      algorithms: [RS256, ES256]
push:
  messages:
    MemberLeftEvent: {title: Gone}
`, "SENSEGATE_HTTP_LISTEN=:8081", "SENSEGATE_GATEKEEPER_ACCESS_TOKEN_FILE="+secret, "SENSEGATE_AUTH_PROVIDERS_0_AUDIENCE=app", "SENSEGATE_HTTP_BURST=7", "SENSEGATE_MQTT_LISTEN=")
	for key, want := range map[string]string{
		"log.level":                            `{"key":"log.level","value":"warn","set":true,"secret":false,"origin":"file","line":1,"variable":null,"standard":"info"}`,
		"log.format":                           `{"key":"log.format","value":"text","set":true,"secret":false,"origin":"default","line":null,"variable":null,"standard":"text"}`,
		"http.listen":                          `{"key":"http.listen","value":":8081","set":true,"secret":false,"origin":"environment","line":null,"variable":"SENSEGATE_HTTP_LISTEN","standard":":8080"}`,
		"http.hosts":                           `{"key":"http.hosts","value":"a.example, b.example","set":true,"secret":false,"origin":"file","line":4,"variable":null,"standard":""}`,
		"http.burst":                           `{"key":"http.burst","value":"7","set":true,"secret":false,"origin":"environment","line":null,"variable":"SENSEGATE_HTTP_BURST","standard":"100"}`,
		"mqtt.listen":                          `{"key":"mqtt.listen","value":":1883","set":true,"secret":false,"origin":"default","line":null,"variable":null,"standard":":1883"}`,
		"store.flush_interval":                 `{"key":"store.flush_interval","value":"1m30s","set":true,"secret":false,"origin":"file","line":6,"variable":null,"standard":"1m"}`,
		"store.min_free":                       `{"key":"store.min_free","value":"64MiB","set":true,"secret":false,"origin":"default","line":null,"variable":null,"standard":"64MiB"}`,
		"gatekeeper.access_token":              `{"key":"gatekeeper.access_token","value":null,"set":true,"secret":true,"origin":"environment","line":null,"variable":"SENSEGATE_GATEKEEPER_ACCESS_TOKEN_FILE","standard":""}`,
		"mail.smtp.password":                   `{"key":"mail.smtp.password","value":null,"set":false,"secret":true,"origin":"default","line":null,"variable":null,"standard":""}`,
		"auth.providers.0.issuer":              `{"key":"auth.providers.0.issuer","value":"https://id.example.com","set":true,"secret":false,"origin":"file","line":10,"variable":null,"standard":""}`,
		"auth.providers.0.algorithms":          `{"key":"auth.providers.0.algorithms","value":"RS256, ES256","set":true,"secret":false,"origin":"file","line":11,"variable":null,"standard":""}`,
		"auth.providers.0.audience":            `{"key":"auth.providers.0.audience","value":"app","set":true,"secret":false,"origin":"environment","line":null,"variable":"SENSEGATE_AUTH_PROVIDERS_0_AUDIENCE","standard":""}`,
		"auth.providers.0.jwks_url":            `{"key":"auth.providers.0.jwks_url","value":"","set":false,"secret":false,"origin":"default","line":null,"variable":null,"standard":""}`,
		"push.messages.MemberLeftEvent.title":  `{"key":"push.messages.MemberLeftEvent.title","value":"Gone","set":true,"secret":false,"origin":"file","line":14,"variable":null,"standard":""}`,
		"store.retention.detections_of_sensor": `{"key":"store.retention.detections_of_sensor","value":"10000","set":true,"secret":false,"origin":"default","line":null,"variable":null,"standard":"10000"}`,
	} {
		got, err := json.Marshal(found[key])
		if err != nil || string(got) != want {
			t.Errorf("got  %s\nwant %s (%v)", got, want, err)
		}
	}
	if empty, _ := settings(t, ""); empty["auth.providers"].Value == nil {
		t.Error("an empty list of providers is not shown")
	}
}

// TestSettingsHoldNoSecret gives every key of text a value of its own, and looks for those of the
// secrets.
func TestSettingsHoldNoSecret(t *testing.T) {
	t.Parallel()
	plain, _ := settings(t, "")
	var environ []string
	secrets := 0
	for key, s := range plain {
		if s.Secret {
			environ = append(environ, "SENSEGATE_"+strings.ToUpper(strings.ReplaceAll(key, ".", "_"))+"=planted-"+key)
			secrets++
		}
	}
	found, all := settings(t, "", environ...)
	shown, err := json.Marshal(all)
	if err != nil || secrets < 8 || strings.Contains(string(shown), "planted") {
		t.Errorf("%d secrets, shown: %s %v", secrets, shown, err)
	}
	var table, asJSON strings.Builder
	for out, json := range map[*strings.Builder]bool{&table: false, &asJSON: true} {
		if err := admin.ShowSettings(out, all, json); err != nil || strings.Contains(out.String(), "planted") || !strings.Contains(out.String(), "SENSEGATE_MAIL_SMTP_PASSWORD") {
			t.Errorf("shown: %s %v", out, err)
		}
	}
	for key, s := range found {
		if s.Secret && (!s.Set || s.Value != nil || s.Origin != box.OfEnvironment) {
			t.Errorf("%s: %+v", key, s)
		}
	}
}

func TestAddressesAreShownWithoutWhatOpensThem(t *testing.T) {
	t.Parallel()
	for variable, test := range map[string]struct{ key, value, want string }{
		"RELAY_MQTT_URL":     {"relay.mqtt.url", "mqtt://jdoe:pass@word@broker.lan:1883", "mqtt://***@broker.lan:1883"},
		"SENSORS_CLOUD_URL":  {"sensors.cloud.url", "https://cloud.example/t/abcdef?key=1", "https://cloud.example/***"},
		"PUSH_WEBHOOK_URL":   {"push.webhook.url", "https://hook.example/", "https://hook.example/"},
		"RELAY_WEBHOOK_URL":  {"relay.webhook.url", "https://jdoe:p%zz/x@hook.example/a", "https://***@hook.example/***"},
		"HTTP_BASE_URL":      {"http.base_url", "https://sense.example/@home", "https://sense.example/@home"},
		"PUSH_FCM_TOKEN_URL": {"push.fcm.token_url", "https://id.example/token?client=abc", "https://id.example/token?***"},
		"HTTP_ORIGINS":       {"http.origins", "https://a.example,https://jdoe:word@b.example", "https://a.example, https://***@b.example"},
		"RELAY_MQTT_CA":      {"relay.mqtt.ca", strings.Repeat("ä", 200), strings.Repeat("ä", 150) + "…"},
	} {
		found, _ := settings(t, "", "SENSEGATE_"+variable+"="+test.value)
		if got := found[test.key].Value; got == nil || *got != test.want {
			t.Errorf("%s=%s is shown as %v, want %s", variable, test.value, *got, test.want)
		}
	}
}

// TestAddressWithACommaIsMaskedWhole: it is one value, and no list.
func TestAddressWithACommaIsMaskedWhole(t *testing.T) {
	t.Parallel()
	found, _ := settings(t, "", "SENSEGATE_SENSORS_CLOUD_URL=https://cloud.example/tok, en")
	if got := found["sensors.cloud.url"].Value; got == nil || *got != "https://cloud.example/***" {
		t.Errorf("shown as %v", *got)
	}
}
