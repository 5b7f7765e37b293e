package household

import (
	"context"
	"time"

	"sensegate/motion"
	"sensegate/motion/alert"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/store"
)

// TryAlert sends the message of an alert to one member alone, marked as a trial: into their inbox,
// and to their phones if the alert pushes. It changes nothing of the alert, and no other member or
// client sees it. Throttled: five in the last hour. NotFound: no such alert of the home, or the
// user is no member.
func (h *Household) TryAlert(ctx context.Context, id home.ID, user home.UserID, uuid string) error {
	return h.db.Update(ctx, func(tx *store.Tx) error {
		b, err := openInbox(tx, id, user)
		if err != nil {
			return err
		}
		a, err := tx.Alert(store.AlertKey{Network: b.house.ExternalID, UUID: uuid})
		if err != nil {
			return err
		}
		m := b.member
		if first := len(m.Trials) - home.MaxTrials; first >= 0 {
			if wait := time.Hour - tx.Now().Std().Sub(m.Trials[first].At.Std()); wait > 0 && wait <= time.Hour {
				return &fault.Error{Kind: fault.Throttled, Message: "too many trials: wait before the next", RetryAfter: wait}
			}
		}
		m.Trials = append(m.Trials, home.AlertTrial{At: tx.Now(), Alert: uuid, Title: a.Rule.AlertName})
		m.Trials = m.Trials[max(0, len(m.Trials)-home.MaxTrials):]
		if err := tx.PutMembership(m); err != nil {
			return err
		}
		for _, list := range [][]alert.Action{a.Rule.Motion, a.Rule.NoMotion, a.Rule.NoHistory} {
			for _, action := range list {
				if action.Action != alert.FCMPush {
					continue
				}
				_, err := tx.AddPush(store.Push{NetworkID: b.house.ExternalID, UserIDs: []int64{int64(user)}, Payload: asTrial(action.Payload), Alert: uuid})
				return err
			}
		}
		return nil
	})
}

// asTrial returns the payload of a push with its titles marked.
func asTrial(payload motion.Document) motion.Document {
	return motion.Document(markTitles(payload))
}

// markTitles returns a copy of an object in which each title says that it is a trial.
func markTitles(object map[string]any) map[string]any {
	marked := make(map[string]any, len(object))
	for key, value := range object {
		switch v := value.(type) {
		case map[string]any:
			marked[key] = markTitles(v)
		case string:
			if key == "title" {
				v = "Trial: " + v
			}
			marked[key] = v
		default:
			marked[key] = value
		}
	}
	return marked
}
