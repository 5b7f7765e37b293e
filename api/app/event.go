package app

import (
	"context"
	"strings"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/engine/inventory"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

// eventRecord is an event as the household's apps get it (payloads.md 5.4).
type eventRecord struct {
	ID            string          `json:"id" format:"uuid" doc:"For event_tag" example:"01976b3d-1c44-7a0e-9d0b-5f0e8a77c301"`
	GuardianID    string          `json:"guardian_id" example:"a41f00c2d97b4e5580136c2e"`
	NetworkID     home.ID         `json:"network_id" doc:"App Cloud network id" example:"17"`
	Timestamp     motion.Time     `json:"timestamp" doc:"Seconds since the epoch" example:"1764000000.5"`
	EventType     string          `json:"event_type" doc:"Event kind" example:"MotionDetectedEvent"`
	EventCategory motion.Category `json:"event_category" enum:"Link,Network,Motion,System"`
	LinkID        string          `json:"link_id" doc:"dst_name.src_name; empty: of no link" example:"GWA1000133.02bb00000031"`
	IconURL       string          `json:"icon_url" doc:"Always empty: icons are the app's"`
	Text          string          `json:"text" doc:"What happened, in English" example:"Motion in Kitchen"`
	Tag           string          `json:"tag" doc:"Human, Pet, False or nothing, padded with spaces to 10" example:"Human     "`
	Data          motion.Document `json:"data" doc:"What else is known, by the kind of event; of motion loc_name"`
}

// recordOf returns an event as the apps get it; names are of the devices at the ends
// of links.
func recordOf(e motion.Event, id home.ID, names inventory.DeviceNames) eventRecord {
	data := motion.Document{}
	for _, more := range []motion.Document{e.Detail, e.Data} {
		for key, value := range more {
			data[key] = value
		}
	}
	if e.Category == motion.CategoryMotion {
		data["loc_name"] = e.LocName
	}
	if e.DetectedTS != 0 {
		data["evt_detected_ts"] = e.DetectedTS
	}
	return eventRecord{
		ID: e.ID, GuardianID: e.GuardianID, NetworkID: id, Timestamp: e.TS, EventType: e.Event, EventCategory: e.Category,
		LinkID: e.LinkID, Text: sentence(names, e), Tag: e.Tag, Data: data,
	}
}

type eventsIn struct {
	NetworkQuery
	api.Page
	Last   int32  `query:"last" minimum:"0" maximum:"400" default:"10" doc:"At most so many; 0: as many as 400" example:"10"`
	Filter string `query:"filter" doc:"Categories, comma-separated: Link, Network, Motion, System; default: all" example:"Motion,System"`
}

type eventsOut struct {
	api.Paged
	Body []eventRecord `nullable:"false"`
}

// events returns events of the time since the home was claimed, the newest first.
func (a *App) events(ctx context.Context, who auth.Member, in *eventsIn) (*eventsOut, error) {
	if err := in.Check(); err != nil {
		return nil, err
	}
	query := store.EventQuery{Network: who.Network, NotBefore: who.Since, After: in.After, Last: int(in.Last)}
	if query.Last == 0 {
		query.Last = maxLast
	}
	if in.From.Set {
		query.From = new(motion.Time(in.From.Value))
	}
	if in.To.Set {
		query.To = new(motion.Time(in.To.Value))
	}
	var err error
	if query.Categories, err = categories(in.Filter); err != nil {
		return nil, err
	}
	var list []motion.Event
	full := false
	err = a.DB.View(ctx, func(tx *store.Tx) (err error) {
		list, full, err = tx.EventPage(query)
		return err
	})
	if err != nil {
		return nil, err
	}
	names, err := a.Engine.Inventory.DeviceNames(who.Network)
	out := &eventsOut{Body: make([]eventRecord, len(list))}
	if full {
		out.Paged = in.Next(ctx, false, list[0].ID, list[len(list)-1].ID)
	}
	for i, e := range list {
		out.Body[i] = recordOf(e, who.Home, names)
	}
	return out, err
}

// maxLast is the largest last (payloads.md 5.4).
const maxLast = 400

// categories returns the categories of a comma-separated list, none for all.
func categories(filter string) (list []motion.Category, err error) {
	for name := range strings.SplitSeq(filter, ",") {
		switch c := motion.Category(strings.TrimSpace(name)); c {
		case "":
		case motion.CategoryLink, motion.CategoryNetwork, motion.CategoryMotion, motion.CategorySystem:
			list = append(list, c)
		default:
			return nil, fault.At("query.filter", name, "no category of events: want Link, Network, Motion or System, comma-separated")
		}
	}
	return list, nil
}

type tagIn struct {
	NetworkQuery
	Body struct {
		BodyNetwork
		EventID string `json:"eventid" maxLength:"64" doc:"id of a MotionDetectedEvent" example:"01976b3d-1c44-7a0e-9d0b-5f0e8a77c301"`
		Tag     string `json:"tag" enum:"Human,Pet,False" doc:"What moved; False: nothing did"`
	}
}

// tagEvent tags a detection. One of before the home was claimed is not there.
func (a *App) tagEvent(ctx context.Context, who auth.Member, in *tagIn) (*api.Answer[eventRecord], error) {
	var tagged motion.Event
	err := a.DB.Update(ctx, func(tx *store.Tx) error {
		e, err := tx.Event(who.Network, in.Body.EventID)
		switch {
		case err != nil:
			return err
		case e.TS < who.Since:
			return fault.New(fault.NotFound, "event %.40q: not found", in.Body.EventID)
		case e.Event != motion.MotionDetectedEvent:
			return fault.At("body.eventid", in.Body.EventID, "must be that of a MotionDetectedEvent")
		}
		tagged, err = tx.TagEvent(who.Network, in.Body.EventID, in.Body.Tag)
		return err
	})
	if err != nil {
		return nil, err
	}
	names, err := a.Engine.Inventory.DeviceNames(who.Network)
	return api.Answered(recordOf(tagged, who.Home, names), err)
}
