package browser

import (
	"context"

	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/home"
	"sensegate/motion/household"
	"sensegate/store"
)

type noticeList struct {
	Notices []notice `json:"notices" nullable:"false" doc:"The newest first"`
	Unread  int      `json:"unread" maximum:"100" doc:"In the whole inbox; 100: that many or more" example:"2"`
	More    bool     `json:"more" doc:"There are further ones: ask with before, the ts of the last"`
}

type notice struct {
	ID     string            `json:"id" doc:"Of the event; empty: there is none" example:"01976b3d-1c44-7a0e-9d0b-5f0e8a77c301"`
	TS     motion.Time       `json:"ts" example:"1764000000"`
	Kind   string            `json:"kind" doc:"Kind of event; devices may raise kinds of their own" example:"CustomAlertEvent"`
	Values map[string]string `json:"values" nullable:"false" doc:"What is known of it, by name"`
	Alert  string            `json:"alert" doc:"uuid of the alert that fired; else empty" example:"01976b40-0d4e-7c11-9f02-77aa10c2e0b1"`
	Trial  bool              `json:"trial" doc:"The caller has tried the alert"`
	Own    bool              `json:"own" doc:"The caller has done this"`
	Unread bool              `json:"unread"`
}

// noticeValues are the names of what may be known of an event.
var noticeValues = []string{"place", "device", "deviceId", "replaced", "member", "installer", "title", "reason", "verdict", "restored", "backup", "lost"}

type noticesIn struct {
	HomeQuery
	Before motion.Time `query:"before" minimum:"0" doc:"Only earlier ones; 0 or absent: from the newest on" example:"1764000000"`
	Last   int32       `query:"last" minimum:"1" maximum:"100" default:"50" doc:"At most so many" example:"50"`
}

type noticesOut struct{ Body noticeList }

func (b *Browser) notices(ctx context.Context, who auth.Member, in *noticesIn) (*noticesOut, error) {
	list, more, err := b.Household.Notices(ctx, who.Home, who.ID, in.Before, int(in.Last))
	if err != nil {
		return nil, err
	}
	out := &noticesOut{noticeList{Notices: make([]notice, len(list)), More: more}}
	names, err := b.Engine.Inventory.DeviceNames(who.Network)
	if err != nil {
		return nil, err
	}
	called := map[home.UserID]string{}
	err = b.DB.View(ctx, func(tx *store.Tx) error {
		people, err := recipients(tx, who)
		for _, p := range people {
			called[p.ID] = p.Name
		}
		if err == nil {
			out.Body.Unread, err = household.Unread(tx, who.Home, who.ID)
		}
		return err
	})
	for i, n := range list {
		shown := notice{
			ID: n.ID, TS: n.TS, Kind: n.Event.Event, Values: map[string]string{}, Alert: n.Alert, Trial: n.Trial,
			Own: n.By == who.ID, Unread: n.Unread,
		}
		for _, name := range noticeValues {
			if value := names.Value(n.Event, name); value != "" {
				shown.Values[name] = value
			}
		}
		if by := called[n.By]; by != "" {
			shown.Values["by"] = by
		}
		if more := names.Value(n.Event, "more"); more != "0" {
			shown.Values["more"] = more
		}
		out.Body.Notices[i] = shown
	}
	return out, err
}

type readNoticesIn struct {
	HomeQuery
	Body struct {
		ReadTo motion.Time `json:"read_to" minimum:"0" doc:"Everything up to here is read; an earlier time than before changes nothing" example:"1764000000"`
	}
}

type readNoticesOut struct {
	Body struct {
		Unread int `json:"unread" maximum:"100" doc:"Still unread; 100: that many or more" example:"0"`
	}
}

func (b *Browser) readNotices(ctx context.Context, who auth.Member, in *readNoticesIn) (*readNoticesOut, error) {
	out := &readNoticesOut{}
	var err error
	out.Body.Unread, err = b.Household.ReadNotices(ctx, who.Home, who.ID, in.Body.ReadTo)
	return out, err
}
