package integration

import (
	"strings"
	"sync"
	"testing"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/sensor"
	"sensegate/store"
)

func to[T any](v T) *T { return &v }

func TestInitializingWithoutEnablingMakesNoAccount(t *testing.T) {
	t.Parallel()
	f, played := newCloudFixture(t)
	if _, err := f.Integration(t.Context(), f.home); fault.KindOf(err) != fault.NotFound {
		t.Errorf("before: %v", err)
	}
	blank, err := f.Create(t.Context(), f.home, 9, false, "")
	if err != nil || blank.Enabled || blank.Account.UserThingName != "" || blank.User != 9 || len(played.Accounts()) != 0 {
		t.Errorf("%+v %v", blank, err)
	}
	if err := blank.Working(); fault.KindOf(err) != fault.Conflict {
		t.Errorf("works: %v", err)
	}
	made := f.enabled()
	if !made.Enabled || made.ID != blank.ID || !strings.HasPrefix(made.Account.UserThingName, "USER_") || len(made.Account.UserThingName) != 37 {
		t.Errorf("%+v", made)
	}
	again, err := f.Create(t.Context(), f.home, 10, false, "")
	if err != nil || again.Account != made.Account || !again.Enabled || again.User != 9 {
		t.Errorf("an existing one has changed: %+v %v", again, err)
	}
	if twice := f.enabled(); twice.Account != made.Account || len(played.Accounts()) != 1 {
		t.Errorf("%+v, accounts %v", twice, played.Accounts())
	}
}

// TestManyWhoEnableAtOnceGetOneAccount lets eight callers race: one account is used, and
// the others are deleted again.
func TestManyWhoEnableAtOnceGetOneAccount(t *testing.T) {
	t.Parallel()
	f, played := newCloudFixture(t)
	var callers sync.WaitGroup
	accounts := make([]string, 8)
	for n := range accounts {
		callers.Go(func() {
			i, err := f.Create(t.Context(), f.home, 9, true, "")
			if err != nil {
				t.Error(err)
			}
			accounts[n] = i.Account.UserThingName
		})
	}
	callers.Wait()
	for _, account := range accounts {
		if account != accounts[0] {
			t.Errorf("accounts %v", accounts)
		}
	}
	f.ahead.Add(int64(sensor.Unfinished) + 1)
	if err := f.deleteDueAccounts(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left := played.Accounts(); len(left) != 1 || left[0] != accounts[0] || len(f.pendingDeletions()) != 0 {
		t.Errorf("left %v, of %v, and to be deleted %v", left, accounts, f.pendingDeletions())
	}
}

func TestUnreachableCloudInitializesNothing(t *testing.T) {
	t.Parallel()
	f, played := newCloudFixture(t)
	played.SetDown(true)
	_, err := f.Create(t.Context(), f.home, 9, true, "")
	if fault.KindOf(err) != fault.Unavailable || err.(*fault.Error).RetryAfter == 0 {
		t.Errorf("%v", err)
	}
	if _, err := f.Integration(t.Context(), f.home); fault.KindOf(err) != fault.NotFound {
		t.Errorf("there is one: %v", err)
	}
	if pending := f.pendingDeletions(); len(pending) != 1 || pending[0].Due < f.engine.State.Now().Add(sensor.Unfinished-60) {
		t.Errorf("what may have been made is not noted, or is deleted too early: %+v", pending)
	}
	played.SetDown(false)
	f.enabled()
}

func TestProvidersAreChosenByName(t *testing.T) {
	t.Parallel()
	f, _ := newCloudFixture(t)
	if _, err := f.Create(t.Context(), f.home, 9, true, "zigbee2mqtt"); fault.KindOf(err) != fault.Invalid {
		t.Errorf("one that is not offered: %v", err)
	}
	none := New(f.db, f.engine, Options{})
	if _, err := none.Create(t.Context(), f.home, 9, true, ""); fault.KindOf(err) != fault.Conflict {
		t.Errorf("none is offered: %v", err)
	}
	f.enabled()
	if err := none.Delete(t.Context(), f.home); err != nil {
		t.Errorf("of a provider that is gone: %v", err)
	}
}

func TestIntegrationChangesAsItSays(t *testing.T) {
	t.Parallel()
	f, played := newCloudFixture(t)
	if _, err := f.Change(t.Context(), f.home, sensor.Edit{Enabled: to(true)}); fault.KindOf(err) != fault.NotFound {
		t.Errorf("never initialized: %v", err)
	}
	if _, err := f.Create(t.Context(), f.home, 9, false, ""); err != nil {
		t.Fatal(err)
	}
	i, err := f.Change(t.Context(), f.home, sensor.Edit{Enabled: to(true), OOBPhase: to("started")})
	if err != nil || !i.Enabled || i.OOBPhase != "started" || len(played.Accounts()) != 1 {
		t.Errorf("%+v %v", i, err)
	}
	off, err := f.Change(t.Context(), f.home, sensor.Edit{Enabled: to(false)})
	if err != nil || off.Enabled || off.Account != i.Account || off.OOBPhase != "started" {
		t.Errorf("%+v %v", off, err)
	}
	if _, err := f.Change(t.Context(), f.home, sensor.Edit{}); fault.KindOf(err) != fault.Invalid {
		t.Errorf("nothing: %v", err)
	}
}

// TestDeletedIntegrationIsGoneEvenWhenTheCloudIsAway deletes everything here at once, and
// the account there when it can be reached again.
func TestDeletedIntegrationIsGoneEvenWhenTheCloudIsAway(t *testing.T) {
	t.Parallel()
	f, played := newCloudFixture(t)
	i := f.enabled()
	furnish(played, i.Account.UserThingName)
	f.eventually("the door is known", func() bool { _, ok := f.device(door); return ok })
	f.notify(door)
	played.SetDown(true)
	if err := f.Delete(t.Context(), f.home); err != nil {
		t.Fatal(err)
	}
	if list, err := f.Devices(t.Context(), f.home); err != nil || len(list) != 0 {
		t.Errorf("%+v %v", list, err)
	}
	last := f.events()[len(f.events())-1]
	if last.Event != motion.IntegrationDeletedEvent || last.Category != motion.CategorySystem || last.Detail.Text("userThingName") != i.Account.UserThingName {
		t.Errorf("%+v", last)
	}
	f.eventually("a first try has failed", func() bool { left := f.pendingDeletions(); return len(left) == 1 && left[0].Tries == 1 })
	if len(played.Accounts()) != 1 {
		t.Error("the account is gone already")
	}
	played.SetDown(false)
	f.ahead.Add(31)
	if err := f.deleteDueAccounts(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(played.Accounts()) != 0 || len(f.pendingDeletions()) != 0 {
		t.Errorf("accounts %v, to be deleted %v", played.Accounts(), f.pendingDeletions())
	}
	if err := f.Delete(t.Context(), f.home); fault.KindOf(err) != fault.NotFound {
		t.Errorf("once more: %v", err)
	}
}

func TestAccountOfADisownedNetworkIsDeleted(t *testing.T) {
	t.Parallel()
	f, played := newCloudFixture(t)
	f.enabled()
	f.update(func(tx *store.Tx) error { return tx.DeleteHome(f.home) })
	if err := f.deleteDueAccounts(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(played.Accounts()) != 0 || len(f.pendingDeletions()) != 0 {
		t.Errorf("accounts %v, to be deleted %v", played.Accounts(), f.pendingDeletions())
	}
}
