package notify

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sensegate/motion"
	"sensegate/motion/home"
	"sensegate/store"
)

// detected is a detection of motion in the kitchen.
func (b *box) detected() motion.Event {
	return motion.Event{
		ID: "01976b40-0d4e-7c11-9f02-77aa10c2e0b1", NetworkID: b.network, Category: motion.CategoryMotion,
		Event: motion.MotionDetectedEvent, TS: 1764000000.5, LocName: "Kitchen",
	}
}

// pushed returns what an event queues.
func (b *box) pushed(p *Pusher, e motion.Event) (list []store.Push) {
	b.Helper()
	b.update(func(tx *store.Tx) error {
		if err := p.Event(tx, e); err != nil {
			return err
		}
		all, err := tx.Pushes(e.NetworkID)
		for _, push := range all {
			if err := tx.DeletePush(push); err != nil {
				return err
			}
		}
		list = all
		return err
	})
	return list
}

// setScene changes the scene, and whether the home has an owner.
func (b *box) setScene(scene home.Scene, claimed motion.Time) {
	b.Helper()
	b.update(func(tx *store.Tx) error {
		h, err := tx.Home(b.home)
		if err != nil {
			return err
		}
		h.Scene, h.ClaimedAt = scene, claimed
		return tx.PutHome(h)
	})
}

func TestMotionIsPushedInTheWordsOfTheConfiguration(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	p := b.notifier(serveWebhook(t).config).Pusher
	list := b.pushed(p, b.detected())
	if len(list) != 1 || len(list[0].UserIDs) != 0 {
		t.Fatalf("%+v", list)
	}
	const title, body = "Motion in Lakeside", "Motion was detected while nobody is home: Kitchen."
	want := motion.Document{
		"data": map[string]any{
			"title": title, "body": body, "click_action": "MotionDetectedEvent", "sound": "default", "network_id": "1",
			"event_id": "01976b40-0d4e-7c11-9f02-77aa10c2e0b1", "ts": "1764000000.5",
		},
		"android": map[string]any{"priority": "high", "collapse_key": "MotionDetectedEvent.1"},
		"apns": map[string]any{
			"headers": map[string]any{"apns-push-type": "alert", "apns-priority": "10", "apns-collapse-id": "MotionDetectedEvent.1"},
			"payload": map[string]any{"aps": map[string]any{
				"alert": map[string]any{"title": title, "body": body}, "sound": "default", "category": "MotionDetectedEvent",
			}},
		},
	}
	if diff := cmp.Diff(want, list[0].Payload); diff != "" {
		t.Error(diff)
	}
}

func TestOnlyWhatSomebodyWantsToKnowIsPushed(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	p := b.notifier(serveWebhook(t).config).Pusher
	system := func(kind string) motion.Event {
		return motion.Event{NetworkID: b.network, Category: motion.CategorySystem, Event: kind, TS: 1764000000}
	}
	stopped := b.detected()
	stopped.Event = motion.MotionStoppedEvent
	for name, c := range map[string]struct {
		event motion.Event
		scene home.Scene
		want  int
	}{
		"motion while away":       {b.detected(), home.Away, 1},
		"motion at home":          {b.detected(), home.AtHome, 0},
		"motion stopped":          {stopped, home.Away, 0},
		"the scene is away":       {system(motion.SceneChangedToAwayEvent), home.Away, 1},
		"the scene is home":       {system(motion.SceneChangedToHomeEvent), home.AtHome, 1},
		"motion when watched":     {system(motion.GuardianMotionEvent), home.AtHome, 1},
		"a new member":            {system(motion.MemberJoinedEvent), home.AtHome, 1},
		"somebody came":           {system(motion.MemberArrivedEvent), home.AtHome, 0},
		"an alert's event":        {system(motion.CustomAlertEvent), home.AtHome, 0},
		"of a kind nobody knows":  {system("OtherEvent"), home.AtHome, 0},
		"a link that disappeared": {system(motion.LinkDisconnectedEvent), home.AtHome, 0},
	} {
		b.setScene(c.scene, 1764000000)
		if got := b.pushed(p, c.event); len(got) != c.want {
			t.Errorf("%s: %+v, want %d", name, got, c.want)
		}
	}
	b.setScene(home.Away, 0)
	if got := b.pushed(p, b.detected()); len(got) != 0 {
		t.Errorf("without an owner: %+v", got)
	}
	b.setScene(home.Away, 1764000000)
	nothing := b.notifier().Pusher
	if got := b.pushed(nothing, b.detected()); len(got) != 0 {
		t.Errorf("without a gateway: %+v", got)
	}
	b.update(func(tx *store.Tx) error {
		if err := p.Event(tx, motion.Event{NetworkID: 99, Event: motion.MotionDetectedEvent}); err != nil {
			t.Errorf("without a home: %v", err)
		}
		return nil
	})
}

func TestLongNamesAreCutAndMissingOnesReplaced(t *testing.T) {
	t.Parallel()
	b := newBox(t)
	p := b.notifier(serveWebhook(t).config, func(o *Options) { o.Push.Sound = "" }).Pusher
	b.update(func(tx *store.Tx) error {
		h, err := tx.Home(b.home)
		if err != nil {
			return err
		}
		h.Name = strings.Repeat("ж", 200)
		return tx.PutHome(h)
	})
	data := b.pushed(p, b.detected())[0].Payload["data"].(map[string]any)
	title := data["title"].(string)
	if len(title) > titleLength || !strings.HasPrefix(title, "Motion in жж") || strings.ContainsRune(title, '�') || data["sound"] != nil {
		t.Errorf("%d bytes: %v", len(title), data)
	}
	b.update(func(tx *store.Tx) error {
		h, err := tx.Home(b.home)
		if err != nil {
			return err
		}
		h.Name = ""
		return tx.PutHome(h)
	})
	e := b.detected()
	e.LocName = ""
	data = b.pushed(p, e)[0].Payload["data"].(map[string]any)
	if data["title"] != "Motion in home" || data["body"] != "Motion was detected while nobody is home: home." {
		t.Errorf("%v", data)
	}
}
