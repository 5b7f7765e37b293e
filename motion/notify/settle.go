package notify

import (
	"sensegate/motion/hook"
	"sensegate/store"
)

// settle stores the outcome of a try.
func (p *Pusher) settle(tx *store.Tx, j *job) error {
	counter := &p.counts.sent
	switch {
	case j.void:
		return tx.DeleteDelivery(j.ID)
	case j.out.verdict == hook.Accepted:
		if p.isLoadTest(j.token) {
			counter = &p.counts.loadTest
		}
	case j.out.dead:
		counter = &p.counts.dead
		if err := p.forget(tx, j); err != nil {
			return err
		}
	case j.out.verdict == hook.TryAgain:
		if again, err := p.again(tx, j); again || err != nil {
			return err
		}
		fallthrough
	default:
		counter = &p.counts.refused
		if err := p.blame(tx, j); err != nil {
			return err
		}
	}
	tx.OnCommit(func() { counter.Add(1) })
	return tx.DeleteDelivery(j.ID)
}

// again schedules the next try, unless the push would be too old by then.
func (p *Pusher) again(tx *store.Tx, j *job) (bool, error) {
	tx.OnCommit(func() { p.counts.failed.Add(1) })
	d := j.Delivery
	d.Attempts++
	d.DueAt = tx.Now().Stamp().Add(max(j.out.asked, p.wait.After(d.Attempts)))
	if d.DueAt.Since(d.CreatedAt) > pushKept {
		return false, nil
	}
	if d.Attempts == 1 {
		tx.OnCommit(func() {
			p.log.Warn("push not delivered yet", "network", d.NetworkID, "mobile", d.Mobile, "err", j.out.err)
		})
	}
	return true, tx.PutDelivery(d)
}

// forget removes a mobile device with a dead token, unless it has a new token by now.
func (p *Pusher) forget(tx *store.Tx, j *job) error {
	mobile, ok, err := tx.FindMobile(j.Mobile)
	if err != nil || !ok || mobile.Token != j.token {
		return err
	}
	tx.OnCommit(func() {
		p.log.Info("push token is dead: mobile device removed", "mobile", j.Mobile, "user", mobile.UserID)
	})
	return tx.DeleteMobile(j.Mobile)
}

// blame stores in a mobile device why a push to it failed for good.
func (p *Pusher) blame(tx *store.Tx, j *job) error {
	tx.OnCommit(func() {
		p.log.Warn("push given up", "network", j.NetworkID, "mobile", j.Mobile, "attempts", j.Attempts+1, "err", j.out.err)
	})
	mobile, ok, err := tx.FindMobile(j.Mobile)
	if err != nil || !ok {
		return err
	}
	mobile.LastError, mobile.FailedAt = cut(j.out.err.Error(), 200), tx.Now().Stamp()
	return tx.PutMobile(mobile)
}
