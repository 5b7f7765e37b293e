package integration

import (
	"errors"
	"testing"

	mqtt "github.com/eclipse/paho.mqtt.golang"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

// own makes a new user the owner of a home.
func (f *fixture) own(h home.ID, address string) (id home.UserID) {
	f.t.Helper()
	f.update(func(tx *store.Tx) error {
		u, err := tx.CreateUser(home.User{Email: address, Sub: address})
		if err != nil {
			return err
		}
		id = u.ID
		_, err = tx.CreateMembership(home.Membership{Home: h, User: u.ID, Role: home.OwnerRole})
		return err
	})
	return id
}

// former is a bridge that is connected as the user that an owner has made.
type former struct {
	*fixture
	bridge *bridge
	secret string
}

// newFormer connects the bridge of the first home as the user that its owner makes in the place of the
// administrator's.
func newFormer(t *testing.T, f *fixture, by home.UserID) former {
	t.Helper()
	if _, _, err := f.NewBridgeUser(t.Context(), f.home, by, false); fault.KindOf(err) != fault.Conflict {
		t.Errorf("beside the administrator's: %v", err)
	}
	made, secret, err := f.NewBridgeUser(t.Context(), f.home, by, true)
	if err != nil || made.Home != f.home {
		t.Fatalf("%+v %v", made, err)
	}
	return former{f, newBridge(t, f.broker.Addr().String(), secret), secret}
}

// wantCut fails the test unless the open session ends, and the password opens no other.
func (f former) wantCut() {
	f.t.Helper()
	f.eventually("the open session ends", func() bool { return !f.bridge.client.IsConnected() })
	again := mqtt.NewClient(mqtt.NewClientOptions().AddBroker("tcp://" + f.broker.Addr().String()).SetClientID("again").
		SetUsername("zigbee2mqtt").SetPassword(f.secret))
	if token := again.Connect(); !token.WaitTimeout(patience) || token.Error() == nil {
		again.Disconnect(0)
		f.t.Error("the password still opens a connection")
	}
}

func TestBridgeUserEndsWithTheIntegration(t *testing.T) {
	t.Parallel()
	f, _ := newBridgeFixture(t)
	f.enabled()
	owner := f.own(f.home, "owner@example.com")
	b := newFormer(t, f, owner)
	if err := f.Delete(t.Context(), f.home); err != nil {
		t.Fatal(err)
	}
	b.wantCut()
	f.enabled()
	if _, _, err := f.NewBridgeUser(t.Context(), f.home, owner, false); err != nil {
		t.Errorf("made anew: %v", err)
	}
}

// TestBridgeUserEndsWithTheHome has the network deleted, which is how an owner disowns a home;
// the other ways are tested with the household.
func TestBridgeUserEndsWithTheHome(t *testing.T) {
	t.Parallel()
	f, _ := newBridgeFixture(t)
	f.enabled()
	b := newFormer(t, f, f.own(f.home, "owner@example.com"))
	if err := f.engine.Devices.DeleteNetwork(t.Context(), f.network, func(*store.Tx) error { return nil }); err != nil {
		t.Fatal(err)
	}
	b.wantCut()
}

// TestBridgeUserEndsWhenTheBridgeIsAnothers has the administrator name another network for the bridge.
func TestBridgeUserEndsWhenTheBridgeIsAnothers(t *testing.T) {
	t.Parallel()
	f, _, restart := newNamedBridgeFixture(t)
	f.enabled()
	b := newFormer(t, f, f.own(f.home, "owner@example.com"))
	next := f.own(f.other, "next@example.com")
	var second motion.NetworkID
	f.update(func(tx *store.Tx) error {
		house, err := tx.Home(f.other)
		second = house.ExternalID
		return err
	})
	restart(second)
	if _, err := f.Create(t.Context(), f.other, next, true, ""); err != nil {
		t.Fatal(err)
	}
	b.wantCut()
	if _, _, err := f.NewBridgeUser(t.Context(), f.other, next, false); err != nil {
		t.Errorf("the next household makes its own: %v", err)
	}
}

func TestAdministratorsBridgeUserStays(t *testing.T) {
	t.Parallel()
	f, connect := newBridgeFixture(t)
	f.enabled()
	b := connect()
	if err := f.Delete(t.Context(), f.home); err != nil {
		t.Fatal(err)
	}
	b.says("bridge/state", `{"state":"online"}`, true) // acknowledged: the session goes on
	connect()
}

// TestBridgeUserIsTheOwnersToMake: who was the owner when the request came may be so no more.
func TestBridgeUserIsTheOwnersToMake(t *testing.T) {
	t.Parallel()
	f, _ := newBridgeFixture(t)
	f.enabled()
	owner := f.own(f.home, "owner@example.com")
	f.update(func(tx *store.Tx) error {
		m, _, err := tx.MembershipOf(f.home, owner)
		m.Role = home.MemberRole
		return errors.Join(err, tx.PutMembership(m))
	})
	for _, by := range []home.UserID{owner, f.own(f.other, "next@example.com")} {
		if _, _, err := f.NewBridgeUser(t.Context(), f.home, by, true); fault.KindOf(err) != fault.Forbidden {
			t.Errorf("by user %d: %v", by, err)
		}
	}
}
