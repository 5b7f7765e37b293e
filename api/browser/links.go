package browser

import (
	"context"

	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/engine/sensing"
	"sensegate/motion/home"
	"sensegate/motion/household"
)

// SetupQuery names the home that somebody sets up.
type SetupQuery struct {
	Network home.ID `query:"network_id" minimum:"1" doc:"App Cloud network id; an owner may leave it out" example:"17"`
}

// SetupField is SetupQuery in a body.
type SetupField struct {
	Network home.ID `json:"network_id,omitempty" minimum:"1" doc:"App Cloud network id; an owner may leave it out" example:"17"`
}

// DeviceRef is the device at an end of a link.
type DeviceRef struct {
	ID   *motion.NodeID `json:"id" nullable:"true" doc:"null: no record has its address" example:"501"`
	Name string         `json:"name" example:"Speaker"`
	Room string         `json:"room" doc:"Empty: not placed" example:"Kitchen"`
}

// LinkReason is why a link is blind or limited.
type LinkReason struct {
	Code    sensing.Code    `json:"code" doc:"One of paused, sounding_off, denied, guardian_decides, low_score, link_limit, not_heard, silent, just_begun, few_figures, late_figures, few_subcarriers and few_frames, which make it blind; or of signal_strength, device_figures, slow, weak, by_power, noisy, gaps, calibrating, disturbed (for an installer recalibrate) and only_link" example:"weak"`
	Figures sensing.Figures `json:"figures" doc:"By name: for_s and left_s, seconds; rate, a second; frames; amplitude, counts; missing, 0 to 1; least, what is needed" example:"{\"amplitude\":4.2,\"least\":6}"`
}

// LinkView is a link as whoever sets the home up sees it.
type LinkView struct {
	ID   string       `json:"id" doc:"dst_name.src_name" example:"GWA1000133.02bb00000031"`
	From DeviceRef    `json:"from"`
	To   DeviceRef    `json:"to"`
	Zone string       `json:"zone" doc:"The room that it serves: where its source is. Empty: none" example:"Kitchen"`
	Can  string       `json:"can" enum:"decides,supports,blind" doc:"decides: tells motion alone; supports: together with another link; blind: not, as things are"`
	Why  []LinkReason `json:"why" nullable:"false" doc:"What stands in the way or limits it"`

	Rate      *float64 `json:"rate" nullable:"true" doc:"Frames or figures a second. For an installer this and the figures below are coarse, and a quarter of an hour old at most, but in a walk test of theirs" example:"25"`
	RSSI      *float64 `json:"rssi" nullable:"true" doc:"dBm" example:"-58"`
	Amplitude *float64 `json:"amplitude" nullable:"true" doc:"Median over the subcarriers, counts" example:"17.5"`
	Missing   *float64 `json:"missing" nullable:"true" doc:"Share of the last minute's decisions without data, 0 to 1" example:"0.02"`

	Calibration  string       `json:"calibration" enum:"none,running,done"`
	CalibratedAt *motion.Time `json:"calibrated_at" nullable:"true" doc:"Of the calibration in force" example:"1764000000"`
	Progress     *float64     `json:"progress" nullable:"true" doc:"Of a running calibration, 0 to 1" example:"0.4"`
	Threshold    *float64     `json:"threshold" nullable:"true" doc:"From where on it starts motion, in the scale below. null for an installer but in a walk test of theirs" example:"30"`
	Scale        string       `json:"scale" enum:"coherence,power," doc:"coherence: percent; power: e-folds above the quiet. Empty: not known"`
	Disturbed    bool         `json:"disturbed" doc:"Somebody seems to have moved while it was calibrated; false for an installer"`
	Heard        *motion.Time `json:"heard" nullable:"true" example:"1764000060.2"`

	Unauthenticated bool `json:"unauthenticated" doc:"One of its nodes does not log in, so anybody on the Wi-Fi can imitate it"`

	LastMotion *motion.Time `json:"last_motion" nullable:"true" doc:"Of the link alone. Always null for an installer: it tells when somebody is at home" example:"1764000010"`
}

type linksOut struct {
	Body struct {
		TS    motion.Time `json:"ts" doc:"Now" example:"1764000060.5"`
		Links []LinkView  `json:"links" nullable:"false" doc:"Those that cannot sense first"`
	}
}

func (b *Browser) links(ctx context.Context, who auth.Installer, _ *SetupQuery) (*linksOut, error) {
	out := &linksOut{}
	var err error
	out.Body.TS = b.Engine.State.Now()
	out.Body.Links, err = b.linkViews(ctx, who)
	return out, err
}

// linkViews returns the links of a home, those that cannot sense first.
func (b *Browser) linkViews(ctx context.Context, who auth.Installer) ([]LinkView, error) {
	states, err := b.Household.Links(ctx, who.Network, viewer(who))
	if err != nil {
		return nil, err
	}
	list := make([]LinkView, 0, len(states))
	for _, can := range []string{sensing.LinkBlind, sensing.LinkSupports, sensing.LinkDecides} {
		for i := range states {
			if states[i].Can == can {
				list = append(list, linkView(&states[i]))
			}
		}
	}
	return list, nil
}

// viewer returns who sets a home up, and whether they live there.
func viewer(who auth.Installer) household.Viewer {
	return household.Viewer{User: who.ID, Resident: who.Role != ""}
}

func linkView(s *sensing.LinkState) LinkView {
	v := LinkView{
		ID: s.Link, From: deviceRef(s.From), To: deviceRef(s.To), Zone: s.Zone, Can: s.Can, Why: []LinkReason{},
		Rate: known(s.Rate), RSSI: known(s.RSSI), Amplitude: known(s.Amplitude),
		Calibration: s.Calibration, CalibratedAt: knownTime(s.CalibratedAt), Progress: s.Progress, Disturbed: s.Disturbed, Heard: knownTime(s.Heard),
		LastMotion: knownTime(s.LastMotion), Unauthenticated: s.Unauthenticated,
	}
	for _, why := range s.Reasons {
		v.Why = append(v.Why, LinkReason(why))
	}
	if s.Source != "" && !s.Unknown {
		v.Missing = &s.Missing
	}
	if s.Level != nil {
		v.Threshold, v.Scale = &s.Level.Threshold, s.Level.Scale()
	}
	return v
}

func deviceRef(e sensing.LinkEnd) DeviceRef {
	v := DeviceRef{Name: e.Name, Room: e.Room}
	if e.ID != 0 {
		v.ID = &e.ID
	}
	return v
}

// known returns a figure, nil for 0: not known.
func known(v float64) *float64 {
	if v == 0 {
		return nil
	}
	return &v
}

// knownTime returns a time, nil for 0: not known.
func knownTime(t motion.Time) *motion.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

type linkHistoryIn struct {
	SetupQuery
	ID string `path:"id" maxLength:"256" doc:"Of the link" example:"GWA1000133.02bb00000031"`
}

type linkHistoryOut struct {
	Body struct {
		Since   *motion.Time   `json:"since" nullable:"true" doc:"Nothing before it is known: the appliance began, or its clock was set; null: nothing yet" example:"1764000000"`
		From    *motion.Time   `json:"from" nullable:"true" doc:"Start of the first step" example:"1763999900"`
		Step    motion.Seconds `json:"step" doc:"Length of a step, seconds: five minutes, for an installer a quarter of an hour" example:"300"`
		Rate    []*float64     `json:"rate" nullable:"false" doc:"Frames or figures a second at the end of each step; null: not known" example:"[25,24.5]"`
		RSSI    []*float64     `json:"rssi" nullable:"false" doc:"dBm" example:"[-58,-59]"`
		Missing []*float64     `json:"missing" nullable:"false" doc:"Share of the minute before without data, 0 to 1" example:"[0.02,0.01]"`
		Can     []string       `json:"can" nullable:"false" doc:"decides, supports or blind; empty: not known" example:"[\"decides\",\"decides\",\"\"]"`
	}
}

func (b *Browser) linkHistory(ctx context.Context, who auth.Installer, in *linkHistoryIn) (*linkHistoryOut, error) {
	trace, err := b.Household.LinkTrace(ctx, who.Network, in.ID, viewer(who))
	if err != nil {
		return nil, err
	}
	out := &linkHistoryOut{}
	h := &out.Body
	h.Since, h.From, h.Step = knownTime(trace.Since), knownTime(trace.From), sensing.TraceStep
	if who.Role == "" {
		h.Step = sensing.CoarseStep
	}
	h.Rate, h.RSSI, h.Missing, h.Can = []*float64{}, []*float64{}, []*float64{}, []string{}
	for i := range trace.Steps {
		s := &trace.Steps[i]
		h.Can = append(h.Can, s.Can)
		if s.Can == "" {
			h.Rate, h.RSSI, h.Missing = append(h.Rate, nil), append(h.RSSI, nil), append(h.Missing, nil)
			continue
		}
		h.Rate, h.RSSI, h.Missing = append(h.Rate, &s.Rate), append(h.RSSI, known(s.RSSI)), append(h.Missing, &s.Missing)
	}
	return out, nil
}
