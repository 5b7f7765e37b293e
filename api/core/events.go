package core

import (
	"context"
	"slices"
	"strings"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/store"
)

// Selection says which events are wanted.
type Selection struct {
	Filter     string `query:"filter" doc:"Categories, comma-separated: Link, Network, Motion, System; default: all" example:"Motion,Link"`
	EventTypes string `query:"event_types" doc:"Event kinds, comma-separated; default: all" example:"MotionDetectedEvent,MotionStoppedEvent"`
}

// eventCategories are the categories that stored events have
// (interfaces.md 2.2).
func eventCategories() []motion.Category {
	return []motion.Category{motion.CategoryLink, motion.CategoryNetwork, motion.CategoryMotion, motion.CategorySystem}
}

// lists returns the categories and kinds wanted; nil is all. A kind need not be a known
// one: devices raise kinds of their own.
func (s Selection) lists() (categories []motion.Category, kinds []string, err error) {
	for _, name := range commaList(s.Filter) {
		if !slices.Contains(eventCategories(), motion.Category(name)) {
			return nil, nil, fault.At("query.filter", name, "no category of events: want Link, Network, Motion or System, comma-separated")
		}
		categories = append(categories, motion.Category(name))
	}
	kinds = commaList(s.EventTypes)
	for _, name := range kinds {
		if !motion.IsEventKind(name) {
			return nil, nil, fault.At("query.event_types", name, "no kind of events: want 1 to 64 letters, digits and _ each, comma-separated")
		}
	}
	return categories, kinds, nil
}

// commaList returns the words of a comma-separated list, nil when it has none.
func commaList(text string) []string {
	var words []string
	for word := range strings.SplitSeq(text, ",") {
		if word = strings.TrimSpace(word); word != "" {
			words = append(words, word)
		}
	}
	return words
}

// Page says which of the stored events are wanted, and how many.
type Page struct {
	api.Page
	Last int32 `query:"last" minimum:"1" maximum:"1000" default:"10" doc:"At most so many" example:"10"`
	Sort bool  `query:"sort" default:"false" doc:"Oldest first instead of newest first"`
}

// query returns the query of a page of a network's events.
func (p Page) query(id motion.NetworkID) (store.EventQuery, error) {
	q := store.EventQuery{Network: id, After: p.After, Last: int(p.Last), Ascending: p.Sort}
	if p.From.Set {
		q.From = new(motion.Time(p.From.Value))
	}
	if p.To.Set {
		q.To = new(motion.Time(p.To.Value))
	}
	return q, p.Check()
}

type eventHistoryIn struct {
	Network motion.NetworkID `path:"network_id" doc:"Core network id" example:"1042"`
	Page
	Selection
}

type eventHistoryOut struct {
	api.Paged
	Body []motion.Event `nullable:"false"`
}

func (c *Core) eventHistory(ctx context.Context, _ auth.Key, in *eventHistoryIn) (*eventHistoryOut, error) {
	query, err := in.query(in.Network)
	if err != nil {
		return nil, err
	}
	if query.Categories, query.Kinds, err = in.lists(); err != nil {
		return nil, err
	}
	if err := c.engine.State.Known(in.Network); err != nil {
		return nil, err
	}
	out := &eventHistoryOut{}
	full := false
	err = c.db.View(ctx, func(tx *store.Tx) (err error) {
		out.Body, full, err = tx.EventPage(query)
		return err
	})
	if full {
		out.Paged = in.Next(ctx, in.Sort, out.Body[0].ID, out.Body[len(out.Body)-1].ID)
	}
	return out, err
}

type eventPairsIn struct {
	Network motion.NetworkID `path:"network_id" doc:"Core network id" example:"1042"`
	Page
}

type eventPairsOut struct {
	api.Paged
	Body []motion.EventPair `nullable:"false"`
}

// eventPairs returns pairs by the time of their stopped event.
func (c *Core) eventPairs(ctx context.Context, _ auth.Key, in *eventPairsIn) (*eventPairsOut, error) {
	query, err := in.query(in.Network)
	if err != nil {
		return nil, err
	}
	if err := c.engine.State.Known(in.Network); err != nil {
		return nil, err
	}
	out := &eventPairsOut{}
	full := false
	err = c.db.View(ctx, func(tx *store.Tx) (err error) {
		out.Body, full, err = tx.PairPage(query)
		return err
	})
	if full {
		out.Paged = in.Next(ctx, in.Sort, out.Body[0].ID, out.Body[len(out.Body)-1].ID)
	}
	for i := range out.Body {
		if out.Body[i].IntensityWindow == nil {
			out.Body[i].IntensityWindow = []float64{}
		}
	}
	return out, err
}

type tagIn struct {
	Network motion.NetworkID `path:"network_id" doc:"Core network id" example:"1042"`
	EventID string           `query:"eventid" required:"true" doc:"_id of the event" example:"01976b3e-9a3c-7b61-8a52-3b1f0c6d2e11"`
	Tag     string           `query:"tag" required:"true" doc:"Cut to 10 characters, then padded with spaces to 10" example:"Human"`
}

func (c *Core) tagEvent(ctx context.Context, _ auth.Key, in *tagIn) (*api.Answer[motion.Event], error) {
	if err := c.engine.State.Known(in.Network); err != nil {
		return nil, err
	}
	out := &api.Answer[motion.Event]{}
	err := c.db.Update(ctx, func(tx *store.Tx) (err error) {
		out.Body, err = tx.TagEvent(in.Network, in.EventID, in.Tag)
		return err
	})
	return out, err
}
