package admin

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"sensegate/api/box"
	"sensegate/motion"
	"sensegate/motion/fault"
	"sensegate/motion/notify"
)

func (s *Server) serveOutbox(r *http.Request) (any, error) { return s.box.Outbox(r.Context()) }

func (s *Server) serveMail(r *http.Request) (any, error) {
	id, err := strconv.ParseUint(r.PathValue("id"), 10, 64)
	if err != nil {
		return nil, fault.New(fault.Invalid, "mail %q: want the number that outbox list shows", r.PathValue("id"))
	}
	return s.box.ReadMail(r.Context(), actor(r), id)
}

func showOutbox(w io.Writer, list box.Outbox) {
	fmt.Fprintln(w, "ID\tKIND\tTO\tSTATE\tCREATED\tTRIES\tLAST ERROR")
	for _, m := range list.Mails {
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%d\t%s\n", m.ID, m.Kind, m.Address, m.State, stamped(m.CreatedAt), m.Attempts, m.LastError)
	}
	for _, d := range list.GivenUp {
		fmt.Fprintf(w, "\nA push to mobile device %d (%q) of user %d was given up %s: %s\n", d.ID, d.Name, d.UserID, stamped(d.FailedAt), d.LastError)
	}
}

func readMail(ctx context.Context, c command, id string) error {
	var m box.MailState
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
