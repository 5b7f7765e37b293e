package app

import (
	"context"
	"slices"

	"sensegate/api"
	"sensegate/api/auth"
	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/notify"
	"sensegate/store"
)

// shownMail is a mail as the outbox shows it.
type shownMail struct {
	ID        uint64        `json:"id" example:"7"`
	Kind      notify.Kind   `json:"kind" enum:"confirm,reset,invite,known_address,owner_changed,password_changed,address_changed,account_deleted,identity_linked"`
	Address   string        `json:"address" doc:"Whom it is to" example:"a@example.com"`
	UserID    *home.UserID  `json:"user_id" nullable:"true" doc:"Whose account it is about; null: nobody's yet"`
	Subject   string        `json:"subject"`
	Text      string        `json:"text" doc:"Without the link"`
	Link      *string       `json:"link" nullable:"true" doc:"What the person is to open; null: there is none, it has expired, a mail server has the mail, or it sets a new password and the log-in is more than ten minutes ago"`
	State     notify.State  `json:"state" enum:"kept,queued,sent,failed" doc:"kept: to be read here only, because no mail server is configured; queued: to be sent; sent: the mail server has it; failed: given up"`
	Attempts  int           `json:"attempts" doc:"Tries to send it"`
	LastError string        `json:"last_error" doc:"Why the last try failed; empty: it did not"`
	CreatedAt motion.Stamp  `json:"created_at"`
	SentAt    *motion.Stamp `json:"sent_at" nullable:"true"`
	ExpiresAt *motion.Stamp `json:"expires_at" nullable:"true" doc:"When the link expires"`
}

func showMail(m store.Mail) shownMail {
	return shownMail{
		ID: m.ID, Kind: notify.Kind(m.Kind), Address: m.Address, UserID: orNull(m.UserID), Subject: m.Subject, Text: m.Text,
		Link: orNull(m.Link), State: notify.StateOf(m), Attempts: m.Attempts, LastError: m.LastError,
		CreatedAt: m.CreatedAt, SentAt: orNull(m.SentAt), ExpiresAt: orNull(m.ExpiresAt),
	}
}

// visibleMails returns what the caller may read of the outbox.
func (a *App) visibleMails(ctx context.Context, o auth.Owner) ([]store.Mail, error) {
	return store.Read(ctx, a.DB, func(tx *store.Tx) ([]store.Mail, error) { return notify.Visible(tx, o.ID, o.Home) })
}

// proven returns nil when the caller may see the link of a mail. That of a reset mail is as
// good as the password of its account: it needs a recent log-in.
func (a *App) proven(ctx context.Context, o auth.Owner, m store.Mail) error {
	if notify.Kind(m.Kind) != notify.Reset {
		return nil
	}
	return a.Accounts.StepUp(ctx, o.User, "")
}

func (a *App) outbox(ctx context.Context, o auth.Owner, _ *NetworkQuery) (*list[shownMail], error) {
	mails, err := a.visibleMails(ctx, o)
	shown := make([]shownMail, len(mails))
	for i, m := range mails {
		if err := a.proven(ctx, o, m); fault.KindOf(err) == fault.Forbidden {
			m.Link = ""
		} else if err != nil {
			return nil, err
		}
		shown[i] = showMail(m)
	}
	return listed(shown, err)
}

type mailIn struct {
	NetworkQuery
	ID uint64 `path:"id" minimum:"1" doc:"Id of the mail" example:"7"`
}

func (a *App) mailQR(ctx context.Context, o auth.Owner, in *mailIn) (*api.Answer[api.PNG], error) {
	mails, err := a.visibleMails(ctx, o)
	if err != nil {
		return nil, err
	}
	at := slices.IndexFunc(mails, func(m store.Mail) bool { return m.ID == in.ID })
	if at < 0 {
		return nil, fault.New(fault.NotFound, "mail %d is not known", in.ID)
	}
	if mails[at].Link == "" {
		return nil, fault.New(fault.NotFound, "mail %d has no link, or it has expired", in.ID)
	}
	if err := a.proven(ctx, o, mails[at]); err != nil {
		return nil, err
	}
	return api.Answered[api.PNG](notify.QRImage(mails[at].Link))
}
