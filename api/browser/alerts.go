package browser

import (
	"cmp"
	"context"
	"strings"

	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/alert"
	"sensegate/motion/home"
	"sensegate/store"
)

type alertList struct {
	Timezone string      `json:"timezone" doc:"Of the home, IANA" example:"America/Toronto"`
	People   []recipient `json:"people" nullable:"false" doc:"Whom an alert can tell: the members, the caller first"`
	Alerts   []homeAlert `json:"alerts" nullable:"false" doc:"In the order of their creation"`

	Unauthenticated bool `json:"unauthenticated" doc:"The home has links of nodes that do not log in, so that it makes a difference whether a rule has authenticated"`
}

type recipient struct {
	ID   home.UserID `json:"id" example:"10"`
	Name string      `json:"name" doc:"Empty: was added and has not joined" example:"Sam"`
}

type homeAlert struct {
	Alert   alert.Rule   `json:"alert" doc:"As App Cloud has it"`
	Snoozed *motion.Time `json:"snoozed_until" nullable:"true" doc:"Until when it does not fire; null: it is awake"`
	Last    *alertRun    `json:"last,omitempty" doc:"When it last fired; absent: it has not"`
	Runs    []period     `json:"runs" nullable:"false" doc:"The next one"`
}

type alertRun struct {
	At      motion.Time   `json:"at" example:"1764000000"`
	Verdict alert.Verdict `json:"verdict" enum:"time,motion,no_motion,no_history" doc:"What was found"`
}

// period is what a run of an alert is about.
type period struct {
	Start motion.Time `json:"start" doc:"Equal to end: the alert does not look at motion" example:"1763996400"`
	End   motion.Time `json:"end" example:"1764000000"`
}

func periods(runs []alert.Run) []period {
	list := make([]period, len(runs))
	for i, r := range runs {
		list[i] = period{motion.TimeOf(r.Start.Std()), motion.TimeOf(r.End.Std())}
	}
	return list
}

type alertsOut struct{ Body alertList }

func (b *Browser) alerts(ctx context.Context, who auth.Member, _ *HomeQuery) (*alertsOut, error) {
	records, err := b.Engine.Alerts.Records(ctx, who.Network)
	if err != nil {
		return nil, err
	}
	n, err := b.Engine.State.Network(who.Network)
	if err != nil {
		return nil, err
	}
	o := Overview{}
	out := &alertsOut{alertList{People: []recipient{}, Alerts: []homeAlert{}}}
	n.Mu.Lock()
	_, out.Body.Unauthenticated = n.AuthenticatedLinks()
	n.Mu.Unlock()
	err = b.DB.View(ctx, func(tx *store.Tx) error {
		if err := o.people(tx, who); err != nil {
			return err
		}
		out.Body.People, err = recipients(tx, who)
		return err
	})
	out.Body.Timezone = o.Home.Timezone
	for _, a := range records {
		out.Body.Alerts = append(out.Body.Alerts, b.homeAlert(a, who))
	}
	return out, err
}

// recipients returns the members of a home, the caller first.
func recipients(tx *store.Tx, who auth.Member) ([]recipient, error) {
	members, err := tx.MembershipsOfHome(who.Home)
	list := []recipient{}
	for _, m := range members {
		name, err := memberName(tx, m, who)
		if err != nil {
			return nil, err
		}
		r := recipient{m.User, name}
		if m.User == who.ID {
			list = append([]recipient{r}, list...)
			continue
		}
		list = append(list, r)
	}
	return list, err
}

// memberName returns how a member is called; "" for somebody who has not joined yet.
func memberName(tx *store.Tx, m home.Membership, who auth.Member) (string, error) {
	if m.Unasked && m.User != who.ID {
		return "", nil
	}
	u, err := tx.User(m.User)
	return cmp.Or(u.FirstName, u.Email), err
}

// homeAlert returns an alert as the page shows it.
func (b *Browser) homeAlert(a store.Alert, who auth.Member) homeAlert {
	h := homeAlert{Alert: a.Rule, Runs: []period{}}
	h.Alert.NetworkID = motion.NetworkID(who.Home)
	now := b.Engine.State.Now()
	if until := motion.TimeOf(a.Snoozed.Std()); until > now {
		h.Snoozed = &until
	}
	for _, run := range a.Runs {
		if at := motion.TimeOf(run.At.Std()); run.Missed == 0 && at > who.Since {
			h.Last = &alertRun{at, run.Verdict}
		}
	}
	if runs, err := a.Rule.Runs(now.Std(), 1); err == nil && a.Rule.Enabled {
		h.Runs = periods(runs)
	}
	return h
}

type previewIn struct {
	HomeQuery
	Body struct {
		alert.Edit
		NetworkID *uint32 `json:"network_id,omitempty" doc:"App Cloud network id" example:"17"`
	}
}

type previewOut struct {
	Body struct {
		Timezone string        `json:"timezone" doc:"Of the rule, IANA" example:"America/Toronto"`
		Runs     []period      `json:"runs" nullable:"false" doc:"The next five"`
		Since    motion.Time   `json:"since" doc:"From when on the past was looked at" example:"1763400000"`
		Told     []motion.Time `json:"told,omitzero" nullable:"false" doc:"When it would have told somebody, by what is stored; absent: too much to compute"`
		Unknown  int           `json:"unknown" doc:"Runs of that time of which too little is known"`
	}
}

func (b *Browser) previewAlert(ctx context.Context, who auth.Member, in *previewIn) (*previewOut, error) {
	found, err := b.Household.Strangers(ctx, who.Home, in.Body.Edit)
	if err != nil {
		return nil, err
	}
	p, err := b.Engine.Alerts.Preview(ctx, who.Network, who.Since, in.Body.Edit, found...)
	if err != nil {
		return nil, err
	}
	out := &previewOut{}
	out.Body.Timezone, out.Body.Runs, out.Body.Since, out.Body.Unknown = p.Timezone, periods(p.Runs), p.Since, p.Unknown
	if p.Computed {
		told := make([]motion.Time, len(p.Told))
		for i, at := range p.Told {
			told[i] = motion.TimeOf(at.Std())
		}
		out.Body.Told = told
	}
	return out, nil
}

// AlertPath names an alert of the home.
type AlertPath struct {
	HomeQuery
	ID string `path:"id" format:"uuid" doc:"uuid of the alert" example:"01976b40-0d4e-7c11-9f02-77aa10c2e0b1"`
}

func (b *Browser) tryAlert(ctx context.Context, who auth.Member, in *AlertPath) (*struct{}, error) {
	return nil, b.Household.TryAlert(ctx, who.Home, who.ID, strings.ToLower(in.ID))
}

type snoozeIn struct {
	AlertPath
	Body struct {
		Until motion.Time `json:"until" minimum:"0" doc:"At most seven days ahead; 0: awake at once" example:"1764003600"`
	}
}

type snoozeOut struct{ Body homeAlert }

func (b *Browser) snoozeAlert(ctx context.Context, who auth.Member, in *snoozeIn) (*snoozeOut, error) {
	a, err := b.Engine.Alerts.SnoozeAlert(ctx, who.Network, strings.ToLower(in.ID), in.Body.Until)
	if err != nil {
		return nil, err
	}
	return &snoozeOut{b.homeAlert(a, who)}, nil
}
