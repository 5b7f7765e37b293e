package abusetest

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"sensegate/api/appliance/box"
)

// What is planted. Every word but the MAC is told by its mark, however it is cut.
const (
	mark     = "planted"
	password = "planted-Pa55word"
	token    = "planted-token-41af9c0e"
	address  = "planted.person@planted.example"
	mac      = "02:5e:c7:e7:00:01"
	shared   = "planted-gatekeeper-token-9c77"
)

// planter goes from door to door with secrets and keeps what it is answered.
type planter struct {
	*house
	issued  []string // secrets that the product itself made
	refused int
}

// secrets plants secrets wherever a caller can put them and looks for them in the
// log at its finest level, in all refusals and in the metrics.
func secrets(t *testing.T, product string) {
	for _, format := range []string{"json", "text"} {
		t.Run(format, func(t *testing.T) {
			h := furnish(t, product, "SENSEGATE_LOG_FORMAT="+format, "SENSEGATE_LOG_LEVEL=debug", "SENSEGATE_GATEKEEPER_ACCESS_TOKEN="+shared,
				"SENSEGATE_MAIL_SMTP_HOST=127.0.0.1", "SENSEGATE_MAIL_SMTP_PORT=1", "SENSEGATE_MAIL_SMTP_TLS=starttls",
				"SENSEGATE_MAIL_SMTP_USERNAME="+token, "SENSEGATE_MAIL_SMTP_PASSWORD="+password, "SENSEGATE_MAIL_SMTP_FROM=home@planted.example",
				"SENSEGATE_PUSH_WEBHOOK_URL=http://127.0.0.1:1/"+token, "SENSEGATE_PUSH_WEBHOOK_SECRET="+token)
			p := &planter{house: h, issued: []string{h.key}}
			for _, local := range h.tokens {
				p.issued = append(p.issued, local.Guardian.MQToken, local.Radar.MQToken)
			}
			session := p.person()
			for base, credentials := range map[string][]string{"/core": {h.key, "Bearer " + token}, "/api/v1": {session, token, ""}} {
				p.operations(base, credentials)
			}
			p.plainPages()
			p.gatekeeper()
			p.logins()
			p.messages()
			_, metrics := h.request(http.MethodGet, "/metrics", h.key, "")
			h.process.Stop()
			all := []string{mark, mac, strings.ReplaceAll(mac, ":", ""), basic()}
			p.wantClean("/metrics", string(metrics), all...)
			for line := range strings.Lines(h.process.Log()) {
				p.wantClean("log", line, all...)
			}
			t.Logf("%d requests were refused, %d lines logged", p.refused, strings.Count(h.process.Log(), "\n"))
			if p.refused < 1000 || !strings.Contains(h.process.Log(), "DEBUG") || !strings.Contains(h.process.Log(), "bad input") {
				t.Error("too little was refused or logged to tell anything")
			}
		})
	}
}

// wantClean wants a text to hold nothing that was planted or issued.
func (p *planter) wantClean(where, text string, secrets ...string) {
	p.t.Helper()
	lower := strings.ToLower(text)
	for _, secret := range append(secrets, p.issued...) {
		if strings.Contains(lower, strings.ToLower(secret)) {
			p.t.Errorf("%s: %.40s stands in %.600s", where, secret, text)
			return
		}
	}
}

// basic is what a browser makes of a name and a password.
func basic() string { return base64.StdEncoding.EncodeToString([]byte(address + ":" + password)) }

// plant makes a request with secrets where they belong, and looks at its answer, if
// that is a refusal. An address of hardware may be said again, as the interface shows it.
func (p *planter) plant(method, path, credential, media, body string, more ...string) []byte {
	p.t.Helper()
	status, raw := p.send(method, path, credential, media, body, more...)
	if status >= 400 {
		p.wantClean(method+" "+path+" "+body, string(raw), mark, basic())
	}
	return raw
}

// send makes a request with secrets where they do not belong, as in the place of a
// number: refusals may say again what stood there, logs may not.
func (p *planter) send(method, path, credential, media, body string, more ...string) (status int, answer []byte) {
	p.t.Helper()
	request, err := http.NewRequestWithContext(p.t.Context(), method, "http://"+p.process.HTTP+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	request.Header.Set("Content-Type", media)
	if credential != "" {
		request.Header.Set("Authorization", credential)
	}
	for i := 0; i < len(more); i += 2 {
		request.Header.Set(more[i], more[i+1])
	}
	response, err := p.client.Do(request)
	if err != nil {
		p.t.Fatal(err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	if response.StatusCode >= 400 {
		p.refused++
	}
	return response.StatusCode, raw
}

// person makes an account, logs it in and asks for a new password, and returns the
// session's token.
func (p *planter) person() string {
	p.t.Helper()
	made := box.Administer(p.t, p.product, p.dir, "user", "create", address)
	_, after, _ := strings.Cut(made, "password: ")
	first, _, _ := strings.Cut(after, "\n")
	raw := p.plant("POST", "/api/v1/sessions", "", jsonType, `{"email": "`+address+`", "password": "`+first+`"}`)
	var logged struct {
		Token        string
		RefreshToken string `json:"refresh_token"`
	}
	if err := json.Unmarshal(raw, &logged); err != nil || logged.Token == "" {
		p.t.Fatalf("%v: %s", err, raw)
	}
	p.issued = append(p.issued, first, logged.Token)
	if logged.RefreshToken != "" {
		p.issued = append(p.issued, logged.RefreshToken)
	}
	p.plant("POST", "/api/v1/password_resets", "", jsonType, `{"email": "`+address+`"}`)
	p.plant("POST", "/api/v1/users", "", jsonType, `{"email": "other.`+address+`", "password": "`+password+`"}`)
	for _, id := range []string{"1", "2"} {
		mail := box.Administer(p.t, p.product, p.dir, "outbox", "show", id)
		_, link, found := strings.Cut(mail, "token=")
		if !found {
			p.t.Fatalf("mail %s has no link: %s", id, mail)
		}
		reset := strings.Fields(link)[0]
		p.issued = append(p.issued, reset)
		p.plant("GET", "/reset?token="+reset, "", jsonType, "")
		p.plant("PUT", "/api/v1/password_resets", "", jsonType, `{"token": "`+reset+`", "password": "x"}`)
	}
	return logged.Token
}

const jsonType = "application/json"

// secretQuery is a query of all that might be taken for a credential.
func secretQuery() string {
	return url.Values{"token": {token}, "access_token": {token}, "password": {password}, "email": {address}, "mac": {mac}}.Encode()
}

// bodies are secrets in whole and in broken JSON, of wrong types and as forms.
func bodies() map[string]string {
	flat := `{"email": "` + address + `", "password": "` + password + `", "token": "` + token + `", "access_token": "` + token +
		`", "setup_code": "` + token + `", "first_name": 7, "mac": "` + mac + `"}`
	return map[string]string{
		flat:                            jsonType,
		flat[:len(flat)-3]:              jsonType,
		flat + flat:                     jsonType,
		`["` + password + `"]`:          jsonType,
		`"` + password + `"`:            jsonType,
		password:                        jsonType,
		`{"data": ` + flat + `}`:        jsonType,
		strings.ToUpper(flat):           "text/plain",
		secretQuery():                   "application/x-www-form-urlencoded",
		flat + " ":                      "application/x-www-form-urlencoded",
		`{"password": {"` + token + `"`: jsonType,
		`{"email": ["` + address + `"], "password": {"is": "` + password + `"}, "token": ["` + token + `"]}`: jsonType,
	}
}

// operations plants in every operation that an interface documents.
func (p *planter) operations(base string, credentials []string) {
	p.t.Helper()
	_, raw := p.request(http.MethodGet, base+"/openapi.json", "", "")
	document, err := openapi3.NewLoader().LoadFromData(raw)
	if err != nil {
		p.t.Fatal(err)
	}
	for path, item := range document.Paths.Map() {
		for method := range item.Operations() {
			if method == http.MethodDelete || path == "/logout" {
				continue // what is planted later needs what they end
			}
			for _, credential := range credentials {
				for body, media := range bodies() {
					p.plant(method, base+fill(path, "1")+"?"+secretQuery(), credential, media, body)
				}
				p.send(method, base+fill(path, token)+"?key="+token, credential, jsonType, `{"`+token+`": "`+mac+`"}`, "Cookie", "session="+token, "X-Api-Key", token)
			}
		}
	}
}

// fill puts a value in the place of each parameter of a path.
func fill(path, value string) string {
	for {
		before, rest, found := strings.Cut(path, "{")
		if !found {
			return path
		}
		_, after, _ := strings.Cut(rest, "}")
		path = before + value + after
	}
}

// plainPages plants at addresses of no interface, in headers above all.
func (p *planter) plainPages() {
	for _, path := range []string{"/reset", "/invite", "/docs/", "/docs/" + token, "/metrics", "/readyz", "/ca.pem", "/" + token, "/core/" + token, "/api/v1/" + token} {
		for _, credential := range []string{"", token, "Bearer " + token, "Basic " + basic(), "Digest " + password} {
			p.plant("GET", path+"?"+secretQuery(), credential, jsonType, "", "Referer", "http://x/reset?token="+token,
				"User-Agent", token, "Cookie", "session="+token, "X-Forwarded-For", address, "From", address)
			p.plant("POST", path, credential, jsonType, `{"password": "`+password)
		}
	}
}

// gatekeeper plants in what devices post.
func (p *planter) gatekeeper() {
	paths := []string{"/gatekeeper?access_token=" + shared, "/gatekeeper?access_token=" + token, "/gatekeeper"}
	for _, path := range paths {
		for body := range bodies() {
			p.plant("POST", path, "Bearer "+token, jsonType, body)
		}
		for _, body := range []string{
			`{"radar_status": {"deviceId": "` + address + `"}, "location_id": "1"}`,
			`{"radar_status": {"deviceId": "a", "ap_bssid_2ghz": "` + mac + `"}, "location_id": "` + password + ` "}`,
			`{"radar_status": {"deviceId": "a", "ap_bssid_2ghz": "` + token + `"}, "location_id": "1"}`,
			`{"radar_status": "` + token + `"`,
		} {
			p.send("POST", path, "", jsonType, body)
		}
	}
}

// logins plants in what MQTT clients say of themselves.
func (p *planter) logins() {
	for _, l := range []box.Login{
		{ClientID: "a", Username: address, Password: password},
		{ClientID: "a", Username: "device", Password: token},
		{ClientID: p.tokens[0].Guardian.GuardianID, Username: "device", Password: password},
		{ClientID: "a", Username: strings.Repeat(token, 100), Password: strings.Repeat(password, 100)},
		{ClientID: "a", Username: "\x00" + token, Password: password},
	} {
		if conn, err := box.Dial(p.t.Context(), &net.Dialer{}, p.process.MQTT, l); err == nil {
			p.t.Errorf("%+v is let in", l)
			_ = conn.Close()
		}
	}
}

// messages plants in what a device publishes: every event, whole and broken.
func (p *planter) messages() {
	devices := p.connect(p.t.Context())
	d := devices[0]
	values := []string{`"` + password + `"`, `"` + token + `"`, `"` + mac + `"`, `"` + address + `"`, `["` + token + `"]`, `{"` + token + `": "` + mac + `"}`}
	for i, quotes := range []string{
		`{"ts": 1, "event": "x", "category": "` + password + `"}`, `{"ts": 1, "category": "System", "event": "` + address + `"}`,
		`{"ts": 1, "category": "System", "event": "x", "uuid": "` + token + `"}`, `{"ts": "` + token + `"}`,
		`{"ts": 1, "category": "System", "event": "x", "guardian_id": {"` + token + `": 1}}`, `{"ts": 1, "` + token + ``,
	} { // each by a device of its own: of one device the log gets a line a minute
		topic := "iot-2/type/guardian/id/" + devices[1+i].Key.ID + "/evt/event/fmt/json"
		if _, err := devices[1+i].PublishTo(p.t.Context(), 1, topic, []byte(quotes)); err != nil {
			p.t.Fatal(err)
		}
	}
	keys := []string{"ts", "uuid", "event", "category", "links", "data", "mac", "id", "state", "network_id", "guardian_id", "radars", "interval", "count", "leafblower", "motion_enabled", "samples"}
	for _, event := range []string{"guardian-status", "motion-matrix", "motion-history", "event", "link-motion", "manage-result", "device-info-ack", "csi", "other"} {
		topic := "iot-2/type/guardian/id/" + d.Key.ID + "/evt/" + event + "/fmt/json"
		payloads := slices.Collect(maps.Keys(bodies()))
		for _, value := range values {
			payloads = append(payloads, value, value[:len(value)-1])
			for _, key := range keys {
				payloads = append(payloads, `{"`+key+`": `+value+`}`)
			}
			all := `{"category": "System", "ts": 1`
			for _, key := range keys[1:] {
				all += `, "` + key + `": ` + value
			}
			payloads = append(payloads, all+"}", all)
		}
		for _, payload := range payloads {
			if _, err := d.PublishTo(p.t.Context(), 1, topic, []byte(payload)); err != nil {
				p.t.Fatalf("%s %s: %v", topic, payload, err)
			}
		}
	}
	for _, d := range devices {
		d.Close()
	}
}
