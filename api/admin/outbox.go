package admin

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/home"
	"sensegate/motion/notify"
	"sensegate/store"
)

// mailState is a mail and whether it was sent.
type mailState struct {
	store.Mail
	State notify.State `json:"state"`
}

// outboxAnswer is the answer of the outbox list: all mails, newest first, and the phones
// whose last push failed for good.
type outboxAnswer struct {
	Mails   []mailState  `json:"mails"`
	GivenUp []lostMobile `json:"pushes_given_up"`
}

// lostMobile is a mobile device whose last push failed for good.
type lostMobile struct {
	ID        home.MobileID `json:"id"`
	UserID    home.UserID   `json:"user_id"`
	Name      string        `json:"name"`
	FailedAt  motion.Stamp  `json:"failed_at"`
	LastError string        `json:"last_error"`
}

func (s *Server) serveOutbox(r *http.Request) (any, error) {
	list := outboxAnswer{Mails: []mailState{}, GivenUp: []lostMobile{}}
	err := s.DB.View(r.Context(), func(tx *store.Tx) error {
		mails, err := tx.Mails()
		if err != nil {
			return err
		}
		for _, m := range slices.Backward(mails) {
			list.Mails = append(list.Mails, mailState{m, notify.StateOf(m)})
		}
		mobiles, err := tx.Mobiles()
		for _, d := range mobiles {
			if d.FailedAt != 0 {
				list.GivenUp = append(list.GivenUp, lostMobile{d.ID, d.UserID, d.Name, d.FailedAt, d.LastError})
			}
		}
		return err
	})
	return list, err
}

func (s *Server) serveMail(r *http.Request) (any, error) {
	id, err := strconv.ParseUint(r.PathValue("id"), 10, 64)
	if err != nil {
		return nil, fault.New(fault.Invalid, "mail %q: want the number that outbox list shows", r.PathValue("id"))
	}
	m, err := store.Read(r.Context(), s.DB, func(tx *store.Tx) (store.Mail, error) { return tx.Mail(id) })
	return mailState{m, notify.StateOf(m)}, err
}

func showOutbox(w io.Writer, list outboxAnswer) {
	fmt.Fprintln(w, "ID\tKIND\tTO\tSTATE\tCREATED\tTRIES\tLAST ERROR")
	for _, m := range list.Mails {
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%d\t%s\n", m.ID, m.Kind, m.Address, m.State, stamped(m.CreatedAt), m.Attempts, m.LastError)
	}
	for _, d := range list.GivenUp {
		fmt.Fprintf(w, "\nA push to mobile device %d (%q) of user %d was given up %s: %s\n", d.ID, d.Name, d.UserID, stamped(d.FailedAt), d.LastError)
	}
}

func readMail(ctx context.Context, c command, id string) error {
	var m mailState
	if err := c.client.do(ctx, http.MethodGet, "/outbox/"+url.PathEscape(id), nil, &m); err != nil {
		return err
	}
	code := ""
	if m.Link != "" {
		var err error
		if code, err = notify.QRText(m.Link); err != nil {
			return fmt.Errorf("draw the link: %w", err)
		}
	}
	return c.print(m, func(w io.Writer) {
		fmt.Fprintf(w, "To: %s\nSubject: %s\nCreated: %s\n\n%s", m.Address, m.Subject, stamped(m.CreatedAt), notify.Text(m.Mail))
		if m.Link == "" {
			fmt.Fprintln(w, "\n(The mail has no link, or it has expired.)")
			return
		}
		fmt.Fprintf(w, "\n%s", code)
	})
}

// stamped returns a record's time for a person, "-" for never.
func stamped(s motion.Stamp) string { return when(motion.Time(s) / 1000) }
