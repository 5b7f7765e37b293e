package box

import (
	"context"
	"fmt"
	"slices"

	"sensegate/motion"
	"sensegate/motion/home"
	"sensegate/motion/notify"
	"sensegate/store"
)

// MailState is a mail and whether it was sent.
type MailState struct {
	store.Mail
	State notify.State `json:"state"`
}

// Outbox is all mails, newest first, and the phones whose last push failed for good.
type Outbox struct {
	Mails   []MailState  `json:"mails"`
	GivenUp []LostMobile `json:"pushes_given_up"`
}

// LostMobile is a mobile device whose last push failed for good.
type LostMobile struct {
	ID        home.MobileID `json:"id"`
	UserID    home.UserID   `json:"user_id"`
	Name      string        `json:"name"`
	FailedAt  motion.Stamp  `json:"failed_at"`
	LastError string        `json:"last_error"`
}

// Outbox returns the mails and lost phones.
func (b *Box) Outbox(ctx context.Context) (Outbox, error) {
	list := Outbox{Mails: []MailState{}, GivenUp: []LostMobile{}}
	err := b.DB.View(ctx, func(tx *store.Tx) error {
		mails, err := tx.Mails()
		if err != nil {
			return err
		}
		for _, m := range slices.Backward(mails) {
			list.Mails = append(list.Mails, MailState{m, notify.StateOf(m)})
		}
		mobiles, err := tx.Mobiles()
		for _, d := range mobiles {
			if d.FailedAt != 0 {
				list.GivenUp = append(list.GivenUp, LostMobile{d.ID, d.UserID, d.Name, d.FailedAt, d.LastError})
			}
		}
		return err
	})
	return list, err
}

// ReadMail returns a mail. Its link may open an account, so that reading it is noted as a change is.
// NotFound: there is none.
func (b *Box) ReadMail(ctx context.Context, by store.Actor, id uint64) (m MailState, err error) {
	err = b.change(ctx, by, "mail_read", fmt.Sprint("mail ", id), func(ctx context.Context, note *store.AuditNote) error {
		return b.DB.Update(ctx, func(tx *store.Tx) error {
			found, err := tx.Mail(id)
			if err == nil {
				note.Add("kind", string(found.Kind))
				note.Add("to", found.Address)
			}
			m = MailState{found, notify.StateOf(found)}
			return err
		})
	})
	return m, err
}
