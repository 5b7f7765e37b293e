package household

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"sensegate/motion"
	"sensegate/motion/alert"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

// Bounds of an inbox.
const (
	noticesKept motion.Seconds = 30 * 24 * 3600 // how far back it goes
	MaxNotices                 = 100            // of a page, and of the unread ones that are counted
)

// Notice is something that concerned a home or one of its members. An event of the network, a run
// of an alert that raises none, or a trial of one.
type Notice struct {
	motion.Event        // of a run or a trial without an ID
	Alert        string // uuid of the alert that fired or was tried; else empty
	Trial        bool
	By           home.UserID // who caused it; 0: nobody, or not known
	Unread       bool
}

// Notices returns what is in the inbox of a member of a home before a time, 0 for now, at most
// last of them and the newest first; more reports whether there are further ones. An event with
// users in its data is for them alone.
func (h *Household) Notices(ctx context.Context, id home.ID, user home.UserID, before motion.Time, last int) (list []Notice, more bool, err error) {
	err = h.db.View(ctx, func(tx *store.Tx) error {
		b, err := openInbox(tx, id, user)
		if err != nil {
			return err
		}
		if list, err = b.notices(tx, b.start, before, last+1); err != nil {
			return err
		}
		if more = len(list) > last; more {
			list = list[:last]
		}
		return nil
	})
	return list, more, err
}

// Unread returns how many notices of a member are unread, MaxNotices for that many and more.
func Unread(tx *store.Tx, id home.ID, user home.UserID) (int, error) {
	b, err := openInbox(tx, id, user)
	if err != nil {
		return 0, err
	}
	list, err := b.notices(tx, max(b.start, b.member.UnreadSince(tx.Now())), 0, MaxNotices)
	n := 0
	for _, notice := range list {
		if notice.Unread {
			n++
		}
	}
	return n, err
}

// ReadNotices marks the notices of a member as read up to a time, and returns how many are
// unread then.
func (h *Household) ReadNotices(ctx context.Context, id home.ID, user home.UserID, to motion.Time) (unread int, err error) {
	err = h.db.Update(ctx, func(tx *store.Tx) error {
		b, err := openInbox(tx, id, user)
		if err != nil {
			return err
		}
		if err := tx.PutMembership(b.member.Read(to, tx.Now())); err != nil {
			return err
		}
		unread, err = Unread(tx, id, user)
		return err
	})
	return unread, err
}

// inbox is what concerned a member.
type inbox struct {
	house  home.Home
	member home.Membership
	start  motion.Time // nothing before it is shown
}

func openInbox(tx *store.Tx, id home.ID, user home.UserID) (b inbox, err error) {
	if b.house, err = tx.Home(id); err != nil {
		return b, err
	}
	found := false
	if b.member, found, err = tx.MembershipOf(id, user); err == nil && !found {
		err = fault.New(fault.NotFound, "network %d is not known", id)
	}
	b.start = max(b.house.ClaimedAt, tx.Now().Add(-noticesKept))
	return b, err
}

// notices returns the newest notices between two times, both exclusive, newest first. before 0:
// up to the newest.
func (b inbox) notices(tx *store.Tx, after, before motion.Time, last int) ([]Notice, error) {
	list, err := b.events(tx, after, before, last)
	if err != nil {
		return nil, err
	}
	runs, err := b.runs(tx)
	if err != nil {
		return nil, err
	}
	for _, n := range append(runs, b.trials()...) {
		if n.TS > after && (before == 0 || n.TS < before) {
			list = append(list, n)
		}
	}
	since := b.member.UnreadSince(tx.Now())
	for i := range list {
		list[i].Unread = list[i].TS > since && list[i].By != b.member.User
	}
	sort.SliceStable(list, func(i, j int) bool { return list[j].TS < list[i].TS })
	return list[:min(len(list), last)], nil
}

// events returns the newest events between two times that are notices for the member.
func (b inbox) events(tx *store.Tx, after, before motion.Time, last int) (list []Notice, err error) {
	add := func(from, to motion.Time, kinds ...string) error {
		for need := last; need > 0; {
			q := store.EventQuery{Network: b.house.ExternalID, NotBefore: motion.FromMicros(from.Micros() + 1), Last: need, Kinds: kinds}
			if to != 0 {
				q.To = &to
			}
			page, full, err := tx.EventPage(q)
			if err != nil {
				return err
			}
			for _, e := range page {
				if n := noticeOf(e); b.concerns(e) {
					list = append(list, n)
					need--
				}
			}
			if !full {
				return nil
			}
			to = page[len(page)-1].TS
		}
		return nil
	}
	kinds := noticeKinds()
	if err := add(after, before, kinds...); err != nil {
		return nil, err
	}
	// Motion is looked for in the times away alone: there is too much of it at other times.
	end := cmp.Or(before, tx.Now().Add(motion.Seconds(noticesKept)))
	changes, err := tx.ArmedChanges(b.house.ExternalID, after, end)
	for i, c := range slices.Backward(changes) {
		if !c.Armed || err != nil {
			continue
		}
		until := before
		if i+1 < len(changes) {
			until = changes[i+1].At
		}
		err = add(max(after, c.At), until, motion.MotionDetectedEvent)
	}
	return list, err
}

// noticeKinds returns the kinds that are notices at any time.
func noticeKinds() (kinds []string) {
	for _, k := range motion.EventKinds() {
		if k.Notice && k.Category != motion.CategoryMotion {
			kinds = append(kinds, k.Name)
		}
	}
	return kinds
}

// concerns reports whether an event is for the member.
func (b inbox) concerns(e motion.Event) bool {
	users, ok := e.Data["users"].([]any)
	if e.Event != motion.CustomAlertEvent || !ok || len(users) == 0 {
		return true
	}
	return slices.ContainsFunc(users, func(u any) bool { return u == float64(b.member.User) })
}

// noticeOf returns an event as a notice.
func noticeOf(e motion.Event) Notice {
	n := Notice{Event: e}
	if e.Event == motion.CustomAlertEvent { // nobody causes it; its data are what the rule says
		n.Alert = e.Data.Text("uuid")
		return n
	}
	cause := map[string]any(e.Data)
	if e.Event != motion.MemberJoinedEvent {
		cause, _ = e.Data["user"].(map[string]any)
	}
	by, _ := cause["id"].(float64)
	n.By = home.UserID(by)
	return n
}

// runs returns the last runs of the home's alerts that told the member by a push and raised no
// event.
func (b inbox) runs(tx *store.Tx) (list []Notice, err error) {
	alerts, err := tx.Alerts(b.house.ExternalID)
	for _, a := range alerts {
		for _, run := range a.Runs {
			if run.Missed == 0 && pushesOnly(a.Rule.Actions(run.Verdict), b.member.User) {
				list = append(list, alertNotice(a, motion.TimeOf(run.At.Std()), run.Verdict))
			}
		}
	}
	return list, err
}

// alertNotice returns a run of an alert as if it had raised an event.
func alertNotice(a store.Alert, at motion.Time, v alert.Verdict) Notice {
	return Notice{Alert: a.Rule.UUID, Event: motion.Event{
		Event: motion.CustomAlertEvent, TS: at,
		Data: motion.Document{"title": a.Rule.AlertName}, Detail: motion.Document{"verdict": string(v)},
	}}
}

// pushesOnly reports whether actions push to a user and raise no event.
func pushesOnly(actions []alert.Action, user home.UserID) (pushes bool) {
	for _, action := range actions {
		switch {
		case action.Action == alert.Event:
			return false
		case len(action.UserIDs) == 0 || slices.Contains(action.UserIDs, int64(user)):
			pushes = true
		}
	}
	return pushes
}

// trials returns the trials that the member has made.
func (b inbox) trials() (list []Notice) {
	for _, trial := range b.member.Trials {
		list = append(list, Notice{Alert: trial.Alert, Trial: true, Event: motion.Event{
			Event: motion.CustomAlertEvent, TS: trial.At, Data: motion.Document{"title": trial.Title},
		}})
	}
	return list
}
