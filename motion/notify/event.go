package notify

import (
	"strconv"
	"strings"

	"sensegate/motion"
	"sensegate/motion/home"
	"sensegate/store"
)

const (
	titleLength = 100 // bytes
	bodyLength  = 300 // bytes
)

// Event queues a push to all members for an event, or a sensor's detection, in the transaction
// that stores it, if its kind has a message. Motion is pushed only while the scene is away; an
// event with armed 0 is not stored and so never pushed (interfaces.md 6 no. 3). The text names
// the home and a place in it, never a person.
func (p *Pusher) Event(tx *store.Tx, e motion.Event) error {
	message := p.config.Messages[e.Event]
	if !p.enabled() || message.Title == "" {
		return nil
	}
	h, ok, err := tx.HomeOfNetwork(e.NetworkID)
	if err != nil || !ok || !h.Claimed() {
		return err
	}
	if e.Category == motion.CategoryMotion && h.Scene != home.Away {
		return nil
	}
	_, err = tx.AddPush(store.Push{NetworkID: e.NetworkID, Payload: p.payload(message, h, e)})
	return err
}

// payload returns a message in the form of universal alerts (payloads.md 4.10): data for the app,
// and a notification that the phone shows.
func (p *Pusher) payload(message Message, h home.Home, e motion.Event) motion.Document {
	name := h.Name
	if name == "" {
		name = "home"
	}
	place := e.LocName
	if place == "" {
		place = name
	}
	words := strings.NewReplacer("{network}", name, "{place}", place)
	title, body := cut(words.Replace(message.Title), titleLength), cut(words.Replace(message.Body), bodyLength)
	network := strconv.FormatUint(uint64(h.ID), 10)
	aps := map[string]any{"alert": map[string]any{"title": title, "body": body}, "category": e.Event}
	data := map[string]any{
		"title": title, "body": body, "click_action": e.Event, "network_id": network, "event_id": e.ID,
		"ts": strconv.FormatFloat(float64(e.TS), 'f', -1, 64),
	}
	if p.config.Sound != "" {
		aps["sound"], data["sound"] = p.config.Sound, p.config.Sound
	}
	subject := e.Event + "." + network // a newer push replaces an older one on the screen
	return motion.Document{
		"data":    data,
		"android": map[string]any{"priority": "high", "collapse_key": subject},
		"apns": map[string]any{
			"headers": map[string]any{"apns-push-type": "alert", "apns-priority": "10", "apns-collapse-id": cut(subject, 64)},
			"payload": map[string]any{"aps": aps},
		},
	}
}
