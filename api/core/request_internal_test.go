package core

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"sensegate/motion/command"
	"sensegate/motion/fault"
)

// mistakesOf returns the details of an Invalid fault as "location: message".
func mistakesOf(t testing.TB, err error) []string {
	t.Helper()
	var f *fault.Error
	if err == nil {
		return nil
	}
	if !errors.As(err, &f) || f.Kind != fault.Invalid || len(f.Details) == 0 {
		t.Fatalf("error %v, want a fault Invalid with details", err)
	}
	var got []string
	for _, d := range f.Details {
		got = append(got, d.Location+": "+d.Message)
	}
	return got
}

// wantMistakes compares the mistakes of err.
func wantMistakes(t testing.TB, err error, want ...string) {
	t.Helper()
	if got := mistakesOf(t, err); !slices.Equal(got, want) {
		t.Errorf("mistakes\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// read decodes a body.
func read[B any](t testing.TB, body string) B {
	t.Helper()
	var b B
	if err := json.Unmarshal([]byte(body), &b); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return b
}

// readRequest reads the body of /manage/create.
func readRequest(t testing.TB, body string) command.Request {
	t.Helper()
	b := read[newCommand](t, body)
	return b.request(b.NetworkID)
}

// readBatch reads the body of /manage/batch.
func readBatch(t testing.TB, body string) command.BatchRequest {
	t.Helper()
	var in createBatchIn
	if err := json.Unmarshal([]byte(body), &in.Body); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return in.request()
}

func TestRequestIsReadAsShown(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]command.ID{
		`{"network_id":1042,"node_id":134,"executeNow":true,"trigger_id":null,"payload":{"command":"reboot"}}`:   0,
		`{"network_id":1042,"node_id":134,"payload":{"command":"no such command"}}`:                              0,
		`{"network_id":1042,"node_id":134,"trigger_id":900,"payload":{"command":"log","lines":"20"}}`:            900,
		`{"network_id":1042,"node_id":134,"trigger_id":"900","executeNow":false,"payload":{"command":"ping"}}`:   900,
		`{"network_id":1042,"node_id":134,"trigger_id":9223372036854775807,"payload":{"command":"ping","x":""}}`: 9223372036854775807,
	} {
		r := readRequest(t, body)
		wantMistakes(t, r.Check())
		trigger := r.TriggerID.Of(nil)
		if (trigger != nil) != (want != 0) || trigger != nil && *trigger != want {
			t.Errorf("%s: trigger %v, want %d", body, trigger, want)
		}
	}
}

func TestRequestNamesAllItsMistakes(t *testing.T) {
	t.Parallel()
	r := readRequest(t, `{"trigger_id":"#0","payload":{"":"x"}}`)
	r.Payload["long"] = strings.Repeat("x", command.MaxValue+1)
	r.Payload[strings.Repeat("k", command.MaxKey+1)] = "x"
	wantMistakes(t, r.Check(),
		"body.network_id: must be the id of a network",
		"body.node_id: must be the id of a node",
		`body.payload: key "": must have 1 to 64 bytes`,
		`body.payload: key "kkkkkkkkkkkkkkkk": must have 1 to 64 bytes`,
		"body.payload.command: must be the name of a command, 1 to 64 bytes",
		"body.payload.long: must have at most 4096 bytes",
		"body.trigger_id: must be the id of a command: positions are for batches",
	)
	r = command.Request{NetworkID: 1, NodeID: 1, Payload: map[string]string{"command": strings.Repeat("x", command.MaxKey+1)}}
	for i := range command.MaxEntries {
		r.Payload[fmt.Sprint(i)] = ""
	}
	wantMistakes(t, r.Check(),
		"body.payload: must have at most 32 entries",
		"body.payload.command: must be the name of a command, 1 to 64 bytes",
	)
}

func TestTriggerIsTheIDOfACommand(t *testing.T) {
	t.Parallel()
	for _, trigger := range []string{`0`, `-1`, `1.5`, `9e2`, `9223372036854775808`, `"x"`, `"#"`, `"#-1"`, `"#+1"`, `"#1 "`, `true`, `{}`, `[900]`} {
		r := readRequest(t, `{"network_id":1,"node_id":1,"payload":{"command":"ping"},"trigger_id":`+trigger+`}`)
		wantMistakes(t, r.Check(), "body.trigger_id: must be the id of a command")
	}
}

func TestActionsWaitForEarlierOnes(t *testing.T) {
	t.Parallel()
	b := readBatch(t, `{"name":"fw","network_id":1042,"actions":[
		{"node_id":1,"payload":{"command":"config"}},
		{"node_id":2,"trigger_id":"#0","payload":{"command":"reboot"}},
		{"node_id":3,"trigger_id":55,"network_id":1042,"payload":{"command":"ping"}}]}`)
	requests, err := b.Requests()
	wantMistakes(t, err)
	for i, want := range []command.ID{0, 901, 55} {
		trigger := requests[i].TriggerID.Of([]command.ID{901, 902}[:i])
		if requests[i].NetworkID != 1042 || (trigger != nil) != (want != 0) || trigger != nil && *trigger != want {
			t.Errorf("action %d: network %d, trigger %v, want 1042 and %d", i, requests[i].NetworkID, trigger, want)
		}
	}
	if b.Actions[0].NetworkID != 0 {
		t.Error("the request was written to")
	}
}

func TestBatchNamesAllItsMistakes(t *testing.T) {
	t.Parallel()
	b := readBatch(t, `{"network_id":1042,"actions":[
		{"node_id":1,"trigger_id":"#0","payload":{"command":"config"}},
		{"node_id":2,"trigger_id":"#2","payload":{"command":"config"}},
		{"network_id":7,"trigger_id":"#99999999999","payload":{}}]}`)
	b.Name = strings.Repeat("x", command.MaxName+1)
	_, err := b.Requests()
	wantMistakes(t, err,
		"body.actions[0].trigger_id: must be the position of an earlier action",
		"body.actions[1].trigger_id: must be the position of an earlier action",
		"body.actions[2].network_id: must be the network of the batch",
		"body.actions[2].node_id: must be the id of a node",
		"body.actions[2].payload.command: must be the name of a command, 1 to 64 bytes",
		`body.actions[2].trigger_id: must be the id of a command, or "#" and the position of an earlier action`,
		"body.name: must have at most 128 bytes",
	)
	for _, b := range []command.BatchRequest{{}, {Actions: make([]command.Request, command.MaxActions+1)}} {
		_, err := b.Requests()
		wantMistakes(t, err, "body.actions: must be 1 to 1000 actions", "body.network_id: must be the id of a network")
	}
}

// FuzzBatchRequest reads any body: what passes the check makes commands that are
// read back as they were, and triggers that are there.
func FuzzBatchRequest(f *testing.F) {
	f.Add([]byte(`{"name":"fw","network_id":1042,"actions":[{"node_id":1,"payload":{"command":"a"}},{"node_id":2,"trigger_id":"#0","payload":{"command":"b"}}]}`))
	f.Add([]byte(`{"network_id":1,"actions":[{"node_id":1,"trigger_id":[1],"payload":{"command":"a","":"\ud800"}}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		var in createBatchIn
		if json.Unmarshal(body, &in.Body) != nil {
			return
		}
		requests, err := in.request().Requests()
		if err != nil {
			mistakesOf(t, err)
			return
		}
		var earlier []command.ID
		for i, r := range requests {
			trigger := r.TriggerID.Of(earlier)
			if (trigger != nil) != (r.TriggerID != "") || trigger != nil && *trigger <= 0 {
				t.Fatalf("action %d of %s: trigger %v of %q", i, body, trigger, r.TriggerID)
			}
			c := command.New(r, trigger, true, 1764000000).Command
			encoded, err := json.Marshal(c)
			if err != nil || len(encoded) > 1<<20 || c.Name() == "" {
				t.Fatalf("action %d of %s: %d bytes, error %v", i, body, len(encoded), err)
			}
			earlier = append(earlier, command.ID(i+1))
		}
	})
}
