package core_test

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"sensegate/api/apitest"
	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/command"
	"sensegate/motion/engine/management"
)

// managed is a command as the interface returns it.
type managed = command.Command

// extender admits one more node to the first network.
func (h *home) extender() motion.NodeID {
	h.T.Helper()
	device := fmt.Sprintf("csi-x-%d", h.extenders.Add(1))
	post := motion.Bootstrap{LocationID: guardianID, Radar: motion.Radar{DeviceID: device, NodeName: device, RootMode: 1}}
	if _, err := h.engine.Devices.Admit(h.T.Context(), post, motion.Credentials{Address: netip.MustParseAddr("127.0.0.1")}); err != nil {
		h.T.Fatal(err)
	}
	node, err := h.engine.Inventory.NodeByDevice(h.T.Context(), device)
	if err != nil {
		h.T.Fatal(err)
	}
	return node.ID
}

// pending makes a pending command of the first network's master.
func (h *home) pending() command.ID {
	h.T.Helper()
	return apitest.Want[managed](h.T, h.post("/manage/create", fmt.Sprintf(`{"network_id":%d,"node_id":1,"payload":{"command":"ping"}}`, h.network)), 200).ID
}

// says answers as the first network's guardian.
func (h *home) says(id command.ID, state string, result motion.Document) {
	h.T.Helper()
	h.report(motion.ManageResult{ID: int64(id), State: state, Result: result})
}

func TestCommandIsShownAsItGoes(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	made := apitest.Want[map[string]any](t, h.post("/manage/create", fmt.Sprintf(
		`{"network_id":%d,"node_id":1,"executeNow":true,"trigger_id":null,"payload":{"command":"reboot","delay":"5"}}`, h.network)), 200)
	delete(made, "created_at")
	delete(made, "updated_at")
	text := fmt.Sprint(made)
	if text != "map[attempts:1 batch_id:<nil> executeNow:true id:1 network_id:1 node_id:1 payload:map[command:reboot delay:5] result:<nil> state:011 state_text:sent 1 time trigger_id:<nil>]" {
		t.Error(text)
	}
	h.says(1, "100", nil)
	h.says(1, "200", motion.Document{"out": "bye"})
	list := apitest.Want[[]managed](t, h.get("/manage/list?node_id=1&state=200"), 200)
	if len(list) != 1 || list[0].Result["out"] != "bye" || list[0].StateText != "done" || list[0].UpdatedAt < list[0].CreatedAt {
		t.Errorf("%+v", list)
	}
	apitest.WantProblem(t, h.post("/manage/execute", `{"id":1}`), 409, "command 1 is in state 200")
}

func TestBatchRunsAlongItsTriggers(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	batch := apitest.Want[management.BatchActions](t, h.post("/manage/batch", fmt.Sprintf(`{"name":"fw","network_id":%d,"actions":[
		{"node_id":1,"payload":{"command":"status"}},
		{"node_id":1,"trigger_id":"#0","payload":{"command":"log"}},
		{"node_id":%d,"trigger_id":"#1","payload":{"command":"ping"}}]}`, h.network, h.extender())), 200)
	ids := []command.ID{batch.Actions[0].ID, batch.Actions[1].ID, batch.Actions[2].ID}
	if batch.Actions[0].State != "000" || batch.Actions[2].State != "001" || *batch.Actions[1].TriggerID != ids[0] {
		t.Fatalf("%+v", batch)
	}
	started := apitest.Want[management.BatchActions](t, h.post("/manage/execute", fmt.Sprintf(`{"batch_id":%d}`, batch.BatchID)), 200)
	if started.BatchID != batch.BatchID || len(started.Actions) != 3 || started.Actions[0].State != "011" || started.Actions[1].State != "001" {
		t.Fatalf("%+v", started)
	}
	h.says(ids[0], "200", nil)
	h.says(ids[1], "204", nil)
	list := apitest.Want[[]managed](t, h.get(fmt.Sprintf("/manage/list?batch_id=%d", batch.BatchID)), 200)
	if len(list) != 3 || list[0].ID != ids[2] || list[0].State != "002" || list[1].State != "204" || list[2].State != "200" {
		t.Errorf("%+v", list)
	}
	if one := apitest.Want[[]managed](t, h.get("/manage/list?last=1"), 200); len(one) != 1 || one[0].ID != ids[2] {
		t.Errorf("last=1: %+v", one)
	}
}

func TestCommandIsCancelledUntilItHasEnded(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	sent := apitest.Want[managed](t, h.post("/manage/create", fmt.Sprintf(
		`{"network_id":%d,"node_id":1,"executeNow":true,"payload":{"command":"reboot"}}`, h.network)), 200)
	batch := apitest.Want[management.BatchActions](t, h.post("/manage/batch", fmt.Sprintf(`{"network_id":%d,"actions":[
		{"node_id":1,"payload":{"command":"status"}}, {"node_id":1,"trigger_id":"#0","payload":{"command":"log"}}]}`, h.network)), 200)
	waits := apitest.Want[managed](t, h.post("/manage/create", fmt.Sprintf(
		`{"network_id":%d,"node_id":1,"trigger_id":%d,"payload":{"command":"ping"}}`, h.network, batch.Actions[1].ID)), 200)
	one := apitest.Want[managed](t, h.post("/manage/cancel", fmt.Sprintf(`{"id":%d}`, sent.ID)), 200)
	if one.State != "409" || one.StateText != "cancelled" || one.Attempts != 1 {
		t.Errorf("%+v", one)
	}
	h.says(sent.ID, "200", nil) // too late
	all := apitest.Want[management.BatchActions](t, h.post("/manage/cancel", fmt.Sprintf(`{"batch_id":%d}`, batch.BatchID)), 200)
	if len(all.Actions) != 2 || all.Actions[0].State != "409" || all.Actions[1].State != "409" {
		t.Errorf("%+v", all)
	}
	list := apitest.Want[[]managed](t, h.get("/manage/list?state=409"), 200)
	if len(list) != 4 || list[0].ID != waits.ID || list[3].ID != sent.ID {
		t.Errorf("cancelled: %+v", list)
	}
	apitest.WantProblem(t, h.post("/manage/cancel", fmt.Sprintf(`{"id":%d}`, sent.ID)), 409, "it has ended")
	apitest.WantProblem(t, h.post("/manage/cancel", fmt.Sprintf(`{"batch_id":%d}`, batch.BatchID)), 409, "no command of the batch is open")
	apitest.WantProblem(t, h.post("/manage/cancel", `{}`), 422, "either id or batch_id")
	var back []command.ID // a page each
	for before := command.ID(1000); before > 0; {
		page := apitest.Want[[]managed](t, h.get(fmt.Sprintf("/manage/list?last=1&before=%d", before)), 200)
		if before = 0; len(page) == 1 {
			before = page[0].ID
			back = append(back, before)
		}
	}
	if fmt.Sprint(back) != fmt.Sprint([]command.ID{waits.ID, batch.Actions[1].ID, batch.Actions[0].ID, sent.ID}) {
		t.Errorf("paged back: %v", back)
	}
}

func TestEveryMistakeOfACommandIsListed(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for body, says := range map[string][]string{
		`{"network_id":1,"node_id":0,"payload":{"x":5}}`:                                       {"body.node_id", "body.payload", "body.payload.x"},
		`{"network_id":1,"node_id":1,"trigger_id":"#0","payload":{"command":"p"}}`:             {"body.trigger_id", "positions are for batches"},
		`{"network_id":1,"node_id":1,"trigger_id":[1],"payload":{"command":"p"}}`:              {"body.trigger_id"},
		`{"network_id":1,"node_id":1,"trigger_id":true,"payload":{"command":"p"}}`:             {"body.trigger_id"},
		`{"network_id":1,"node_id":4294967297,"payload":{"command":"p"}}`:                      {"body"},
		`{"network_id":1,"node_id":1,"payload":{"command":"p","":"x"}}`:                        {"must have 1 to 64 bytes"},
		`{"network_id":1,"node_id":1,"payload":{"command":"` + strings.Repeat("p", 65) + `"}}`: {"body.payload.command"},
	} {
		a := h.post("/manage/create", body)
		for _, s := range says {
			apitest.WantProblem(t, a, 422, s)
		}
	}
	apitest.WantProblem(t, h.post("/manage/batch", `{"network_id":1,"actions":[
		{"node_id":1,"trigger_id":"#0","payload":{"command":"p"}},
		{"node_id":1,"network_id":2,"payload":{"command":"p"}}]}`), 422, "body.actions[1].network_id")
	apitest.WantProblem(t, h.post("/manage/execute", `{}`), 422, "either id or batch_id")
	apitest.WantProblem(t, h.get("/manage/list?state=016"), 422, "query.state")
	apitest.WantProblem(t, h.get("/manage/list?last=1001"), 422, "query.last")
}

func TestUnknownAndForeignCommandsAnswerTheSame(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	bound := h.key("bound", h.network, auth.Scopes()...)
	foreign := apitest.Want[managed](t, h.post("/manage/create?createBatch=true", fmt.Sprintf(`{"network_id":%d,"node_id":2,"payload":{"command":"p"}}`, h.other)), 200)
	for name, pair := range map[string][2][3]string{
		"network of a command":  {{"POST", "/manage/create", `{"network_id":2,"node_id":2,"payload":{"command":"p"}}`}, {"POST", "/manage/create", `{"network_id":99,"node_id":2,"payload":{"command":"p"}}`}},
		"network of a batch":    {{"POST", "/manage/batch", `{"network_id":2,"actions":[{"node_id":2,"payload":{"command":"p"}}]}`}, {"POST", "/manage/batch", `{"network_id":99,"actions":[{"node_id":2,"payload":{"command":"p"}}]}`}},
		"node":                  {{"POST", "/manage/create", `{"network_id":1,"node_id":2,"payload":{"command":"p"}}`}, {"POST", "/manage/create", `{"network_id":1,"node_id":99,"payload":{"command":"p"}}`}},
		"trigger":               {{"POST", "/manage/create", `{"network_id":1,"node_id":1,"trigger_id":1,"payload":{"command":"p"}}`}, {"POST", "/manage/create", `{"network_id":1,"node_id":1,"trigger_id":"99","payload":{"command":"p"}}`}},
		"command":               {{"POST", "/manage/execute", `{"id":1}`}, {"POST", "/manage/execute", `{"id":99}`}},
		"batch":                 {{"POST", "/manage/execute", `{"batch_id":1}`}, {"POST", "/manage/execute", `{"batch_id":99}`}},
		"command to cancel":     {{"POST", "/manage/cancel", `{"id":1}`}, {"POST", "/manage/cancel", `{"id":99}`}},
		"batch to cancel":       {{"POST", "/manage/cancel", `{"batch_id":1}`}, {"POST", "/manage/cancel", `{"batch_id":99}`}},
		"network of the list":   {{"GET", "/manage/list?network_id=2", ""}, {"GET", "/manage/list?network_id=99", ""}},
		"batch of the list":     {{"GET", "/manage/list?batch_id=1", ""}, {"GET", "/manage/list?batch_id=99", ""}},
		"node of the list":      {{"GET", "/manage/list?node_id=2", ""}, {"GET", "/manage/list?node_id=99", ""}},
		"node that is to go":    {{"DELETE", "/node/2/edit", ""}, {"DELETE", "/node/99/edit", ""}},
		"node and no such node": {{"GET", "/manage/list?network_id=1&node_id=2", ""}, {"GET", "/manage/list?network_id=1&node_id=99", ""}},
	} {
		var bodies []string
		for _, c := range pair {
			a := h.As(bound, c[0], c[1], c[2])
			if a.Status != 404 {
				t.Errorf("%s: %v: status %d: %s", name, c, a.Status, a.Body)
			}
			bodies = append(bodies, number.ReplaceAllString(string(a.Body), "N"))
		}
		if bodies[0] != bodies[1] {
			t.Errorf("%s: %s and %s", name, bodies[0], bodies[1])
		}
	}
	if list := apitest.Want[[]managed](t, h.As(bound, "GET", "/manage/list", ""), 200); len(list) != 0 {
		t.Errorf("a bound key sees %+v", list)
	}
	if list := apitest.Want[[]managed](t, h.get("/manage/list"), 200); len(list) != 1 || list[0].ID != foreign.ID || list[0].State != "000" {
		t.Errorf("left: %+v", list)
	}
}

// monitorFrame is any frame of a monitor.
type monitorFrame struct {
	Type    string          `json:"type"`
	BatchID command.BatchID `json:"batch_id"`
	Actions []managed       `json:"actions"`
	Action  *managed        `json:"action"`
}

func TestMonitorTellsEveryChangeAndEnds(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	batch := apitest.Want[management.BatchActions](t, h.post("/manage/batch", fmt.Sprintf(`{"network_id":%d,"actions":[
		{"node_id":1,"payload":{"command":"status"}},{"node_id":1,"trigger_id":"#0","payload":{"command":"log"}}]}`, h.network)), 200)
	path := fmt.Sprintf("/manage/monitor?batch_id=%d", batch.BatchID)
	ws := h.dial(path)
	if first := next[monitorFrame](t, ws); first.Type != "snapshot" || first.BatchID != batch.BatchID || len(first.Actions) != 2 || first.Actions[1].State != "001" {
		t.Fatalf("%+v", first)
	}
	apitest.Want[management.BatchActions](t, h.post("/manage/execute", fmt.Sprintf(`{"batch_id":%d}`, batch.BatchID)), 200)
	h.says(batch.Actions[0].ID, "100", nil)
	h.says(batch.Actions[0].ID, "200", nil)
	h.says(batch.Actions[1].ID, "418", nil)
	for i, state := range []string{"0:011", "0:100", "0:200", "1:011", "1:418"} {
		f := next[monitorFrame](t, ws)
		if f.Type != "update" || f.Action == nil || fmt.Sprintf("%d:%s", f.Action.ID-batch.Actions[0].ID, f.Action.State) != state {
			t.Fatalf("frame %d: %+v, want %s", i, f, state)
		}
	}
	wantDone(t, ws, batch.BatchID)
	late := h.dial(path)
	if first := next[monitorFrame](t, late); first.Type != "snapshot" || first.Actions[1].State != "418" {
		t.Errorf("%+v", first)
	}
	wantDone(t, late, batch.BatchID)
}

// wantDone reads the end of a monitor.
func wantDone(t *testing.T, ws *websocket.Conn, batch command.BatchID) {
	t.Helper()
	if f := next[monitorFrame](t, ws); f.Type != "done" || f.BatchID != batch {
		t.Errorf("%+v, want done", f)
	}
	if _, raw, err := ws.ReadMessage(); !websocket.IsCloseError(err, websocket.CloseNormalClosure) {
		t.Errorf("got %s %v, want close 1000", raw, err)
	}
}

func TestLadderOfTheMonitor(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	apitest.Want[managed](t, h.post("/manage/create?createBatch=true", fmt.Sprintf(`{"network_id":%d,"node_id":1,"payload":{"command":"p"}}`, h.network)), 200)
	with := func(token string) http.Header { return http.Header{"Authorization": {token}} }
	path := "/manage/monitor?batch_id=1"
	for name, c := range map[string]struct {
		path   string
		header http.Header
		status int
	}{
		"no key": {path, nil, 401}, "made-up key": {path + "&token=sg_nothing", nil, 401},
		"wrong scope":     {path, with(h.key("writer", 0, auth.ScopeWrite)), 403},
		"foreign network": {path, with(h.key("foreign", h.other, auth.ScopeRead)), 404},
		"unknown batch":   {"/manage/monitor?batch_id=99", with(h.all), 404},
		"no batch":        {"/manage/monitor", with(h.all), 422}, "invalid": {"/manage/monitor?batch_id=0", with(h.all), 422},
		"malformed": {path + "&x=%zz", with(h.all), 400},
		"right":     {path, with(h.key("own", h.network, auth.ScopeRead)), 101}, "right, by query": {path + "&token=" + h.all, nil, 101},
	} {
		if got := h.refused(c.path, c.header); got != c.status {
			t.Errorf("%s: status %d, want %d", name, got, c.status)
		}
	}
}

func TestDeletedNodeTakesItsLinksAndCommandsAlong(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.reportStatus()
	id := h.extender()
	made := apitest.Want[managed](t, h.post("/manage/create", fmt.Sprintf(`{"network_id":%d,"node_id":%d,"executeNow":true,"payload":{"command":"p"}}`, h.network, id)), 200)
	gone := apitest.Want[motion.Node](t, h.As(h.all, http.MethodDelete, fmt.Sprintf("/node/%d/edit", id), ""), 200)
	if gone.ID != id || gone.DeviceID == "" || gone.Online {
		t.Errorf("%+v", gone)
	}
	list := apitest.Want[[]managed](t, h.get(fmt.Sprintf("/manage/list?node_id=%d", id)), 200)
	if made.State != "002" || len(list) != 1 || list[0].State != "409" {
		t.Errorf("%+v was %+v", list, made)
	}
	apitest.WantProblem(t, h.As(h.all, http.MethodDelete, fmt.Sprintf("/node/%d/edit", id), ""), 404, "no such node")

	master := apitest.Want[motion.Node](t, h.As(h.all, http.MethodDelete, "/node/1/edit", ""), 200)
	if _, err := h.engine.Devices.Login(context.Background(), guardianID, "x"); err == nil || master.DeviceID != masterID {
		t.Errorf("%+v, login %v", master, err)
	}
	network := apitest.Want[struct {
		MasterID motion.NodeID `json:"master_id"`
		Nodes    []motion.Node `json:"nodes"`
	}](t, h.get(fmt.Sprintf("/network/find/id/%d?expandNodes=true", h.network)), 200)
	if network.MasterID != 0 || len(network.Nodes) != 0 {
		t.Errorf("%+v", network)
	}
	for _, path := range []string{"topology?offline=true", "status"} {
		apitest.Want[any](t, h.get(fmt.Sprintf("/network/%d/%s", h.network, path)), 200)
	}
}

func TestMonitorOfAThousandCommandsLosesNothing(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	actions := []string{`{"node_id":1,"payload":{"command":"status"}}`}
	for range 999 {
		actions = append(actions, `{"node_id":1,"trigger_id":"#0","payload":{"command":"ping"}}`)
	}
	batch := apitest.Want[management.BatchActions](t, h.post("/manage/batch",
		fmt.Sprintf(`{"network_id":%d,"actions":[%s]}`, h.network, strings.Join(actions, ","))), 200)
	ws := h.dial(fmt.Sprintf("/manage/monitor?batch_id=%d", batch.BatchID))
	if first := next[monitorFrame](t, ws); len(first.Actions) != 1000 {
		t.Fatalf("a snapshot of %d", len(first.Actions))
	}
	apitest.Want[management.BatchActions](t, h.post("/manage/execute", fmt.Sprintf(`{"batch_id":%d}`, batch.BatchID)), 200)
	h.says(batch.Actions[0].ID, "200", nil) // all others start in this moment
	apitest.Want[motion.Node](t, h.As(h.all, http.MethodDelete, "/node/1/edit", ""), 200)

	states, updates := map[command.ID]command.State{}, 0
	for {
		f := next[monitorFrame](t, ws)
		if f.Type == "done" {
			break
		}
		updates++
		if before := states[f.Action.ID]; before >= f.Action.State {
			t.Fatalf("command %d goes from %s to %s", f.Action.ID, before, f.Action.State)
		}
		states[f.Action.ID] = f.Action.State
	}
	list := apitest.Want[[]managed](t, h.get(fmt.Sprintf("/manage/list?batch_id=%d&last=1000", batch.BatchID)), 200)
	for _, c := range list {
		if states[c.ID] != c.State || !c.State.Final() {
			t.Errorf("%v, the monitor saw %s", c, states[c.ID])
		}
	}
	if len(list) != 1000 || updates < 2+2*999 {
		t.Errorf("%d commands, %d updates", len(list), updates)
	}
}

func TestExecuteNamesACommandOrABatch(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for body, places := range map[string][]string{
		`{}`:                       {`{"location":"body","message":"must have either id or batch_id"}`},
		`{"id":901,"batch_id":77}`: {`{"location":"body","message":"must have either id or batch_id"}`},
		`{"id":0}`:                 {`"location":"body.id"`},
		`{"batch_id":-1}`:          {`"location":"body.batch_id"`},
		`{"id":-1,"batch_id":-1}`:  {`"location":"body.id"`, `"location":"body.batch_id"`},
	} {
		for _, place := range places {
			apitest.WantProblem(t, h.post("/manage/execute", body), 422, place)
		}
	}
}
