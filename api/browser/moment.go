package browser

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"
	"strings"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/series"
	"sensegate/store"
)

// Moment is motion from when it was noticed until it was over.
type Moment struct {
	ID    string       `json:"id" doc:"Of its MotionDetectedEvent, for POST /event_tag of App Cloud" example:"01976b3d-1c44-7a0e-9d0b-5f0e8a77c301"`
	Start motion.Time  `json:"start" example:"1764000000.5"`
	End   *motion.Time `json:"end" nullable:"true" doc:"null: it goes on, or its end is not known" example:"1764000121"`
	Ended string       `json:"ended" enum:"open,quiet,no_data,paused,disabled,armed,unknown" doc:"What ended it; open: it goes on; no_data: nothing was heard for ten minutes; armed: the home was armed, and what went on is a moment of its own; unknown: its end is not kept"`
	Room  string       `json:"room" doc:"Where it likely was. Empty: not known" example:"Kitchen"`
	Tag   string       `json:"tag" doc:"Human, Pet, False or nothing; tools may have set others" example:"Human"`
}

type momentsIn struct {
	HomeQuery
	From  float64          `query:"from" required:"true" doc:"Start of the window, seconds" example:"1763960400"`
	To    api.Opt[float64] `query:"to" doc:"End of the window, at most 32 days after from; default: that" example:"1764046800"`
	Room  string           `query:"room" maxLength:"256" doc:"Only of this room" example:"Kitchen"`
	After string           `query:"after" maxLength:"64" doc:"Goes on after this moment, next of the page before" example:"01976b3d-1c44-7a0e-9d0b-5f0e8a77c301"`
	Last  int32            `query:"last" minimum:"1" maximum:"200" default:"50" doc:"At most so many" example:"50"`
}

type momentsOut struct {
	Body struct {
		Moments []Moment `json:"moments" nullable:"false" doc:"The newest first"`
		Next    string   `json:"next" doc:"For after; empty: these are all" example:""`
	}
}

const longestWindow = 32 * lookBack // s

// moments returns the moments that lie in a window or reach into it, of the time since the home
// was claimed.
func (b *Browser) moments(ctx context.Context, who auth.Member, in *momentsIn) (*momentsOut, error) {
	to := in.To.Or(in.From + longestWindow)
	if !(in.From >= 0 && in.From <= to && to-in.From <= longestWindow) {
		return nil, fault.At("query.to", to, "must not be before from, which is not negative, nor more than 32 days after it")
	}
	know, err := b.knowledge(who)
	if err != nil {
		return nil, err
	}
	from, end := motion.FromMicros(motion.Time(in.From).Micros()-1), motion.Time(to) // both exclusive
	query := store.EventQuery{Network: who.Network, NotBefore: who.Since, From: &from, To: &end, After: in.After, Last: int(in.Last)}
	want := func(e motion.Event) bool { return in.Room == "" || know.room(e) == in.Room }
	out := &momentsOut{}
	out.Body.Moments = []Moment{}
	err = b.DB.View(ctx, func(tx *store.Tx) error {
		page, full, err := tx.MomentPage(query, want)
		if err != nil {
			return err
		}
		if !full {
			before, err := newest(tx, who, query.From)
			if err != nil {
				return err
			}
			if before != nil && want(before.Detected) && (before.Stopped == nil || before.Stopped.TS > *query.From) {
				page = append(page, *before)
			}
		}
		latest, err := newest(tx, who, nil)
		for _, m := range page {
			moment := know.moment(m, latest)
			if moment.Start < motion.Time(in.From) && moment.End == nil && moment.Ended != "open" {
				continue // nobody knows how far it reached
			}
			out.Body.Moments = append(out.Body.Moments, moment)
		}
		if full {
			out.Body.Next = page[len(page)-1].Detected.ID
		}
		return err
	})
	return out, err
}

// newest returns the newest moment that began before a time, nil for any, since the home was claimed;
// nil where there is none.
func newest(tx *store.Tx, who auth.Member, before *motion.Time) (*store.Moment, error) {
	list, _, err := tx.MomentPage(store.EventQuery{Network: who.Network, NotBefore: who.Since, To: before, Last: 1}, nil)
	if len(list) == 0 {
		return nil, err
	}
	return &list[0], err
}

// knowledge is what of a home tells where a moment was, and whether it goes on.
type knowledge struct {
	devices
	rooms []string
	open  bool // motion is detected now
}

func (b *Browser) knowledge(who auth.Member) (k knowledge, err error) {
	if k.devices, err = b.devices(who.Network); err != nil {
		return k, err
	}
	k.rooms = k.devices.rooms()
	now, err := b.Engine.Inventory.NetworkState(who.Network)
	k.open = now.MotionTripped != nil && *now.MotionTripped == 1
	return k, err
}

func (k knowledge) room(e motion.Event) string { return k.devices.room(e, k.rooms) }

// moment returns a stored moment as the page shows it; latest is the newest one of the home.
func (k knowledge) moment(m store.Moment, latest *store.Moment) Moment {
	out := Moment{ID: m.Detected.ID, Start: m.Detected.TS, Room: k.room(m.Detected), Tag: strings.TrimSpace(m.Detected.Tag)}
	switch {
	case m.Stopped != nil:
		out.End, out.Ended = &m.Stopped.TS, cmp.Or(m.Stopped.Detail.Text("reason"), "quiet")
		if !slices.Contains([]string{"quiet", "no_data", "paused", "disabled", "armed"}, out.Ended) {
			out.Ended = "unknown" // a device's own word
		}
	case k.open && latest != nil && latest.Detected.ID == m.Detected.ID:
		out.Ended = "open"
	default:
		out.Ended = "unknown"
	}
	return out
}

// Why is a moment with what it was noticed by.
type Why struct {
	TS        motion.Time   `json:"ts" doc:"Of this answer" example:"1764000130"`
	Moment    Moment        `json:"moment"`
	Places    []momentPlace `json:"places" nullable:"false" doc:"Where it was when it was noticed, the likeliest first"`
	Intensity Strip         `json:"intensity" doc:"Strength of the motion from a minute before to a minute after, 0 to 1; null: no data. What stays below the threshold of every link counts as 0"`
	Before    []float64     `json:"before" nullable:"false" doc:"Intensities of the samples before it was noticed, oldest first"`
	Links     []momentLink  `json:"links" nullable:"false" doc:"What saw it, the strongest first"`
}

type momentPlace struct {
	Room       string  `json:"room" example:"Kitchen"`
	Device     string  `json:"device" doc:"The nearest device" example:"Kitchen speaker"`
	Confidence float64 `json:"confidence" minimum:"0" maximum:"1" example:"0.82"`
}

// momentLink is a link that saw a moment.
type momentLink struct {
	ID        string   `json:"id" doc:"dst_name.src_name" example:"GWA1000133.02bb00000031"`
	From      linkEnd  `json:"from" doc:"Its sender; motion was near it"`
	To        linkEnd  `json:"to" doc:"Its receiver"`
	Score     *float64 `json:"score" nullable:"true" doc:"msad when it was noticed; null: not told" example:"187.22"`
	Threshold *float64 `json:"threshold" nullable:"true" doc:"mconf: what score has to exceed; null: not told" example:"80"`
	Peak      *float64 `json:"peak" nullable:"true" doc:"Greatest intensity on this link during the moment, 0 to 1; null: not kept that long" example:"0.64"`
}

type linkEnd struct {
	Name string `json:"name" doc:"What people call the device, else its own name" example:"Kitchen speaker"`
	Room string `json:"room" doc:"Empty: none" example:"Kitchen"`
}

type whyIn struct {
	HomeQuery
	ID string `path:"id" maxLength:"64" doc:"id of a moment" example:"01976b3d-1c44-7a0e-9d0b-5f0e8a77c301"`
}

type whyOut struct{ Body Why }

// why returns a moment with what it was noticed by. One of before the home was claimed is not there.
func (b *Browser) why(ctx context.Context, who auth.Member, in *whyIn) (*whyOut, error) {
	know, err := b.knowledge(who)
	if err != nil {
		return nil, err
	}
	var m store.Moment
	var latest *store.Moment
	err = b.DB.View(ctx, func(tx *store.Tx) error {
		if m, err = tx.Moment(who.Network, in.ID); err != nil {
			return err
		}
		if m.Detected.TS < who.Since {
			return fault.New(fault.NotFound, "moment %.40q: not found", in.ID)
		}
		latest, err = newest(tx, who, nil)
		return err
	})
	if err != nil {
		return nil, err
	}
	w := Why{TS: b.Engine.State.Now(), Moment: know.moment(m, latest), Before: m.Detected.IntensityWindow}
	if w.Before == nil {
		w.Before = []float64{}
	}
	w.Places = know.places(m.Detected)
	from, to := m.Detected.TS.Second(), m.Detected.TS.Second()+minute
	switch {
	case m.Stopped != nil:
		to = m.Stopped.TS.Second()
	case w.Moment.Ended == "open":
		to = w.TS.Second()
	}
	if err := b.seen(ctx, who, &w, m, from, to+1); err != nil {
		return nil, err
	}
	for i := range w.Links {
		w.Links[i].To, w.Links[i].From = know.ends(w.Links[i].ID)
	}
	return &whyOut{w}, nil
}

// places returns where a detection was.
func (k knowledge) places(e motion.Event) []momentPlace {
	list := []momentPlace{}
	for i, loc := range e.Loc {
		room := loc.Location
		if mac, err := motion.ParseMAC(loc.MAC); err == nil && !slices.Contains(k.rooms, room) {
			room = cmp.Or(k.place(mac), room)
		}
		if i == 0 {
			room = k.room(e)
		}
		list = append(list, momentPlace{room, cmp.Or(loc.FriendlyName, loc.MAC), loc.Confidence})
	}
	return list
}

// ends returns the receiver and the sender of a link.
func (k knowledge) ends(link string) (to, from linkEnd) {
	dst, src, _ := strings.Cut(link, ".")
	return k.end(dst), k.end(src)
}

func (k knowledge) end(name string) linkEnd {
	d := k.byName[name]
	return linkEnd{cmp.Or(d.FriendlyName, d.NodeName, name), d.Location}
}

const (
	margin     = minute // s shown before and after a moment
	mostPoints = 240    // of an intensity
)

// seen fills in the intensity around [from, to), and the links that saw motion in it.
func (b *Browser) seen(ctx context.Context, who auth.Member, w *Why, m store.Moment, from, to int64) error {
	first := max(from-margin, int64(math.Ceil(float64(who.Since))))
	last := min(to+margin, w.TS.Second()+1)
	bucket := max((last-first+mostPoints-1)/mostPoints, 1)
	w.Intensity, w.Links = Strip{From: first, Step: bucket, Values: []*float64{}}, linksOf(m)
	if first >= last {
		return nil
	}
	set, err := b.Engine.State.SamplesFor(ctx, who.Network, first, last, bucket)
	if err != nil {
		return err
	}
	points, err := set.Points(series.Query{Series: series.Network, Measure: series.Intensity, From: first, To: last, Bucket: bucket})
	if err != nil {
		return err
	}
	w.Intensity = stripOf(points, points.Start)
	for _, id := range set.Series() {
		if _, location := id.MAC(); location || id == series.Network {
			continue
		}
		points, err := set.Points(series.Query{Series: id, Measure: series.Intensity, From: from, To: to, Bucket: bucket})
		if err != nil {
			return err
		}
		peak, known := 0.0, false
		for i := range points.Len() {
			v, _, ok := points.At(i)
			peak, known = max(peak, v), known || ok
		}
		i := slices.IndexFunc(w.Links, func(l momentLink) bool { return l.ID == string(id) })
		switch {
		case i >= 0 && known:
			w.Links[i].Peak = &peak
		case i < 0 && peak > 0:
			w.Links = append(w.Links, momentLink{ID: string(id), Peak: &peak})
		}
	}
	sort.SliceStable(w.Links, func(i, j int) bool { return w.Links[j].strength() < w.Links[i].strength() })
	return nil
}

// linksOf returns the links that the events of a moment name.
func linksOf(m store.Moment) []momentLink {
	links := []momentLink{}
	debug := m.Detected.Debug
	if m.Stopped != nil && m.Stopped.Debug != nil {
		debug = m.Stopped.Debug
	}
	if debug != nil {
		for i, name := range debug.Links {
			links = append(links, momentLink{ID: name, Score: at(debug.MSAD, i), Threshold: at(debug.MConf, i)})
		}
	}
	if id := m.Detected.LinkID; id != "" && !slices.ContainsFunc(links, func(l momentLink) bool { return l.ID == id }) {
		links = append(links, momentLink{ID: id})
	}
	return links
}

// at returns a figure that is told, nil for one that is not.
func at(values []float64, i int) *float64 {
	if i >= len(values) || math.IsNaN(values[i]) {
		return nil
	}
	return &values[i]
}

// strength orders links.
func (l momentLink) strength() float64 {
	switch {
	case l.Peak != nil:
		return *l.Peak
	case l.Score != nil && l.Threshold != nil && *l.Threshold > 0:
		return *l.Score / *l.Threshold / 10 // below a link whose intensity is known
	}
	return 0
}
