package moving_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sensegate/api/box/moving"
	"sensegate/motion"
	"sensegate/motion/alert"
	"sensegate/motion/home"
	"sensegate/motion/sensor"
	"sensegate/motion/series"
	"sensegate/store"
	"sensegate/store/storetest"
)

const now = 1764000000 // 2025-11-24T16:00:00Z

// box is a database with its samples.
type box struct {
	*store.DB
	samples *store.Samples
}

// newBox opens an empty database that has used up some ids, so that those of two boxes differ.
func newBox(t *testing.T, used int, change ...func(*store.Options)) box {
	t.Helper()
	change = append([]func(*store.Options){func(o *store.Options) {
		o.Now = func() time.Time { return time.Unix(now, 0) }
	}}, change...)
	b := box{DB: storetest.Open(t, change...)}
	var err error
	if b.samples, err = store.OpenSamples(t.Context(), b.DB); err != nil {
		t.Fatal(err)
	}
	for i := range used {
		b.update(t, func(tx *store.Tx) error {
			n, err := tx.CreateNetwork(motion.Network{GuardianID: fmt.Sprint("other", i)})
			if err != nil {
				return err
			}
			_, err1 := tx.PutNode(motion.Node{NetworkID: n.ID, DeviceID: fmt.Sprint("csi-other", i), Name: "O"})
			_, err2 := tx.CreateHome(home.New(n.ID))
			_, err3 := tx.CreateUser(home.User{Email: fmt.Sprintf("other%d@example.com", i), Sub: fmt.Sprint("other", i)})
			return errors.Join(err1, err2, err3)
		})
	}
	return b
}

func (b box) update(t *testing.T, fn func(*store.Tx) error) {
	t.Helper()
	if err := b.Update(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

func (b box) view(t *testing.T, fn func(*store.Tx) error) {
	t.Helper()
	if err := b.View(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

// live makes a home with two nodes, a leaf, people, a sensor and a day of history, and returns its network.
func (b box) live(t *testing.T) motion.NetworkID {
	t.Helper()
	var id motion.NetworkID
	b.update(t, func(tx *store.Tx) error {
		n, err := tx.CreateNetwork(motion.Network{GuardianID: "a41f", Meta: motion.Document{"gatekeeper_redirect": "http://192.0.2.1/gatekeeper", "note": "kept"}})
		if err != nil {
			return err
		}
		id = n.ID
		master, err1 := tx.PutNode(motion.Node{NetworkID: id, DeviceID: "csi-a", Name: "GWA1"})
		leaf, err2 := tx.PutLeaf(motion.Leaf{NetworkID: id, MAC: motion.MAC{2, 0xbb, 0, 0, 0, 1}, NodeID: master.ID, FriendlyName: "Kitchen lamp"})
		n.MasterID = master.ID
		err3 := tx.PutNetwork(n)
		err4 := tx.PutLink(motion.Link{NetworkID: id, Name: "GWA1.02bb00000001", Dst: master.ID, Src: leaf.ID})
		err5 := tx.PutDevice(motion.Device{DeviceKey: motion.DeviceKey{Kind: motion.RadarKind, ID: "csi-a"}, NetworkID: id, NodeID: master.ID, Address: "192.0.2.7"})
		err6 := tx.PutDetectorState(id, json.RawMessage(`{"links":{"a":1}}`))
		push := func(users ...int64) alert.Action { return alert.Action{Action: alert.FCMPush, UserIDs: users} }
		olga := int64(4) // after three others
		_, err7 := tx.CreateAlert(id, alert.Job{Rule: alert.Rule{AlertName: "night", Timezone: "UTC", Motion: []alert.Action{push(olga, 999), push(999), push()}}})
		_, err8 := tx.PutNode(motion.Node{NetworkID: id, DeviceID: "node:ruview:02bb00000009:1", Name: "R1"})
		return errors.Join(err1, err2, err3, err4, err5, err6, err7, err8, b.people(tx, id))
	})
	b.history(t, id)
	return id
}

// people makes the household of a network: an owner and a member.
func (b box) people(tx *store.Tx, network motion.NetworkID) error {
	h := home.New(network)
	h.Name, h.ClaimedAt, h.OwnedBefore = "Maple Street", now-1000, true
	h, err := tx.CreateHome(h)
	if err != nil {
		return err
	}
	for i, email := range []string{"olga@example.com", "max@example.com"} {
		confirmed := motion.Stamp(now * 1000)
		u, err := tx.CreateUser(home.User{Email: email, Sub: "sub-" + email, FirstName: "F", ConfirmedAt: &confirmed})
		if err != nil {
			return err
		}
		role := map[int]home.Role{0: home.OwnerRole, 1: home.MemberRole}[i]
		_, err1 := tx.CreateMembership(home.Membership{User: u.ID, Home: h.ID, Role: role, IsPresent: true, Devices: []home.DevicePresence{{Device: 3, Present: true}}})
		err2 := tx.SetPassword(u.ID, "hash of "+email)
		err3 := tx.SetAddressProof(u.ID, store.AddressProof{Vouched: true})
		err4 := tx.SetAdministrator(u.ID, true)
		if err := errors.Join(err1, err2, err3, err4); err != nil {
			return err
		}
	}
	_, err1 := tx.PutIntegration(sensor.Integration{Home: h.ID, Network: network, Provider: "zigbee2mqtt", Account: sensor.Account{UserThingName: "USER_1"}})
	d, err2 := tx.PutSensor(sensor.Device{Home: h.ID, Network: network, ThingName: "SENSOR_1", Type: sensor.Door})
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	_, err = tx.AddDetection(d, sensor.Detection{Home: h.ID, Network: network, ThingName: "SENSOR_1", TS: now - 50})
	return err
}

// history adds events about motion and people, and two hours of seconds.
func (b box) history(t *testing.T, id motion.NetworkID) {
	t.Helper()
	b.update(t, func(tx *store.Tx) error {
		olga, _, err := tx.UserByEmail("olga@example.com")
		if err != nil {
			return err
		}
		nodes, err := tx.Nodes(id)
		if err != nil {
			return err
		}
		for i, e := range []motion.Event{
			{Event: motion.MotionDetectedEvent, NodeID: nodes[0].ID},
			{Event: motion.SceneChangedToAwayEvent, Data: home.DoneBy(olga)},
			{Event: motion.SceneChangedToHomeEvent, Data: motion.Document{"first_name": "Gone", "user": map[string]any{"id": 999}}},
			{Event: motion.MemberJoinedEvent, Data: motion.Document{"id": int64(olga.ID), "sub": olga.Sub, "user": map[string]any{}}},
			{Event: motion.MemberRemovedEvent, Data: motion.Document{"id": 999, "sub": "sub-gone", "user": map[string]any{}}},
		} {
			e.NetworkID, e.GuardianID, e.TS = id, "a41f", motion.Time(now-100+i)
			if _, _, err := tx.AddEvent(e, fmt.Sprint("origin", i)); err != nil {
				return err
			}
		}
		return nil
	})
	for second := int64(now - 7200); second < now; second++ {
		b.samples.Add(id, motion.Time(second), []store.Value{{ID: series.Network, Value: float64(second%10) / 10}})
	}
	b.update(t, b.samples.Flush)
}

// export writes a network into a file.
func (b box) export(t *testing.T, id motion.NetworkID) []byte {
	t.Helper()
	var file bytes.Buffer
	s := moving.Source{Header: moving.Header{Copy: moving.NewReceipt(), Receipt: "receipt", Network: id}, Samples: b.samples}
	b.view(t, func(tx *store.Tx) (err error) {
		s.Network, s.Header.Left, err = tx.CopyNetwork(id)
		return err
	})
	if _, err := moving.Write(t.Context(), &file, s); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// take takes in a file.
func (b box) take(ctx context.Context, file []byte, join ...string) (moving.Taken, error) {
	staged, err := moving.Stage(ctx, b.DB, bytes.NewReader(file), join)
	if err != nil {
		return moving.Taken{}, err
	}
	return staged.Commit(ctx)
}

func TestNetworkArrivesWithAllThatBelongsToIt(t *testing.T) {
	t.Parallel()
	from, to := newBox(t, 3), newBox(t, 1)
	id := from.live(t)
	taken, err := to.take(t.Context(), from.export(t, id))
	if err != nil {
		t.Fatal(err)
	}
	if id != 4 || taken.Network != 2 || taken.Skipped != 1 {
		t.Fatalf("network %d has become %d with %d records left out, want 4, 2 and the one about a person who is not there", id, taken.Network, taken.Skipped)
	}
	if left := taken.Header.Left; cmp.Diff(left, store.LeftBehind{OtherNodes: []string{"R1"}}) != "" {
		t.Errorf("said to be left behind: %+v", left)
	}
	to.view(t, func(tx *store.Tx) error {
		n, err := tx.Network(2)
		if err != nil {
			return err
		}
		master, err1 := tx.Node(n.MasterID)
		links, err2 := tx.Links(2)
		leaf, err3 := tx.LeafByMAC(2, motion.MAC{2, 0xbb, 0, 0, 0, 1})
		device, err4 := tx.Device(motion.DeviceKey{Kind: motion.RadarKind, ID: "csi-a"})
		if master.Name != "GWA1" || len(links) != 1 || links[0].Src != leaf.ID || links[0].Dst != master.ID || leaf.NodeID != master.ID || leaf.FriendlyName != "Kitchen lamp" {
			t.Errorf("topology: master %+v, links %+v, leaf %+v", master, links, leaf)
		}
		if device.NetworkID != 2 || device.NodeID != master.ID || device.Address != "192.0.2.7" {
			t.Errorf("device %+v", device)
		}
		if len(n.Meta) != 1 || n.Meta.Text("note") != "kept" {
			t.Errorf("meta %v, want it without where devices were sent", n.Meta)
		}
		if until, set, _ := tx.AdoptionUntil(2); !set || until > now {
			t.Errorf("adoption window until %v, set %v, want it closed", until, set)
		}
		learned, err5 := tx.DetectorState(2)
		list, err6 := tx.Alerts(2)
		if string(learned) != `{"links":{"a":1}}` || len(list) != 1 || list[0].Rule.ExternalID != 2 {
			t.Errorf("learned %s, alerts %+v", learned, list)
		}
		olga, _, err7 := tx.UserByEmail("olga@example.com")
		if diff := cmp.Diff(list[0].Rule.Motion, []alert.Action{{Action: alert.FCMPush, UserIDs: []int64{int64(olga.ID)}}, {Action: alert.FCMPush}}); diff != "" {
			t.Error(diff)
		}
		return errors.Join(err1, err2, err3, err4, err5, err6, err7)
	})
	to.wantPeople(t)
	to.wantHistory(t, from, id)
}

// wantPeople fails unless olga and max live in network 2, with their passwords and no other right.
func (b box) wantPeople(t *testing.T) {
	t.Helper()
	b.view(t, func(tx *store.Tx) error {
		h, _, err := tx.HomeOfNetwork(2)
		if err != nil {
			return err
		}
		members, err := tx.MembershipsOfHome(h.ID)
		if err != nil {
			return err
		}
		var said []string
		for _, m := range members {
			u, err1 := tx.User(m.User)
			hash, err2 := tx.Password(m.User)
			admin, err3 := tx.IsAdministrator(m.User)
			proof, err4 := tx.AddressProof(m.User)
			if err := errors.Join(err1, err2, err3, err4); err != nil {
				return err
			}
			said = append(said, fmt.Sprint(u.Email, " ", m.Role, " ", hash, " ", admin, proof.Vouched, m.IsPresent, len(m.Devices)))
		}
		want := []string{"olga@example.com owner hash of olga@example.com false true false 0", "max@example.com member hash of max@example.com false true false 0"}
		if diff := cmp.Diff(want, said); diff != "" {
			t.Error(diff)
		}
		things, err := tx.Sensors(h.ID)
		found, err2 := tx.Detections(store.DetectionQuery{Home: h.ID, Last: 10})
		if h.Name != "Maple Street" || len(things) != 1 || things[0].Network != 2 || len(found) != 1 || found[0].Network != 2 {
			t.Errorf("home %+v, sensors %+v, detections %+v", h, things, found)
		}
		return errors.Join(err, err2)
	})
}

// wantHistory fails unless network 2 has the history that a network of another box has.
func (b box) wantHistory(t *testing.T, from box, id motion.NetworkID) {
	t.Helper()
	var olga home.User
	b.view(t, func(tx *store.Tx) (err error) {
		olga, _, err = tx.UserByEmail("olga@example.com")
		return err
	})
	before, after := from.events(t, id), b.events(t, 2)
	before = append(before[:4:4], before[5:]...) // about a person who is not there
	if len(before) != len(after) {
		t.Fatalf("%d events, want %d", len(after), len(before))
	}
	for i, e := range after {
		if e.ID != before[i].ID || e.TS != before[i].TS || e.Event != before[i].Event || e.NetworkID != 2 {
			t.Errorf("event %+v was %+v", e, before[i])
		}
	}
	person := map[string]any{"id": float64(olga.ID)}
	if after[0].NodeID == 0 || after[0].NodeID == before[0].NodeID ||
		cmp.Diff(after[1].Data["user"], any(person)) != "" || cmp.Diff(after[2].Data, motion.Document{"user": map[string]any{}}) != "" ||
		after[3].Data["id"] != float64(olga.ID) || after[3].Data["sub"] != olga.Sub {
		t.Errorf("ids in events: node %d, %v, %v, %v", after[0].NodeID, after[1].Data, after[2].Data, after[3].Data)
	}
	for _, bucket := range []int64{1, 5, 60, 900} {
		if diff := cmp.Diff(from.motion(t, id, bucket), b.motion(t, 2, bucket)); diff != "" {
			t.Errorf("samples of %d s: %s", bucket, diff)
		}
	}
}

func (b box) events(t *testing.T, id motion.NetworkID) (list []motion.Event) {
	t.Helper()
	b.view(t, func(tx *store.Tx) (err error) {
		list, err = tx.Events(store.EventQuery{Network: id, Last: 1000, Ascending: true})
		return err
	})
	return list
}

// motion returns the samples of two hours as JSON.
func (b box) motion(t *testing.T, id motion.NetworkID, bucket int64) string {
	t.Helper()
	set, err := b.samples.Set(t.Context(), id, now-7200, now, bucket)
	if err != nil {
		t.Fatal(err)
	}
	text, step, err := set.AppendJSON(nil, series.Query{Series: series.Network, From: now - 7200, To: now, Bucket: bucket})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d s: %s", step, text)
}
