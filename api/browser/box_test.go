package browser_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"sensegate/api/apitest"
	"sensegate/motion/home"
	"sensegate/motion/notify"
	"sensegate/motion/uplink"
	"sensegate/store"
)

// adminCalls returns a call of each row for administrators that works once, in an order in which all
// do: path, body, and of a change the action of its line in the audit log.
func adminCalls(b *box) []adminCall {
	b.T.Helper()
	b.update(func(tx *store.Tx) error {
		_, err := tx.AddMail(store.Mail{Kind: string(notify.Confirm), Address: "mum@example.com"})
		return err
	})
	b.hear(30, func(int) float64 { return 0.1 })
	entry := b.waits("csi-a-02aa00000311")
	b.movesIn(b.keeper)
	kept := b.recorded()
	b.startsRecording()
	const house = `{"name":"house","url":"mqtt://broker.example","username":"box","password":"correct horse","uses":["events"]}`
	if err := b.uplinks.Add(b.T.Context(), uplink.Config{Name: "kept", URL: "mqtt://other.example", Use: []uplink.Use{uplink.Events}}); err != nil {
		b.T.Fatal(err)
	}
	return []adminCall{
		{"GET", "/status", "", "", false}, {"GET", "/accounts", "", "", false},
		{"POST", "/accounts", `{"email":"new@example.com"}`, "account_made", true},
		{"POST", fmt.Sprintf("/accounts/%d/password", b.nobody.ID), "", "password_set", true},
		{"PUT", fmt.Sprintf("/accounts/%d/administrator", b.nobody.ID), `{"administrator":true}`, "administrator_made", true},
		{"PUT", fmt.Sprintf("/accounts/%d/administrator", b.nobody.ID), `{"administrator":false}`, "administrator_ended", true},
		{"DELETE", fmt.Sprintf("/accounts/%d", b.nobody.ID), "", "account_deleted", true},
		{"GET", "/keys", "", "", false}, {"POST", "/keys", `{"name":"ha","all_networks":true}`, "key_made", true}, {"DELETE", "/keys/1", "", "key_revoked", true},
		{"GET", "/mqtt-users", "", "", false}, {"POST", "/mqtt-users", `{"name":"ha"}`, "mqtt_user_made", true}, {"DELETE", "/mqtt-users/ha", "", "mqtt_user_removed", true},
		{"GET", "/uplinks", "", "", false}, {"POST", "/uplinks/test", house, "", true}, {"POST", "/uplinks", house, "uplink_added", true},
		{"POST", "/uplinks/kept/test", "", "", false}, {"PUT", "/uplinks/house", house, "uplink_changed", true}, {"DELETE", "/uplinks/house", "", "uplink_removed", true},
		{"GET", "/mails", "", "", false}, {"GET", "/mails/1", "", "mail_read", true},
		{"POST", "/setup-code", "", "setup_code_made", true},
		{"GET", "/devices", "", "", false}, {"POST", "/devices/" + entry + "/adopt", "", "device_adopted", false}, {"DELETE", "/devices/csi-b-02aa00000210", "", "device_removed", false},
		{"POST", "/adoption", `{"minutes":10,"network_id":1}`, "adoption_opened", false},
		{"GET", "/links", "", "", false}, {"POST", "/calibrations", `{"network_id":1}`, "calibration_begun", false}, {"DELETE", "/calibrations?network_id=1", "", "calibration_cancelled", false},
		{"GET", "/recordings", "", "", false}, {"PUT", "/recordings/label", `{"label":"moving"}`, "", false}, {"POST", "/recordings/stop", "", "", false},
		{"POST", "/recordings", `{"network_id":1,"minutes":5}`, "recording_started", true},
		{"POST", "/recordings/" + kept + "/download", "", "recording_read", true}, {"DELETE", "/recordings/" + kept, "", "recording_deleted", true},
		{"GET", "/restore", "", "", false}, {"POST", "/backup", `{"passphrase":"six words of your own"}`, "backup_made", true},
		{"POST", "/restore", b.backupForm(), "backup_uploaded", true}, {"DELETE", "/restore", "", "upload_dropped", false},
		{"POST", "/restore", b.backupForm(), "backup_uploaded", true}, {"POST", "/restore/apply", `{"uploaded_at":0}`, "", true},
		{"GET", "/audit", "", "", false}, {"GET", "/settings", "", "", false}, {"GET", "/backups", "", "", false}, {"GET", "/log?level=debug", "", "", false}, {"GET", "/secure", "", "", false}, {"POST", "/secure/test", "", "", false}, {"GET", "/database", "", "", false}, {"POST", "/database/check", "", "", false}, {"POST", "/support", "", "support_made", true},
	}
}

type adminCall struct {
	method, path, body, action string
	proven                     bool // it wants a password that was shown lately
}

// do makes the call as somebody.
func (c adminCall) do(p *tab) apitest.Answer {
	p.box.T.Helper()
	r := p.request(p.box.Client, c.method, "/admin"+c.path, c.body)
	if strings.HasPrefix(c.body, "--"+boundary) {
		r.Header.Set("Content-Type", "multipart/form-data; boundary="+boundary)
	}
	return p.box.Do(r)
}

// boundary parts the fields of a form.
const boundary = "part"

// uploaded is a form with a backup.
func uploaded(words, file string) string {
	field := func(name, value string) string {
		return "--" + boundary + "\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n"
	}
	return field("passphrase", words) + field("file", file) + "--" + boundary + "--\r\n"
}

// backupForm uploads the database as it is now.
func (b *box) backupForm() string {
	b.T.Helper()
	file, _, err := b.db.Snapshot(b.T.Context())
	if err != nil {
		b.T.Fatal(err)
	}
	defer file.Close()
	content, err := io.ReadAll(file)
	if err != nil {
		b.T.Fatal(err)
	}
	return uploaded("", string(content))
}

// waits lets a device ask to join the first home, where it waits, and returns its entry.
func (b *box) waits(device string) string {
	b.T.Helper()
	if err := b.engine.Devices.CloseAdoption(b.T.Context(), b.network); err != nil {
		b.T.Fatal(err)
	}
	b.askToJoin(device)
	for _, d := range b.engine.Devices.Pending() {
		if d.DeviceID == device {
			return d.ID
		}
	}
	b.T.Fatalf("%s does not wait", device)
	return ""
}

// TestAdministratorsAlone: every row is for administrators, from inside the house; those that could
// harm a household want a password that was shown lately; each change leaves a line in the audit log.
func TestAdministratorsAlone(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	installer, ended := b.installer("robin@example.org"), b.keeper.again()
	ended.done(http.MethodDelete, "/session", "")
	calls := adminCalls(b)
	for _, c := range calls {
		for _, caller := range []*tab{{box: b, cookie: b.keeper.cookie}, {box: b, proof: b.keeper.proof}, ended} {
			if got := c.do(caller).Status; got != http.StatusUnauthorized {
				t.Errorf("%s %s without a session: %d", c.method, c.path, got)
			}
		}
		for _, caller := range []*tab{b.nobody, b.neighbour, installer, b.member, b.owner} {
			apitest.WantProblem(t, c.do(caller), http.StatusForbidden, "not_administrator")
		}
		passed := b.keeper.request(b.Client, c.method, "/admin"+c.path, "")
		passed.Header.Set("X-Forwarded-For", "203.0.113.9")
		apitest.WantProblem(t, b.Do(passed), http.StatusForbidden, "admin_address")
	}
	b.keeper.longAgo()
	for _, c := range calls {
		if c.proven {
			apitest.WantProblem(t, c.do(b.keeper), http.StatusForbidden, "step_up")
		}
	}
	if lines := b.keeper.audit(); len(lines) > 0 {
		t.Errorf("refusals are in the audit log: %+v", lines)
	}
	for _, c := range calls {
		if c.proven {
			continue
		}
		if a := c.do(b.keeper); a.Status >= 300 {
			t.Errorf("%s %s, for which no password is needed: %d %s", c.method, c.path, a.Status, a.Body)
		}
	}
}

// TestEachChangeIsInTheAuditLog walks all rows for administrators.
func TestEachChangeIsInTheAuditLog(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	rows := map[string]bool{}
	for _, route := range table().Routes {
		if strings.HasPrefix(route.Path, "/admin/") {
			rows[route.Method+" "+route.Path] = true
		}
	}
	said := ""
	for _, c := range adminCalls(b) {
		before := len(b.keeper.audit())
		a := c.do(b.keeper)
		if a.Status >= 300 {
			t.Errorf("%s %s: %d %s", c.method, c.path, a.Status, a.Body)
		}
		said += string(a.Body)
		delete(rows, c.method+" "+b.template(c))
		lines := b.keeper.audit()
		switch {
		case c.action == "" && len(lines) != before:
			t.Errorf("%s %s left %+v", c.method, c.path, lines[0])
		case c.action == "":
		case len(lines) != before+1:
			t.Errorf("%s %s left %d lines, want one", c.method, c.path, len(lines)-before)
		case lines[0].Action != c.action || lines[0].Who.Name != "keeper@example.net" || lines[0].Who.UserID == nil || lines[0].From != "127.0.0.1":
			t.Errorf("%s %s left %+v, want %s", c.method, c.path, lines[0], c.action)
		}
	}
	for row := range rows {
		t.Errorf("%s was not walked", row)
	}
	log, err := json.Marshal(b.keeper.audit())
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range regexp.MustCompile(`"(?:password|secret|code|link)":"([^"]+)"`).FindAllStringSubmatch(said, -1) {
		if strings.Contains(string(log), secret[1]) {
			t.Errorf("the audit log has the secret %s", secret[1])
		}
	}
	if strings.Contains(string(log), "passer@example.net") {
		t.Errorf("the audit log names somebody whose account was deleted: %s", log)
	}
}

// TestAuditLogHasNoLineOfWhatChangesNothing, nor names that pass for a line of it.
func TestAuditLogHasNoLineOfWhatChangesNothing(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.keeper.done(http.MethodPut, fmt.Sprintf("/admin/accounts/%d/administrator", b.keeper.ID), `{"administrator":true}`)
	b.keeper.done(http.MethodPut, fmt.Sprintf("/admin/accounts/%d/administrator", b.owner.ID), `{"administrator":false}`)
	b.keeper.done(http.MethodDelete, "/admin/restore", "")
	for _, name := range []string{`a\nb`, `\u001b[2Jk`, `\u202ek`, ` `, `\u200b`, `a\u2028b`} {
		apitest.WantProblem(t, b.keeper.ask(http.MethodPost, "/admin/keys", `{"all_networks":true,"name":"`+name+`"}`), http.StatusUnprocessableEntity, "name: ")
		apitest.WantProblem(t, b.keeper.ask(http.MethodPost, "/admin/mqtt-users", `{"topic_prefix":"ha","name":"`+name+`"}`), http.StatusUnprocessableEntity, "name: ")
	}
	if lines := b.keeper.audit(); len(lines) > 0 {
		t.Errorf("%+v", lines)
	}
}

// template returns the path of the row that a call is of.
func (b *box) template(c adminCall) string {
	path, _, _ := strings.Cut("/admin"+c.path, "?")
	for _, route := range table().Routes {
		pattern := regexp.MustCompile("^" + regexp.MustCompile(`\{[a-z]+\}`).ReplaceAllString(route.Path, "[^/]+") + "$")
		if route.Method == c.method && pattern.MatchString(path) {
			return route.Path
		}
	}
	b.T.Fatalf("%s %s is no row", c.method, path)
	return ""
}

type auditLine struct {
	Action, About, From string
	Who                 struct {
		Name   string
		UserID *home.UserID `json:"user_id"`
	}
}

func (p *tab) audit() []auditLine {
	p.box.T.Helper()
	return apitest.Want[struct{ Lines []auditLine }](p.box.T, p.ask(http.MethodGet, "/admin/audit?limit=200", ""), 200).Lines
}

// TestLastAdministratorStays: whichever way they would go.
func TestLastAdministratorStays(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	own := fmt.Sprintf("/admin/accounts/%d", b.keeper.ID)
	refused := func(what string, a apitest.Answer) {
		t.Helper()
		apitest.WantProblem(t, a, http.StatusConflict, "last_administrator")
	}
	refused("ending it", b.keeper.ask(http.MethodPut, own+"/administrator", `{"administrator":false}`))
	refused("deleting the account", b.keeper.ask(http.MethodDelete, own, ""))
	refused("deleting it in the App interface", b.keeper.askApp(http.MethodDelete, fmt.Sprintf("/users/%d", b.keeper.ID), `{"current_password":"`+password+`"}`))
	b.keeper.done(http.MethodPut, fmt.Sprintf("/admin/accounts/%d/administrator", b.member.ID), `{"administrator":true}`)
	b.keeper.done(http.MethodPut, own+"/administrator", `{"administrator":false}`)
	apitest.WantProblem(t, b.keeper.ask(http.MethodGet, "/admin/status", ""), http.StatusForbidden, "not_administrator")
	if got := apitest.Want[struct{ Administrator, Unmanaged bool }](t, b.member.ask(http.MethodGet, "/session", ""), 200); !got.Administrator || got.Unmanaged {
		t.Errorf("the next administrator's session: %+v", got)
	}
}

// TestAdministratorSeesNoHousehold: what homes do is for who belongs to them.
func TestAdministratorSeesNoHousehold(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	for _, path := range []string{"/overview", "/moments?from=0&", "/notices", "/days", "/nights", "/devices", "/links", "/tuning"} {
		separator := "?"
		if strings.HasSuffix(path, "&") {
			separator = ""
		}
		if got := b.keeper.ask(http.MethodGet, path+separator+"network_id=1", "").Status; got != http.StatusNotFound {
			t.Errorf("GET %s: %d, want 404", path, got)
		}
	}
}

// TestHandingTheOnlyHomeOverPassesTheAppliance: who set it up could read the mails of the household.
func TestHandingTheOnlyHomeOverPassesTheAppliance(t *testing.T) {
	t.Parallel()
	for _, several := range []bool{true, false} {
		b := newBox(t)
		b.keeper.done(http.MethodPut, fmt.Sprintf("/admin/accounts/%d/administrator", b.owner.ID), `{"administrator":true}`)
		b.keeper.done(http.MethodPut, fmt.Sprintf("/admin/accounts/%d/administrator", b.keeper.ID), `{"administrator":false}`)
		if !several {
			b.update(func(tx *store.Tx) error {
				m, _, err := tx.MembershipOf(b.other, b.neighbour.ID)
				if err != nil {
					return err
				}
				if err := tx.DeleteMembership(m.ID); err != nil {
					return err
				}
				_, err = tx.VacateHome(b.other)
				return err
			})
		}
		b.owner.done(http.MethodPut, fmt.Sprintf("/admin/accounts/%d/administrator", b.neighbour.ID), `{"administrator":true}`)
		key := apitest.Want[struct{ Secret string }](t, b.owner.ask(http.MethodPost, "/admin/keys", `{"name":"kept","all_networks":true}`), 201).Secret
		apitest.Want[any](t, b.owner.ask(http.MethodPost, "/admin/mqtt-users", `{"name":"kept"}`), 201)
		apitest.Want[any](t, b.owner.ask(http.MethodPost, "/admin/setup-code", ""), 201)
		apitest.Want[any](t, b.nobody.ask(http.MethodPost, "/join", `{"code":"`+b.owner.code(`{"role":"owner","days":30}`)+`"}`), 200)
		if _, err := b.db.CheckAPIKey(t.Context(), key); (err == nil) != several {
			t.Errorf("several homes: %t; a key of before: %v", several, err)
		}
		users, err := store.Read(t.Context(), b.db, (*store.Tx).IntegrationUsers)
		if err != nil || (len(users) == 1) != several {
			t.Errorf("several homes: %t; MQTT users of before: %v %v", several, users, err)
		}
		for _, p := range []*tab{b.owner, b.neighbour, b.nobody} {
			want := (p != b.nobody) == several
			if got := apitest.Want[struct{ Administrator bool }](t, p.ask(http.MethodGet, "/session", ""), 200).Administrator; got != want {
				t.Errorf("several homes: %t; %s is administrator: %t", several, p.Email, got)
			}
		}
	}
}

// TestLeavingTheOnlyHomePassesTheAppliance: its ownership was changed before, and who had it is removed.
func TestLeavingTheOnlyHomePassesTheAppliance(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	b.update(func(tx *store.Tx) error {
		m, _, err := tx.MembershipOf(b.other, b.neighbour.ID)
		if err != nil {
			return err
		}
		left := tx.DeleteMembership(m.ID)
		_, vacated := tx.VacateHome(b.other)
		return errors.Join(left, vacated, tx.SetAdministrator(b.owner.ID, true), tx.SetAdministrator(b.keeper.ID, false))
	})
	key := apitest.Want[struct{ Secret string }](t, b.owner.ask(http.MethodPost, "/admin/keys", `{"name":"kept","all_networks":true}`), 201).Secret
	var own, next home.Membership
	b.update(func(tx *store.Tx) (err error) {
		if own, _, err = tx.MembershipOf(b.home, b.owner.ID); err == nil {
			next, _, err = tx.MembershipOf(b.home, b.member.ID)
		}
		return err
	})
	if a := b.owner.askApp(http.MethodPatch, fmt.Sprintf("/network_memberships/%d", next.ID), `{"role":"owner","current_password":"`+password+`"}`); a.Status >= 300 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	if _, err := b.db.CheckAPIKey(t.Context(), key); err != nil {
		t.Errorf("both live there: %v", err)
	}
	if a := b.member.askApp(http.MethodDelete, fmt.Sprintf("/network_memberships/%d", own.ID), ""); a.Status >= 300 {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	if _, err := b.db.CheckAPIKey(t.Context(), key); err == nil {
		t.Error("a key of who has left opens something")
	}
	for _, p := range []*tab{b.owner, b.member} {
		if got := apitest.Want[struct{ Administrator bool }](t, p.ask(http.MethodGet, "/session", ""), 200).Administrator; got != (p == b.member) {
			t.Errorf("%s is administrator: %t", p.Email, got)
		}
	}
}
