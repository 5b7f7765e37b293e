package app

import (
	"context"
	"fmt"
	"strings"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/household"
)

// presenceReport is what a phone says of where it is. Its coordinates say that it means
// it; they are neither kept nor logged.
type presenceReport struct {
	NetworkField
	Event     *string               `json:"event,omitempty" enum:"enter,exit,leave" doc:"Of the home's surroundings; this or is_present is required" example:"enter"`
	IsPresent *api.Lenient[bool]    `json:"is_present,omitempty" doc:"The same as a flag; they must not contradict each other"`
	Latitude  *api.Lenient[float64] `json:"latitude,omitempty" doc:"Decimal degrees, −90 to 90; not kept" example:"43.4643"`
	Longitude *api.Lenient[float64] `json:"longitude,omitempty" doc:"Decimal degrees, −180 to 180; not kept" example:"-80.5204"`
	Accuracy  *api.Lenient[float64] `json:"accuracy,omitempty" doc:"Meters, 0 or more; not kept" example:"65"`
	TS        *api.Lenient[float64] `json:"ts,omitempty" doc:"When it was so by the phone's clock, seconds since the epoch; default, and where it is more than a day old or 5 minutes ahead: now" example:"1764000000"`
	DeviceID  *api.Lenient[int64]   `json:"device_id,omitempty" doc:"Mobile device; not used" example:"12"`
}

// presence is what a report came to.
type presence struct {
	Network      home.ID     `json:"network_id" example:"17"`
	User         home.UserID `json:"user_id" example:"9"`
	IsPresent    bool        `json:"is_present" doc:"Whether the user is at home, as far as is known"`
	PresentCount int32       `json:"present_count" minimum:"0" doc:"Members at home" example:"2"`
	Scene        home.Scene  `json:"scene_id" enum:"1,4" doc:"Scene of the home by now" example:"4"`
	SceneChanged bool        `json:"scene_changed" doc:"Whether this call has changed it"`
}

type presenceIn struct {
	NetworkQuery
	Body presenceReport
}

type presenceOut struct {
	Body presence
}

func (a *App) postPresence(ctx context.Context, who auth.Member, in *presenceIn) (*presenceOut, error) {
	var mistakes []fault.Detail
	report := in.Body.read("body", &mistakes)
	if mistakes != nil {
		return nil, fault.Mistakes(mistakes...)
	}
	report.Home = who.Home
	outcome, err := a.Household.ReportPresence(ctx, who.ID, []home.PresenceReport{report})
	return &presenceOut{Body: presenceOf(outcome[who.Home])}, err
}

type bulkPresenceIn struct {
	Body struct {
		Reports []presenceReport `json:"user_presences" nullable:"false" minItems:"1" maxItems:"100" doc:"Of each network the one with the newest ts counts; each has its network_id"`
	}
}

type bulkPresenceOut struct {
	Body struct {
		Replies []presence `json:"user_presences" nullable:"false" doc:"To each report, in order: how its network is by now"`
	}
}

func (a *App) postPresences(ctx context.Context, who auth.User, in *bulkPresenceIn) (*bulkPresenceOut, error) {
	var mistakes []fault.Detail
	reports := make([]home.PresenceReport, len(in.Body.Reports))
	for i, r := range in.Body.Reports {
		at := fmt.Sprintf("body.user_presences[%d]", i)
		reports[i] = r.read(at, &mistakes)
		if reports[i].Home == 0 {
			mistakes = append(mistakes, fault.Detail{Location: at + ".network_id", Message: "is required"})
		}
	}
	if mistakes != nil {
		return nil, fault.Mistakes(mistakes...)
	}
	outcome, err := a.Household.ReportPresence(ctx, who.ID, reports)
	out := &bulkPresenceOut{}
	for _, r := range reports {
		out.Body.Replies = append(out.Body.Replies, presenceOf(outcome[r.Home]))
	}
	return out, err
}

// read returns what a report says, and adds what is wrong with it.
func (r presenceReport) read(at string, mistakes *[]fault.Detail) home.PresenceReport {
	var report home.PresenceReport
	if r.NetworkID != nil {
		report.Home = r.NetworkID.Value
	}
	if r.TS != nil {
		report.TS = motion.Time(r.TS.Value)
	}
	var isPresent *bool
	if r.IsPresent != nil {
		isPresent = &r.IsPresent.Value
	}
	present, err := home.Presence(r.Event, isPresent)
	if err != nil {
		field, message, named := strings.Cut(err.Error(), ": ")
		if !named {
			field, message = "event", err.Error()
		}
		*mistakes = append(*mistakes, fault.Detail{Location: at + "." + field, Message: message})
	}
	for _, limit := range []struct {
		name      string
		value     *api.Lenient[float64]
		low, high float64
	}{{"latitude", r.Latitude, -90, 90}, {"longitude", r.Longitude, -180, 180}, {"accuracy", r.Accuracy, 0, 1e9}, {"ts", r.TS, 0, 1e15}} {
		if v := limit.value; v != nil && !(v.Value >= limit.low && v.Value <= limit.high) {
			*mistakes = append(*mistakes, fault.Detail{Location: at + "." + limit.name, Message: fmt.Sprintf("want %g to %g", limit.low, limit.high)})
		}
	}
	report.Present = present
	return report
}

// presenceOf describes an outcome.
func presenceOf(p household.Presence) presence {
	return presence{
		Network: p.Home, User: p.User, IsPresent: p.Present,
		PresentCount: int32(p.PresentCount), Scene: p.Scene, SceneChanged: p.SceneChanged,
	}
}
