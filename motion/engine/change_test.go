package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/setting"
	"sensegate/store"
)

// scene is an event of the kinds that people's changes raise.
func scene(tx *store.Tx, detail any) []motion.Event {
	return []motion.Event{{
		Category: motion.CategorySystem, Event: motion.SceneChangedToHomeEvent, NetworkID: 1, TS: tx.Now(),
		Detail: motion.Document{"value": detail},
	}}
}

func TestChangeAndItsEventAreOne(t *testing.T) {
	t.Parallel()
	s := newStreet(t)
	live, err := s.Sensing.LiveEvents(1)
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	settings := motion.ApplicationSettings{NetworkID: 1, SleepHour: 22}
	refused := fault.New(fault.Conflict, "not now")
	err = s.Events.RecordChange(t.Context(), func(tx *store.Tx) ([]motion.Event, error) {
		return scene(tx, 1.0), errors.Join(tx.PutApplicationSettings(settings), refused)
	})
	if !errors.Is(err, refused) {
		t.Errorf("error %v, want %v", err, refused)
	}
	err = s.Events.RecordChange(t.Context(), func(tx *store.Tx) ([]motion.Event, error) {
		if _, err := tx.ApplicationSettings(1); fault.KindOf(err) != fault.NotFound {
			t.Errorf("a refused change has written: %v", err)
		}
		return scene(tx, 2.0), tx.PutApplicationSettings(settings)
	})
	if err != nil {
		t.Fatal(err)
	}
	message, _ := live.Wait()
	stored := s.stored(t)
	if len(stored) != 1 || stored[0].Detail["value"] != 2.0 || message.Event.ID != stored[0].ID {
		t.Errorf("stored %+v, pushed %+v", stored, message.Event)
	}
}

func TestEventsOfChangesComeInTheOrderOfTheChanges(t *testing.T) {
	t.Parallel()
	s := newStreet(t)
	var changes sync.WaitGroup
	for range 20 {
		changes.Go(func() {
			err := s.Events.RecordChange(t.Context(), func(tx *store.Tx) ([]motion.Event, error) {
				settings, err := tx.ApplicationSettings(1)
				if err != nil && fault.KindOf(err) != fault.NotFound {
					return nil, err
				}
				settings.NetworkID, settings.SleepMinute = 1, settings.SleepMinute+1
				return scene(tx, float64(settings.SleepMinute)), tx.PutApplicationSettings(settings)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	changes.Wait()
	err := s.db.View(t.Context(), func(tx *store.Tx) error {
		list, err := tx.Events(store.EventQuery{Network: 1, Last: 100, Ascending: true, Kinds: []string{motion.SceneChangedToHomeEvent}})
		for i, event := range list {
			if got := fmt.Sprint(event.Detail["value"]); got != fmt.Sprint(i+1) {
				t.Errorf("event %d is of change %s", i+1, got)
			}
		}
		if len(list) != 20 {
			t.Errorf("%d events", len(list))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestVacatedNetworkTellsItsDevices(t *testing.T) {
	run(t, func(t *testing.T, b *box) {
		id := b.home()
		var house home.Home
		err := b.db.Update(t.Context(), func(tx *store.Tx) (err error) {
			house, err = tx.CreateHome(home.New(id))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Inventory.EditSounding(t.Context(), id, true, setting.SoundingChange{ZonePriorityList: &[]string{"Nursery"}}, nil); err != nil {
			t.Fatal(err)
		}
		before := b.devices.commands(guardianKey, "config")
		if len(before) == 0 || !strings.Contains(before[len(before)-1], "Nursery") {
			t.Fatalf("the guardian was sent %q", before)
		}
		err = b.db.Update(t.Context(), func(tx *store.Tx) error {
			_, err := tx.VacateHome(house.ID)
			return err
		})
		if err := errors.Join(err, b.Inventory.Vacated(t.Context(), id)); err != nil {
			t.Fatal(err)
		}
		sent := b.devices.commands(guardianKey, "config")
		if len(sent) != 1 || strings.Contains(sent[0], "Nursery") || sent[0] == before[len(before)-1] {
			t.Errorf("the guardian was sent %q", sent)
		}
	})
}
