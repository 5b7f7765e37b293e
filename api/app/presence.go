package app

import (
	"context"
	"fmt"
	"net/http"
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
	DeviceID  *api.Lenient[int64]   `json:"device_id,omitempty" doc:"The caller's mobile device that says so; default: it is said for all of them" example:"12"`
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

func (a *App) postPresence(ctx context.Context, who auth.Member, in *presenceIn) (*api.Answer[presence], error) {
	var mistakes fault.Details
	report := in.Body.read("body", &mistakes)
	if err := mistakes.Err(); err != nil {
		return nil, err
	}
	report.Home = who.Home
	replies, err := a.Household.ReportPresence(ctx, who.ID, []home.PresenceReport{report})
	if err != nil {
		return nil, err
	}
	return api.Answered(presenceOf(replies[0].Presence), replies[0].Refused)
}

type bulkPresenceIn struct {
	Body struct {
		Reports []presenceReport `json:"user_presences" nullable:"false" minItems:"1" maxItems:"100" doc:"Of each device and network the one with the newest ts counts; each has its network_id"`
	}
}

// presenceReply is what a report of several came to, or why it is refused.
type presenceReply struct {
	Network      home.ID       `json:"network_id" doc:"0: the report named none" example:"17"`
	User         home.UserID   `json:"user_id" example:"9"`
	IsPresent    *bool         `json:"is_present,omitempty" doc:"Whether the user is at home, as far as is known; absent with error"`
	PresentCount *int32        `json:"present_count,omitempty" minimum:"0" doc:"Members at home; absent with error" example:"2"`
	Scene        *home.Scene   `json:"scene_id,omitempty" enum:"1,4" doc:"Scene of the home by now; absent with error" example:"4"`
	SceneChanged *bool         `json:"scene_changed,omitempty" doc:"Whether this call has changed it; absent with error"`
	Error        *replyProblem `json:"error,omitempty" doc:"Why the report is refused; absent when it is not"`
}

// replyProblem is a problem of one item of a list.
type replyProblem struct {
	Status int    `json:"status" doc:"As the report by itself would have been answered" example:"404"`
	Detail string `json:"detail" example:"network 18 is not known"`
}

type bulkPresenceOut struct {
	Body struct {
		Replies []presenceReply `json:"user_presences" nullable:"false" doc:"To each report, in order: how its network is by now, or why it is refused"`
	}
}

func (a *App) postPresences(ctx context.Context, who auth.User, in *bulkPresenceIn) (*bulkPresenceOut, error) {
	out := &bulkPresenceOut{}
	out.Body.Replies = make([]presenceReply, len(in.Body.Reports))
	var reports []home.PresenceReport
	var of []int // the place of each in the list
	for i, item := range in.Body.Reports {
		var mistakes fault.Details
		report := item.read(fmt.Sprintf("body.user_presences[%d]", i), &mistakes)
		if report.Home == 0 {
			mistakes.Add(fmt.Sprintf("body.user_presences[%d].network_id", i), nil, "is required")
		}
		report.Named = true
		out.Body.Replies[i] = presenceReply{Network: report.Home, User: who.ID}
		if mistakes != nil {
			out.Body.Replies[i].Error = &replyProblem{http.StatusUnprocessableEntity, mistakes[0].Location + ": " + mistakes[0].Message}
			continue
		}
		reports, of = append(reports, report), append(of, i)
	}
	replies, err := a.Household.ReportPresence(ctx, who.ID, reports)
	for i, r := range replies {
		out.Body.Replies[of[i]] = replyOf(r, who.ID)
	}
	return out, err
}

// replyOf describes an outcome of one report of several.
func replyOf(r household.PresenceReply, user home.UserID) presenceReply {
	reply := presenceReply{Network: r.Home, User: user}
	if r.Refused != nil {
		reply.Error = &replyProblem{http.StatusUnprocessableEntity, r.Refused.Error()}
		if fault.KindOf(r.Refused) == fault.NotFound {
			reply.Error.Status = http.StatusNotFound
		}
		return reply
	}
	p := presenceOf(r.Presence)
	reply.IsPresent, reply.PresentCount, reply.Scene, reply.SceneChanged = &p.IsPresent, &p.PresentCount, &p.Scene, &p.SceneChanged
	return reply
}

// read returns what a report says, and adds what is wrong with it.
func (r presenceReport) read(at string, mistakes *fault.Details) home.PresenceReport {
	var report home.PresenceReport
	if r.NetworkID != nil {
		report.Home = r.NetworkID.Value
	}
	if r.TS != nil {
		report.TS = motion.Time(r.TS.Value)
	}
	if d := r.DeviceID; d != nil {
		if report.Device = home.MobileID(d.Value); int64(report.Device) != d.Value || d.Value == 0 {
			mistakes.Add(at+".device_id", nil, "is none of your mobile devices")
		}
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
		mistakes.Add(at+"."+field, nil, "%s", message)
	}
	for _, limit := range []struct {
		name      string
		value     *api.Lenient[float64]
		low, high float64
	}{{"latitude", r.Latitude, -90, 90}, {"longitude", r.Longitude, -180, 180}, {"accuracy", r.Accuracy, 0, 1e9}, {"ts", r.TS, 0, 1e15}} {
		if v := limit.value; v != nil && !(v.Value >= limit.low && v.Value <= limit.high) {
			mistakes.Add(at+"."+limit.name, nil, "want %g to %g", limit.low, limit.high)
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
