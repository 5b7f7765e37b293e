package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"sensegate/motion"
	"sensegate/motion/command"
	"sensegate/motion/engine/management"
	"sensegate/motion/fault"
	"sensegate/store"
)

// node returns the id of the node with a device id.
func (b *box) node(deviceID string) motion.NodeID {
	b.t.Helper()
	node, err := b.Inventory.NodeByDevice(context.Background(), deviceID)
	if err != nil {
		b.t.Fatal(err)
	}
	return node.ID
}

// ping is a request for a ping of the node with a device id.
func (b *box) ping(deviceID string, change ...func(*command.Request)) command.Request {
	b.t.Helper()
	r := command.Request{NetworkID: b.network(), NodeID: b.node(deviceID), ExecuteNow: true, Payload: map[string]string{"command": "ping", "count": "3"}}
	for _, c := range change {
		c(&r)
	}
	return r
}

// create stores a command and wants it in a state.
func (b *box) create(r command.Request, want command.State) command.ID {
	b.t.Helper()
	c, err := b.Commands.CreateCommand(context.Background(), r, false)
	if err != nil || c.State != want {
		b.t.Fatalf("created %v, error %v, want state %s", c, err, want)
	}
	return c.ID
}

// wantState checks the stored state of a command.
func (b *box) wantState(id command.ID, want command.State) command.Command {
	b.t.Helper()
	synctest.Wait()
	c := b.stored(id)
	if c.State != want {
		b.t.Errorf("%v (%s), want %s", c, c.StateText, want)
	}
	return c
}

// stored returns a command as stored.
func (b *box) stored(id command.ID) (c command.Command) {
	b.t.Helper()
	b.view(func(tx *store.Tx) (err error) {
		c, err = tx.Command(id)
		return err
	})
	return c
}

// result is a device's answer.
func result(id command.ID, state string) motion.ManageResult {
	return motion.ManageResult{ID: int64(id), State: state, Result: motion.Document{"out": state}}
}

// reconnectPeer lets the peer in again.
func (b *box) reconnectPeer() {
	b.t.Helper()
	b.connect(peerID, b.post(peer(), "").RadarToken)
}

func TestCommandIsSentAndAnswered(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		id := b.create(b.ping(masterID), "011")
		equal(t, "sent", b.devices.commands(masterKey, "manage"), []string{fmt.Sprintf(`{"id":%d,"command":"ping","args":{"count":"3"}}`, id)})
		b.report(masterKey, result(id, "100"))
		b.wantState(id, "100")
		b.report(masterKey, result(id, "200"))
		if c := b.wantState(id, "200"); c.Result["out"] != "200" || c.Attempts != 1 {
			t.Errorf("%+v", c)
		}
		b.report(masterKey, result(id, "400")) // said again after the end: nothing changes
		b.wantState(id, "200")
		time.Sleep(10 * time.Minute)
		equal(t, "sent later", b.devices.commands(masterKey, "manage"), nil)
	})
}

func TestOfflineNodeGetsItsCommandWhenItReturns(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		b.State.Disconnected(peerKey, "gone")
		id := b.create(b.ping(peerID), "002")
		time.Sleep(time.Hour)
		b.wantState(id, "002")
		b.reconnectPeer()
		time.Sleep(2 * time.Second)
		b.wantState(id, "011")
		if got := b.devices.commands(peerKey, "manage"); len(got) != 1 {
			t.Errorf("sent %q", got)
		}
	})
}

func TestCommandWaitsUntilTheDeviceListens(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		b.devices.deafen(peerKey, true)
		id := b.create(b.ping(peerID), "011")
		time.Sleep(10 * time.Second)
		equal(t, "sent", b.devices.commands(peerKey, "manage"), nil)
		b.devices.deafen(peerKey, false)
		time.Sleep(2 * time.Second)
		if got := b.devices.commands(peerKey, "manage"); len(got) != 1 || b.stored(id).Attempts != 1 {
			t.Errorf("sent %q, %d attempts", got, b.stored(id).Attempts)
		}
	})
}

// deafen says whether a device is connected without listening.
func (d *recordedDevices) deafen(device motion.DeviceKey, deaf bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.deaf == nil {
		d.deaf = map[motion.DeviceKey]bool{}
	}
	d.deaf[device] = deaf
}

func TestSilentDeviceIsAskedFiveTimes(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		id := b.create(b.ping(peerID), "011")
		next := b.create(b.ping(masterID, func(r *command.Request) { r.ExecuteNow, r.TriggerID = false, command.Trigger(fmt.Sprint(id)) }), "001")
		time.Sleep(29 * time.Second)
		b.wantState(id, "011")
		time.Sleep(3 * time.Second)
		b.wantState(id, "012")
		time.Sleep(116 * time.Second)
		b.wantState(id, "015")
		time.Sleep(7 * time.Second)
		b.wantState(id, "408")
		if c := b.wantState(next, "408"); c.StateText != fmt.Sprintf("trigger %d failed", id) {
			t.Errorf("%+v", c)
		}
		if got := b.devices.commands(peerKey, "manage"); len(got) != 5 {
			t.Errorf("sent %q", got)
		}
		b.report(peerKey, result(id, "200"))
		b.wantState(id, "408")
	})
}

func TestResultIsWaitedForFiveMinutes(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		id := b.create(b.ping(peerID), "011")
		b.report(peerKey, result(id, "100"))
		time.Sleep(299 * time.Second)
		b.wantState(id, "100")
		time.Sleep(3 * time.Second)
		b.wantState(id, "408")
	})
}

func TestOnlyTheNodeItselfAnswers(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		id := b.create(b.ping(masterID), "011")
		b.refuse(peerKey, result(id, "200"), fault.NotFound)
		b.refuse(masterKey, result(id+1, "200"), fault.NotFound)
		b.refuse(masterKey, result(id, "300"), fault.Invalid)
		b.wantState(id, "011")
		b.report(guardianKey, result(id, "100")) // it runs on the master
		b.wantState(id, "100")
	})
}

func TestGuardianTakesTheCommandsOfAMasterWithoutAgent(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		b.State.Disconnected(masterKey, "gone")
		b.create(b.ping(masterID), "011")
		if got := b.devices.commands(guardianKey, "manage"); len(got) != 1 {
			t.Errorf("the guardian got %q", got)
		}
		b.State.Disconnected(peerKey, "gone")
		b.create(b.ping(peerID), "002")
		equal(t, "the guardian got", b.devices.commands(guardianKey, "manage"), nil)
	})
}

func TestAnswerIsNotTakenOnAFullDisk(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		b.stop()
		b.maxSize = 256 << 10
		b.start()
		b.reconnect()
		batch := b.batch(16, func(int) (string, string) { return masterID, "" }, true)
		room := b.pinPages()
		full := command.ID(0)
		for _, c := range batch.Actions {
			err := b.Report(context.Background(), masterKey, result(c.ID, "200"))
			if full = c.ID; fault.KindOf(err) == fault.Unavailable {
				break
			}
		}
		time.Sleep(40 * time.Second) // its time is up, and that cannot be stored either
		b.wantState(full, "011")
		room()
		b.report(masterKey, result(full, "200"))
		b.wantState(full, "200")
	})
}

func TestCommandsGoOnAfterARestart(t *testing.T) {
	for name, end := range restarts {
		t.Run(name, func(t *testing.T) {
			run(t, func(t *testing.T, b *box) {
				b.home()
				after := func(id command.ID) func(*command.Request) {
					return func(r *command.Request) { r.ExecuteNow, r.TriggerID = false, command.Trigger(fmt.Sprint(id)) }
				}
				running := b.create(b.ping(masterID), "011")
				b.report(masterKey, result(running, "100"))
				waiting := b.create(b.ping(peerID, after(running)), "001")
				sent := b.create(b.ping(peerID), "011")
				b.State.Disconnected(peerKey, "gone")
				offline := b.create(b.ping(peerID), "002")
				pending := b.create(b.ping(peerID, func(r *command.Request) { r.ExecuteNow = false }), "000")
				end(b)
				time.Sleep(time.Minute)
				b.start()
				b.devices.commands(peerKey, "manage")
				time.Sleep(2 * time.Second)
				b.wantState(sent, "012") // the time without the appliance counts
				b.wantState(offline, "002")
				b.reconnect()
				time.Sleep(2 * time.Second)
				b.wantState(offline, "011")
				b.report(masterKey, result(running, "200"))
				b.wantState(waiting, "011")
				b.report(peerKey, result(sent, "200"))
				b.wantState(pending, "000")
				if got := b.devices.commands(peerKey, "manage"); len(got) != 3 {
					t.Errorf("sent after the start %q", got)
				}
			})
		})
	}
}

func TestManyCommandsOfOneNodeTakeTurns(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		batch := b.batch(100, func(int) (string, string) { return peerID, "" }, true)
		answered := 0
		for answered < 100 {
			synctest.Wait()
			got := b.devices.commands(peerKey, "manage")
			if len(got) == 0 || len(got) > 16 {
				t.Fatalf("%d commands at once after %d", len(got), answered)
			}
			for _, payload := range got {
				answered++
				if id := idOf(t, payload); id != batch.Actions[answered-1].ID {
					t.Fatalf("command %d is sent as number %d", id, answered)
				}
				b.report(peerKey, result(idOf(t, payload), "200"))
			}
		}
		for _, c := range batch.Actions {
			b.wantState(c.ID, "200")
		}
	})
}

// batch creates a batch of n pings; each says for which device, and its trigger.
func (b *box) batch(n int, each func(i int) (deviceID, trigger string), now bool) management.BatchActions {
	b.t.Helper()
	request := command.BatchRequest{Name: "fw", NetworkID: b.network()}
	nodes := map[string]motion.NodeID{}
	for i := range n {
		device, trigger := each(i)
		if nodes[device] == 0 {
			nodes[device] = b.node(device)
		}
		request.Actions = append(request.Actions, command.Request{
			NodeID: nodes[device], TriggerID: command.Trigger(trigger), ExecuteNow: now && trigger == "", Payload: map[string]string{"command": "ping"},
		})
	}
	batch, err := b.Commands.CreateBatch(context.Background(), request)
	if err != nil {
		b.t.Fatal(err)
	}
	return batch
}

func idOf(t *testing.T, payload string) command.ID {
	t.Helper()
	var c struct{ ID command.ID }
	if err := json.Unmarshal([]byte(payload), &c); err != nil {
		t.Fatal(err)
	}
	return c.ID
}

func TestNodeThatMovesLosesItsCommands(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		b.home()
		id := b.create(b.ping(peerID), "011")
		b.devices.commands(peerKey, "manage")
		other := master()
		other.LocationID, other.Radar.DeviceID, other.Radar.NodeName = "b52f00c2d97b4e5580136c2e", "csi-b", "GWB"
		other.Radar.APBSSID2GHz, other.Radar.MeshBSSID = motion.MAC{2, 0xdd, 1}, motion.MAC{2, 0xdd, 2}
		b.post(other, "")
		moved := peer()
		moved.LocationID = other.LocationID
		b.post(moved, b.post(peer(), "").RadarToken)
		b.wantState(id, "409")
		time.Sleep(10 * time.Minute)
		equal(t, "sent", b.devices.commands(peerKey, "manage"), nil)
	})
}

func TestDeletedNodeIsCutOff(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		network := b.home()
		b.report(guardianKey, status())
		id := b.node(peerID)
		sent := b.create(b.ping(peerID), "011")
		b.devices.deafen(peerKey, true)
		unsent := b.create(b.ping(peerID), "011")
		kept := b.create(b.ping(masterID), "011")
		node, err := b.Devices.DeleteNode(context.Background(), id)
		if err != nil || node.ID != id || node.Name != peerName || node.Online {
			t.Fatalf("%+v, %v", node, err)
		}
		b.devices.deafen(peerKey, false)
		b.devices.commands(peerKey, "manage")
		b.wantState(sent, "409")
		b.wantState(unsent, "409")
		b.wantState(kept, "011")
		if !slices.Contains(b.devices.disconnected, peerKey) || slices.Contains(b.devices.disconnected, masterKey) {
			t.Errorf("disconnected %v", b.devices.disconnected)
		}
		time.Sleep(10 * time.Minute)
		equal(t, "sent afterwards", b.devices.commands(peerKey, "manage"), nil)
		topology, err := b.Inventory.Topology(network, true)
		if err != nil || strings.Contains(fmt.Sprint(topology.Links), peerName) {
			t.Errorf("links %v, %v", topology.Links, err)
		}
		if _, err := b.Devices.DeleteNode(context.Background(), id); fault.KindOf(err) != fault.NotFound {
			t.Errorf("deleted twice: %v", err)
		}
		if again := b.post(peer(), ""); again.RadarToken == "" || b.node(peerID) == id {
			t.Errorf("%+v", again)
		}
	})
}

func TestDeletedMasterTakesTheGuardianAlong(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		network := b.home()
		if _, err := b.Devices.DeleteNode(context.Background(), b.node(masterID)); err != nil {
			t.Fatal(err)
		}
		state, err := b.Inventory.NetworkState(network)
		if err != nil || state.MasterID != 0 || !slices.Contains(b.devices.disconnected, guardianKey) || !slices.Contains(b.devices.disconnected, masterKey) {
			t.Errorf("%+v, %v, disconnected %v", state.Network, err, b.devices.disconnected)
		}
		if err := b.Report(context.Background(), guardianKey, status()); err == nil {
			t.Error("the guardian still speaks")
		}
		b.reconnect()
		if state, err := b.Inventory.NetworkState(network); err != nil || state.MasterID == 0 {
			t.Errorf("%+v, %v", state.Network, err)
		}
	})
}
