package notify

import (
	"context"
	"io"
	"log/slog"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/VictoriaMetrics/metrics"

	"sensegate/motion/hook"
	"sensegate/store"
)

const (
	sweepEvery = time.Hour      // interval of the deletion of old mails
	mailTries  = 24 * time.Hour // how long a mail is tried
)

// Outbox writes mails, keeps them, and sends them when a mail server is configured.
type Outbox struct {
	db    *store.DB
	base  func() string
	smtp  *submission // nil: mails are only stored
	log   *slog.Logger
	wait  hook.Backoff
	look  time.Duration
	swept time.Time // used by run only

	queued                atomic.Int64
	sent, failed, refused atomic.Uint64
}

func newOutbox(db *store.DB, c SMTPConfig, base func() string, log *slog.Logger) (o *Outbox, err error) {
	o = &Outbox{db: db, base: base, log: log, wait: hook.Backoff{First: time.Minute, Most: time.Hour}, look: lookEvery}
	if c.Host != "" {
		o.smtp, err = newSubmission(c)
	}
	return o, err
}

// Mail stores a mail in the outbox in the caller's transaction; if a mail server is configured
// it is sent soon after the commit. Mail itself sends nothing, so that its duration reveals
// nothing.
//
// The mail about a deleted account is kept only until a mail server accepts it, and not at all
// without a mail server.
func (o *Outbox) Mail(tx *store.Tx, m Mail) error {
	if m.Kind == AccountDeleted && o.smtp == nil {
		return nil
	}
	stored, err := o.compose(m)
	if err != nil {
		return err
	}
	if o.smtp != nil {
		stored.DueAt = tx.Now().Stamp()
	}
	_, err = tx.AddMail(stored)
	return err
}

// run sends due mails and deletes old ones until ctx ends.
func (o *Outbox) run(ctx context.Context) error {
	return every(ctx, o.look, func(ctx context.Context) error {
		if now := time.Now(); now.Sub(o.swept) >= sweepEvery {
			if err := o.db.Update(ctx, (*store.Tx).SweepMails); err != nil {
				return err
			}
			o.swept = now
		}
		if o.smtp == nil {
			return nil
		}
		return o.send(ctx)
	})
}

// send tries the due mails, one after the other.
func (o *Outbox) send(ctx context.Context) error {
	var due []store.Mail
	err := o.db.View(ctx, func(tx *store.Tx) (err error) {
		var waiting int
		due, waiting, err = tx.MailsDue()
		o.queued.Store(int64(waiting))
		return err
	})
	for _, m := range due {
		if err != nil || ctx.Err() != nil {
			break
		}
		result, tried := o.smtp.send(ctx, m)
		if ctx.Err() != nil {
			break // counts as not tried
		}
		err = o.db.Update(ctx, func(tx *store.Tx) error { return o.settle(tx, m.ID, result, tried) })
	}
	return err
}

// settle stores the result of a try, unless the mail was deleted meanwhile.
func (o *Outbox) settle(tx *store.Tx, id uint64, result hook.Verdict, tried error) error {
	m, ok, err := tx.StoredMail(id)
	if err != nil || !ok {
		return err
	}
	now := tx.Now().Stamp()
	m.Attempts++
	m.DueAt = 0
	switch {
	case result == hook.Accepted:
		m.SentAt, m.LastError = now, ""
		tx.OnCommit(func() { o.sent.Add(1) })
		return keep(tx, m)
	case result == hook.Refused:
		tx.OnCommit(func() { o.refused.Add(1) })
	default:
		next := now.Add(o.wait.After(m.Attempts))
		if next.Since(m.CreatedAt) < mailTries && (m.ExpiresAt == 0 || next < m.ExpiresAt) {
			m.DueAt = next
		}
		tx.OnCommit(func() { o.failed.Add(1) })
	}
	m.LastError = cut(tried.Error(), 200)
	tx.OnCommit(func() {
		o.log.Warn("mail not sent", "mail", m.ID, "kind", m.Kind, "attempts", m.Attempts, "again", m.DueAt != 0)
	})
	return keep(tx, m)
}

// keep stores a mail after a try, or deletes the mail of a deleted account that needs no
// further try.
func keep(tx *store.Tx, m store.Mail) error {
	if Kind(m.Kind) == AccountDeleted && m.DueAt == 0 {
		return tx.DeleteMailAndWipe(m.ID)
	}
	return tx.PutMail(m)
}

// metrics writes the counters.
func (o *Outbox) metrics(w io.Writer) {
	metrics.WriteCounterUint64(w, `sensegate_mails_total{result="sent"}`, o.sent.Load())
	metrics.WriteCounterUint64(w, `sensegate_mails_total{result="refused"}`, o.refused.Load())
	metrics.WriteCounterUint64(w, `sensegate_mails_total{result="failed"}`, o.failed.Load())
	metrics.WriteGaugeUint64(w, "sensegate_mails_queued", uint64(o.queued.Load()))
}

// State is the state of a mail.
type State string

// The states of a mail.
const (
	Kept   State = "kept"   // stored only: no mail server is configured
	Queued State = "queued" // will be sent
	Sent   State = "sent"   // a mail server accepted it
	Failed State = "failed" // given up
)

// StateOf returns the state of a mail.
func StateOf(m store.Mail) State {
	switch {
	case m.SentAt != 0:
		return Sent
	case m.DueAt != 0:
		return Queued
	case m.Attempts > 0:
		return Failed
	}
	return Kept
}

// cut returns at most most bytes of text, in whole characters.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}
