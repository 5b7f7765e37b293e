package browser

import (
	"context"
	"time"

	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/store"
)

// dayBegins is the hour from which motion is of the day and not of the night before.
const dayBegins = 4

// firstMotion is when and where somebody was first noticed on a day.
type firstMotion struct {
	At   motion.Time `json:"at" example:"1763984520"`
	Room string      `json:"room" doc:"Where it likely was. Empty: not known" example:"Bathroom"`
}

// first fills in the first motion of the day.
func (b *Browser) first(ctx context.Context, o *Overview, who auth.Member) error {
	now := o.TS.Std().In(zoneOf(o.Home.Timezone))
	morning := motion.TimeOf(time.Date(now.Year(), now.Month(), now.Day(), dayBegins, 0, 0, 0, now.Location()))
	before := motion.FromMicros(morning.Micros() - 1)
	know, err := b.knowledge(who)
	if err != nil {
		return err
	}
	return b.DB.View(ctx, func(tx *store.Tx) error {
		list, err := tx.Events(store.EventQuery{
			Network: who.Network, NotBefore: who.Since, From: &before, Kinds: []string{motion.MotionDetectedEvent}, Ascending: true, Last: 1,
		})
		if len(list) > 0 {
			o.First = &firstMotion{At: list[0].TS, Room: know.room(list[0])}
		}
		return err
	})
}
