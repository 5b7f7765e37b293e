package app_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gorilla/websocket"
)

// The callers of the matrix, in the order of the verdicts: no token, an expired one, one
// of a session that has ended, one for another purpose; a user without a network, the
// owner of another network, a member, the owner; an installer of the home.
var callers = [9]string{"anyone", "expired", "revoked", "wrong audience", "user", "other network's member", "member", "owner", "installer"}

// asUser is the place of the verdict on a user without a network. It is the installer's too: no
// operation here lets them in because of the home that they install.
const asUser = 4

// The usual verdicts: + is let in, 1 is 401, 3 is 403, 4 is 404.
const (
	forAnyone = "++++++++"
	forUsers  = "1111++++"
	forMember = "111144++"
	forOwner  = "1111443+"
)

// verdicts is who may call what: the whole interface, a line for each row.
func verdicts() map[string]string {
	return map[string]string{
		"GET /version":                                forAnyone,
		"GET /healthz":                                forAnyone,
		"POST /sessions":                              forAnyone,
		"PATCH /sessions":                             forAnyone,
		"POST /sessions/sso/{provider}":               forAnyone,
		"POST /logout":                                forUsers,
		"GET /users/{id}":                             "1111444+", // the owner
		"PUT /password_resets":                        forAnyone,
		"POST /password_resets":                       forAnyone,
		"POST /users":                                 forAnyone,
		"POST /confirmations":                         forAnyone,
		"GET /confirmations":                          forAnyone,
		"PUT /confirmations":                          forAnyone,
		"POST /confirmation_mails":                    forAnyone,
		"POST /searches":                              forUsers,
		"POST /find":                                  forUsers,
		"POST /mobile_devices":                        forUsers,
		"GET /mobile_devices":                         forUsers,
		"DELETE /mobile_devices/{id}":                 "1111444+", // the owner's phone
		"GET /network_memberships":                    forMember,
		"POST /network_memberships":                   forUsers, // it has an owner already: 409 for all
		"PATCH /network_memberships/{id}":             forOwner,
		"DELETE /network_memberships/{id}":            "111144++", // of the member
		"PUT /users/{id}":                             "1111444+", // the owner
		"DELETE /users/{id}":                          "1111444+",
		"POST /member_invites":                        forOwner,
		"GET /invitations":                            forMember,
		"DELETE /invitations/{id}":                    forOwner,
		"GET /networks":                               "111144++", // with an id
		"GET /networks/{id}":                          forMember,
		"PUT /networks/{id}":                          forOwner,
		"DELETE /networks/{id}":                       forOwner,
		"GET /networks/info":                          forMember,
		"GET /network_scene_configs/{id}":             forMember,
		"PUT /network_scene_configs/{id}":             forMember,
		"GET /network_motion_config":                  forMember,
		"PUT /network_motion_config":                  forMember,
		"GET /default_locations":                      forMember,
		"POST /default_locations":                     forMember,
		"PATCH /default_locations/{id}":               forMember,
		"DELETE /default_locations/{id}":              forMember,
		"GET /scenes":                                 forMember,
		"PUT /scenes":                                 forMember,
		"PUT /node":                                   forMember,
		"PUT /leaf":                                   forMember,
		"PATCH /devices":                              forMember,
		"GET /zone_priority":                          forMember,
		"PATCH /zone_priority":                        forMember,
		"GET /sounding/settings":                      forMember,
		"PATCH /sounding/settings":                    forMember,
		"GET /sounding/clients":                       forMember,
		"PATCH /sounding/clients":                     forMember,
		"POST /event_tag":                             forMember,
		"GET /events":                                 forMember,
		"GET /motion_history_densities":               forMember,
		"GET /motion_history_intensities":             forMember,
		"GET /network_statuses":                       forMember,
		"GET /location_histograms":                    forMember,
		"GET /topologies":                             forMember,
		"GET /motions":                                forMember,
		"POST /bulk_user_presences":                   forUsers, // each report is answered by itself
		"POST /user_presences":                        forMember,
		"GET /sleep_times/settings":                   forMember,
		"POST /sleep_times/settings":                  forOwner,
		"GET /sleep_times/data/{queried_days}":        forMember,
		"GET /insights/v2/activity":                   forMember,
		"GET /activity/{queried_days}":                forMember,
		"POST /sensors/integrations":                  forOwner,
		"GET /sensors/integrations":                   forMember,
		"PATCH /sensors/integrations":                 forOwner,
		"DELETE /sensors/integrations":                forOwner,
		"POST /sensors/pair/{hub_thing_name}":         forMember,
		"GET /sensors/devices":                        forMember,
		"GET /sensors/devices/{thing_name}":           forMember,
		"PATCH /sensors/devices/{thing_name}":         forMember,
		"DELETE /sensors/devices/{thing_name}":        forMember,
		"GET /sensors/history":                        forMember,
		"GET /sensors/history/{thing_name}":           forMember,
		"GET /meta":                                   forMember,
		"PATCH /meta":                                 forOwner, // the network's area; a member's own is tested apart
		"DELETE /meta":                                forOwner,
		"GET /user/meta":                              forUsers,
		"PATCH /user/meta":                            forUsers,
		"DELETE /user/meta":                           forUsers,
		"GET /adoption":                               forOwner,
		"POST /adoption":                              forOwner,
		"DELETE /adoption":                            forOwner,
		"POST /adoption/{device_id}":                  forOwner,
		"GET /users/{id}/identities":                  "1111444+", // the owner
		"POST /users/{id}/identities":                 "1111444+", // no provider is configured: 404 for all
		"DELETE /users/{id}/identities/{identity_id}": "1111444+",
		"GET /outbox":                                 forOwner,
		"GET /outbox/{id}/qr":                         forOwner,
		"GET /universal-alert":                        forMember,
		"POST /universal-alert":                       forMember,
		"GET /universal-alert/status":                 forMember,
		"GET /universal-alert/{uuid}":                 forMember,
		"DELETE /universal-alert/{uuid}":              forMember,
		"PATCH /universal-alert/{uuid}":               forMember,
		"PATCH /universal-alert-bulk":                 forMember,
	}
}

// TestAuthorizationMatrix calls every operation as every kind of caller, with the
// request of its example about what the first home has.
func TestAuthorizationMatrix(t *testing.T) {
	t.Parallel()
	known := verdicts()
	for _, route := range table().Routes {
		row := route.Method + " " + route.Path
		verdict, ok := known[row]
		delete(known, row)
		if !ok {
			t.Errorf("%s is not in the matrix: say who may call it", row)
			continue
		}
		verdict += verdict[asUser : asUser+1]
		t.Run(row, func(t *testing.T) {
			t.Parallel()
			r := newRehearsal(t)
			for i, caller := range callers {
				if i > 0 && usesUp(row) && verdict[i-1] == '+' { // what it acts on is gone
					r = newRehearsal(t)
				}
				r.judge(caller, row, route.Live, verdict[i])
			}
		})
	}
	for row := range known {
		t.Errorf("%s is in the matrix and not served", row)
	}
}

// usesUp reports whether a row that is let in leaves nothing for the next caller: a
// record, a token, a session, a phone, or one of the few mails of a minute.
func usesUp(row string) bool {
	switch row {
	case "POST /sessions", "PATCH /sessions", "POST /logout", "GET /confirmations", "PUT /confirmations", "PUT /password_resets", "POST /default_locations", "POST /mobile_devices",
		"POST /users", "POST /confirmations", "POST /confirmation_mails", "POST /password_resets":
		return true
	}
	return strings.HasPrefix(row, "DELETE ")
}

// judge calls a row as one caller.
func (r *rehearsal) judge(caller, row string, live bool, verdict byte) {
	r.T.Helper()
	method, path, body := r.Request(row)
	status := 0
	if live {
		status = r.dial(path, r.tokenOf(caller))
	} else {
		status = r.As(r.tokenOf(caller), method, path, body).Status
	}
	want := map[byte]int{'1': http.StatusUnauthorized, '3': http.StatusForbidden, '4': http.StatusNotFound}[verdict]
	switch {
	case verdict == '+' && status >= 300 && status != r.Refused[row]:
		r.T.Errorf("%s as %s: %d, want to be let in", row, caller, status)
	case verdict != '+' && status != want:
		r.T.Errorf("%s as %s: %d, want %d", row, caller, status, want)
	}
}

// dial opens a websocket and returns the status of the answer, 200 for an open one.
func (r *rehearsal) dial(path, token string) int {
	r.T.Helper()
	ws, answer, err := websocket.DefaultDialer.DialContext(r.T.Context(), "ws://"+r.Address+r.Base+path, http.Header{"Authorization": {token}})
	if err == nil {
		ws.Close()
		return http.StatusOK
	}
	if answer == nil {
		r.T.Fatal(err)
	}
	answer.Body.Close()
	return answer.StatusCode
}
